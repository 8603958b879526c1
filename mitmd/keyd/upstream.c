/* SPDX-License-Identifier: ISC */
/*
 * Connections to the provider: dialed by dialerd, verified here, used by one
 * transaction at a time, kept if keyd_reuse_ok() permits, with one spare ahead
 * while any is in use. An idle connection that receives a byte is closed with
 * an alarm; one that is unused for 15 s is closed.
 */
#include "keyd/keyd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "keyd/stall.h"

static void up_ready(struct loop_io *, uint32_t);
static void up_late(struct loop_timer *);

static void
up_close(struct up *up)
{
	struct keyd_env *e = &keyd_env;

	if (up->dead)
		return;
	up->dead = true;
	loop_timer_clear(&e->w.loop, &up->timer);
	loop_del(&e->w.loop, &up->io);
	tls_detach(up);
	if (up->fd != -1)
		close(up->fd);
	up->fd = -1;
	TAILQ_REMOVE(&e->ups, up, entry);
	TAILQ_INSERT_TAIL(&e->dead_ups, up, entry);
	e->nups--;
	e->hosts[up->host].nups--;
	e->hosts[up->host].nbusy -= up->state == UP_BUSY;
}

/*
 * Returns the event that comes at once if TLS has taken something from the
 * socket: that does not make the socket readable.
 */
static uint32_t
up_taken(const struct up *up)
{
	return tls_pending(up) ? (uint32_t)EPOLLOUT : 0;
}

void
up_watch(struct up *up)
{
	uint32_t events = 0;

	if (up->dead || up->fd == -1)
		return;
	switch (up->state) {
	case UP_DIALING:
		return;
	case UP_TLS:
		events = up->tls_writes ? EPOLLOUT : EPOLLIN;
		break;
	case UP_IDLE:
		events = EPOLLIN | up_taken(up);
		break;
	case UP_BUSY:
		/* While mitmd takes nothing, the provider must wait. */
		if (!stream_is_full(up->s))
			events = EPOLLIN | up_taken(up);
		if (up->full || up->more)
			events |= EPOLLOUT;
		break;
	}
	if (loop_watch(
		&keyd_env.w.loop, &up->io, up->fd, events, up_ready, up) == -1)
		log_warn("epoll_ctl");
}

static unsigned
up_count(unsigned host, bool spare)
{
	const struct keyd_host *h = &keyd_env.hosts[host];

	return spare ? h->nups - h->nbusy : h->nbusy;
}

/*
 * Returns the stream that has waited longest for this host, or NULL; `*n` is
 * the number of waiting streams.
 */
static struct stream *
up_waiting(unsigned host, unsigned *n)
{
	struct stream *s, *first = NULL;

	*n = 0;
	TAILQ_FOREACH (s, &keyd_env.waiting, wait) {
		if (s->x.req.host != host)
			continue;
		if (first == NULL)
			first = s;
		++*n;
	}
	return first;
}

/* Dial. If `old` is not NULL, ask for another address than it had. */
static struct up *
up_dial(unsigned host, const struct up *old)
{
	struct keyd_env *e = &keyd_env;
	struct msg_DIAL m;
	struct up *up;

	if (e->nups >= e->max_ups || e->w.peers[ROLE_DIAL][0] == NULL ||
	    (up = calloc(1, sizeof(*up))) == NULL)
		return NULL;
	up->state = UP_DIALING;
	up->host = host;
	up->fd = -1;
	up->io.fd = -1;
	up->dial = ++e->dial;
	if (old != NULL) {
		(void)strlcpy(up->tried, old->tried, sizeof(up->tried));
		(void)strlcat(up->tried, old->address, sizeof(up->tried));
		(void)strlcat(up->tried, "\n", sizeof(up->tried));
	}
	TAILQ_INSERT_HEAD(&e->ups, up, entry);
	e->nups++;
	e->hosts[host].nups++;
	loop_timer_set(&e->w.loop, &up->timer, KEYD_DIAL_MS, up_late, up);
	if (e->dial_place != NULL) {
		e->dial_place(up->dial, e->hosts[host].name);
		return up;
	}
	m = (struct msg_DIAL){.id = up->dial,
	    .which = (uint8_t)host,
	    .avoid = span_str(up->tried)};
	worker_send(&e->w, ROLE_DIAL, 0, MSG_DIAL, &m, -1);
	return up;
}

static void
up_balance_host(unsigned host)
{
	unsigned want, have = up_count(host, true), n;
	struct stream *s;

	/* Without root certificates no peer can be verified. */
	if (keyd_env.hosts[host].tls && !keyd_env.have_roots)
		return;
	(void)up_waiting(host, &want);
	/* Some are in use, or will be: keep one spare in addition. */
	if ((want != 0 || up_count(host, false) != 0) &&
	    keyd_env.dial_place == NULL)
		want++;
	while (have < want && up_dial(host, NULL) != NULL)
		have++;
	/* There is no connection, and none can be dialed. */
	while (have == 0 && (s = up_waiting(host, &n)) != NULL)
		s->ops->failed(s, KEYD_FAIL_BUSY, "no connection to be had");
}

void
up_balance(void)
{
	for (unsigned i = 0; i < keyd_env.nhosts; i++)
		up_balance_host(i);
}

/*
 * The handshake failed before any byte of a request was sent: try another
 * address of the name. Returns false if all were tried.
 */
static bool
up_again(const struct up *up, enum keyd_fail fail, const char *detail)
{
	struct up *next;

	if (up->state != UP_TLS || !up->others ||
	    strlen(up->tried) + strlen(up->address) + 1 > PROTO_MAX_AVOID ||
	    (next = up_dial(up->host, up)) == NULL)
		return false;
	next->fail = fail;
	(void)snprintf(next->why, sizeof(next->why), "%s", detail);
	log_info("%s: %s; another address is tried", up->address, detail);
	return true;
}

/*
 * A connection failed; if no other is coming, so does the transaction that
 * waits.
 */
static void
up_failed(struct up *up, enum keyd_fail fail, const char *detail)
{
	unsigned host = up->host, waiting;
	struct stream *s = up_waiting(host, &waiting);
	bool again = up_again(up, fail, detail);

	up_close(up);
	if (again)
		return;
	if (s == NULL)
		log_debug("spare connection: %s", detail);
	else if (waiting > up_count(host, true))
		s->ops->failed(s, fail, detail);
}

/* Returns true if the connection has received neither a byte nor its end. */
static bool
up_quiet(struct up *up)
{
	uint8_t byte[64];
	size_t n;

	switch (tls_read(up, byte, sizeof(byte), &n)) {
	case TLS_AGAIN:
		return true;
	case TLS_OK:
		keyd_alarm("idle-data",
		    "the provider sent bytes on an idle connection");
		return false;
	case TLS_EOF:
	case TLS_CUT:
	case TLS_ERROR:
		break;
	}
	return false;
}

static void
up_use(struct up *up, struct stream *s)
{
	loop_timer_set(
	    &keyd_env.w.loop, &up->timer, KEYD_STALL_MS, up_late, up);
	up->state = UP_BUSY;
	keyd_env.hosts[up->host].nbusy++;
	up->full = up->more = false;
	up->s = s;
	up->progress = loop_now(&keyd_env.w.loop);
	s->ops->ready(s, up);
}

/* The connection is ready: give it to a waiting transaction, or keep it idle.
 */
static void
up_idle(struct up *up)
{
	struct keyd_env *e = &keyd_env;
	unsigned n, most = e->nstreams + 1;
	struct stream *s;

	e->hosts[up->host].nbusy -= up->state == UP_BUSY;
	up->state = UP_IDLE;
	up->s = NULL;
	/* Prefer the latest, so that others can time out. */
	TAILQ_REMOVE(&e->ups, up, entry);
	TAILQ_INSERT_HEAD(&e->ups, up, entry);
	if ((s = up_waiting(up->host, &n)) != NULL) {
		up_unwant(s);
		up_use(up, s);
		return;
	}
	/* An agent that opens a connection for each request comes again. */
	if (most < KEYD_SPARE)
		most = KEYD_SPARE;
	if (up_count(up->host, true) > most) {
		up_close(up);
		return;
	}
	loop_timer_set(&e->w.loop, &up->timer, KEYD_IDLE_MS, up_late, up);
	up_watch(up);
}

void
up_want(struct stream *s)
{
	struct keyd_env *e = &keyd_env;
	struct up *up, *next;

	for (up = TAILQ_FIRST(&e->ups); up != NULL; up = next) {
		next = TAILQ_NEXT(up, entry);
		if (up->state != UP_IDLE || up->host != s->x.req.host)
			continue;
		if (up_quiet(up)) {
			up_use(up, s);
			up_balance_host(up->host);
			return;
		}
		up_close(up);
	}
	s->x.state = TXN_WAIT;
	TAILQ_INSERT_TAIL(&e->waiting, s, wait);
	up_balance_host(s->x.req.host);
}

void
up_unwant(struct stream *s)
{
	if (s->x.state == TXN_WAIT)
		TAILQ_REMOVE(&keyd_env.waiting, s, wait);
	s->x.state = TXN_NONE;
}

void
up_release(struct up *up, bool again)
{
	unsigned n;

	up->s = NULL;
	/* Bytes that arrive later are noticed by the loop or the next user. */
	if (again && (up_waiting(up->host, &n) != NULL || tls_pending(up)))
		again = up_quiet(up);
	if (again)
		up_idle(up);
	else
		up_close(up);
}

static void
up_handshake(struct up *up)
{
	const char *why = "";

	switch (tls_handshake(up, &why)) {
	case TLS_OK:
		/* The provider may have ended the connection already. */
		if (tls_pending(up) && !up_quiet(up)) {
			why = "closed right after the handshake";
			break;
		}
		up_idle(up);
		return;
	case TLS_AGAIN:
		up_watch(up);
		return;
	case TLS_EOF:
	case TLS_CUT:
	case TLS_ERROR:
		break;
	}
	up_failed(up, KEYD_FAIL_TLS, why);
}

static void
up_ready(struct loop_io *io, uint32_t events)
{
	struct up *up = io->arg;
	struct stream *s = up->s;
	bool pull = false;

	switch (up->state) {
	case UP_DIALING:
		return;
	case UP_TLS:
		up_handshake(up);
		return;
	case UP_IDLE:
		if (up_quiet(up))
			up_watch(up);
		else
			up_close(up);
		return;
	case UP_BUSY:
		break;
	}
	up->progress = loop_now(&keyd_env.w.loop);
	if (up->more || (tls_pending(up) && !stream_is_full(s)) ||
	    (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
		pull = true;
	if ((events & EPOLLOUT) != 0) {
		up->full = false;
		s->ops->writable(s);
	}
	if (pull && !up->dead && up->state == UP_BUSY && up->s == s)
		s->ops->readable(s);
}

static void
up_late(struct loop_timer *t)
{
	struct up *up = t->arg;
	uint64_t quiet, left;

	switch (up->state) {
	case UP_DIALING:
		up_failed(up, KEYD_FAIL_DIAL, "dialerd does not answer");
		return;
	case UP_TLS:
		up_failed(up, KEYD_FAIL_TLS, "handshake takes too long");
		return;
	case UP_IDLE:
		up_close(up);
		return;
	case UP_BUSY:
		break;
	}
	quiet = loop_now(&keyd_env.w.loop) - up->progress;
	if (up->s->x.reply.ws.up && quiet < KEYD_SILENT_MS)
		quiet = 0;
	left = stall_left(quiet, KEYD_STALL_MS);
	/* While mitmd takes nothing, the provider is not at fault. */
	if (left == 0 && stream_is_full(up->s))
		left = KEYD_STALL_MS;
	if (left != 0)
		loop_timer_set(&keyd_env.w.loop, t, left, up_late, up);
	else
		up->s->ops->failed(
		    up->s, KEYD_FAIL_STALLED, "silent for too long");
}

static struct up *
up_find(uint32_t dial)
{
	struct up *up;

	TAILQ_FOREACH (up, &keyd_env.ups, entry) {
		if (up->state == UP_DIALING && up->dial == dial)
			return up;
	}
	return NULL;
}

void
up_dialed(const struct msg_DIALED *m, int fd)
{
	struct keyd_env *e = &keyd_env;
	const char *why = "";
	struct keyd_host *h;
	struct up *up;

	if ((up = up_find(m->id)) == NULL) {
		/* Too late: the dial was given up. */
		close(fd);
		return;
	}
	h = &e->hosts[up->host];
	up->fd = fd;
	(void)span_copy(m->address, up->address, sizeof(up->address));
	up->others = m->more != 0;
	if (!up_is_tcp(fd)) {
		up_failed(up, KEYD_FAIL_DIAL, "closed before it was used");
		return;
	}
	up->state = UP_TLS;
	if (loop_add(&e->w.loop, &up->io, fd, EPOLLIN, up_ready, up) == -1) {
		up_failed(up, KEYD_FAIL_DIAL, "epoll_ctl");
		return;
	}
	if (!h->tls) {
		up_idle(up);
		return;
	}
	loop_timer_set(&e->w.loop, &up->timer, KEYD_TLS_MS, up_late, up);
	if (tls_attach(up, h->name, h, false, &why) == -1)
		up_failed(up, KEYD_FAIL_TLS, why);
	else
		up_handshake(up);
	return;
}

/* Map a proxy's error to the agent's failure text. */
static enum keyd_fail
up_fail_of(enum proto_proxy proxy)
{
	switch (proxy) {
	case PROTO_PROXY_NONE:
		break;
	case PROTO_PROXY_LOST:
		return KEYD_FAIL_PROXY_LOST;
	case PROTO_PROXY_AUTH:
		return KEYD_FAIL_PROXY_AUTH;
	case PROTO_PROXY_DENIED:
		return KEYD_FAIL_PROXY_DENIED;
	case PROTO_PROXY_FAILED:
		return KEYD_FAIL_PROXY_FAILED;
	case PROTO_PROXY_BROKEN:
		return KEYD_FAIL_PROXY_BROKEN;
	}
	return KEYD_FAIL_DIAL;
}

void
up_dial_failed(uint32_t dial, enum proto_proxy proxy, const char *detail)
{
	struct up *up;

	if ((up = up_find(dial)) == NULL)
		return;
	/* Report the first failure rather than the lack of another address. */
	if (up->tried[0] != '\0')
		up_failed(up, up->fail, up->why);
	else
		up_failed(up, up_fail_of(proxy), detail);
}
