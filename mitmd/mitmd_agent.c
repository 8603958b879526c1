/* SPDX-License-Identifier: ISC */
/*
 * Connections of the agent: accepting, reading as their state wants, what
 * their sockets are watched for, deadlines, and their end.  Every byte here
 * is the agent's; what bounds it is in mitmd.h.
 */
#include "mitmd.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "log.h"

#define AGENT_ACCEPTS 8     /* per wake-up */
#define AGENT_READS 4       /* rounds per wake-up, of up to AGENT_SCRATCH */
#define AGENT_RECORD 16384U /* what one TLS record can hold */
#define AGENT_SCRATCH 65536U

/* Decrypted bytes of one round: one connection is read at a time. */
static uint8_t agent_scratch[AGENT_SCRATCH];

static void
agent_free(struct agent *a)
{
	SSL_free(a->ssl);
	buf_free(&a->in);
	buf_free(&a->out);
	buf_free(&a->kept);
	buf_free(&a->held);
	buf_free(&a->up.in);
	buf_free(&a->up.out);
	free(a);
}

void
agent_hold(struct agent *a)
{
	a->busy++;
}

void
agent_leave(struct agent *a)
{
	if (--a->busy != 0)
		return;
	if (a->dead)
		agent_free(a);
	else
		agent_watch(a);
}

void
agent_close(struct agent *a)
{
	if (a->dead)
		return;
	a->dead = true;
	upstream_close(a);
	body_end(a);
	loop_timer_clear(&mitmd_env.w.loop, &a->timer);
	loop_del(&mitmd_env.w.loop, &a->io);
	close(a->fd);
	a->fd = -1;
	TAILQ_REMOVE(&mitmd_env.agents, a, entry);
	mitmd_env.nagents--;
	if (a->busy == 0)
		agent_free(a);
}

/* Says goodbye once nothing is queued. */
static void
agent_shut(struct agent *a)
{
	if (a->shut || a->out.len != 0)
		return;
	a->shut = true;
	if (a->ssl != NULL && !a->cut && SSL_is_init_finished(a->ssl))
		(void)SSL_shutdown(a->ssl);
	/* A close now could take what we said with it, if bytes wait here. */
	(void)shutdown(a->fd, SHUT_WR);
	agent_enter(a, AGENT_LINGER, MITMD_LINGER_MS);
}

void
agent_linger(struct agent *a)
{
	if (a->dead)
		return;
	upstream_close(a);
	body_end(a);
	agent_enter(a, AGENT_LINGER, MITMD_STALL_MS);
	agent_shut(a);
}

/* A second answer to a refused request would be taken for another's. */
static void
agent_late(struct agent *a, const char *what, unsigned ms)
{
	mitmd_note(a, "%s within %u ms: closed", what, ms);
	if (a->state == AGENT_DISCARD) {
		agent_linger(a);
		return;
	}
	mitmd_denied(a, REFUSE_TIMEOUT, 0, SPAN(""), SPAN(""));
	deny_request(a, REFUSE_TIMEOUT, false);
}

static void
agent_expired(struct loop_timer *t)
{
	struct agent *a = t->arg;
	uint64_t idle = loop_now(&mitmd_env.w.loop) - a->progress;

	agent_hold(a);
	switch (a->state) {
	case AGENT_CONNECT:
		mitmd_note(a, "no CONNECT within %u ms", MITMD_CONNECT_MS);
		agent_close(a);
		break;
	case AGENT_TLS:
		mitmd_note(a, "no TLS handshake within %u ms", MITMD_TLS_MS);
		agent_close(a);
		break;
	case AGENT_REQUEST:
		if (a->in.len != 0) {
			agent_late(a, "no whole head", MITMD_HEAD_MS);
		} else {
			mitmd_note(a, "idle for %u ms: closed", MITMD_IDLE_MS);
			agent_linger(a);
		}
		break;
	case AGENT_HOLD:
	case AGENT_DISCARD:
		if (idle >= MITMD_STALL_MS)
			agent_late(a, "no byte of a body", MITMD_STALL_MS);
		else
			agent_enter(a, a->state, MITMD_STALL_MS - idle);
		break;
	case AGENT_OPENING:
		deny_exchange(a, REFUSE_GONE, "No stream from keyd.");
		break;
	case AGENT_EXCHANGE:
		/* The provider's time is keyd's to measure. */
		if (idle >= MITMD_STALL_MS &&
		    (a->out.len != 0 ||
			(a->req.left != 0 && a->up.out.len < MITMD_WINDOW))) {
			mitmd_note(a, "%s for %u ms: closed",
			    a->out.len != 0 ? "takes no byte of its answer"
					    : "sends no byte of its request",
			    MITMD_STALL_MS);
			agent_close(a);
		} else {
			agent_enter(a, AGENT_EXCHANGE, MITMD_STALL_MS);
		}
		break;
	case AGENT_PENALTY:
		deny_after_penalty(a);
		break;
	case AGENT_LINGER:
		agent_close(a);
		break;
	}
	agent_leave(a);
}

void
agent_enter(struct agent *a, enum agent_state state, uint64_t ms)
{
	a->state = state;
	loop_timer_set(&mitmd_env.w.loop, &a->timer, ms, agent_expired, a);
}

static bool
agent_reads(const struct agent *a)
{
	switch (a->state) {
	case AGENT_CONNECT:
	case AGENT_TLS:
	case AGENT_REQUEST:
	case AGENT_HOLD:
	case AGENT_DISCARD:
	case AGENT_LINGER:
		return true;
	case AGENT_OPENING:
	case AGENT_EXCHANGE:
		if (a->req.left != 0)
			return a->up.out.len < MITMD_WINDOW;
		/* To see it leave; what it sends ahead is kept. */
		return a->in.len < MITMD_MAX_AHEAD;
	case AGENT_PENALTY:
		return false;
	}
	return false;
}

/*
 * Bytes that TLS has taken from the socket make it readable no more: then the
 * loop comes back because the socket can be written.
 */
static bool
agent_pending(const struct agent *a)
{
	return a->ssl != NULL && !a->drained && a->state != AGENT_TLS &&
	       a->state != AGENT_LINGER && agent_reads(a) &&
	       SSL_has_pending(a->ssl) == 1;
}

void
agent_watch(struct agent *a)
{
	struct loop *l = &mitmd_env.w.loop;
	struct upstream *up = &a->up;
	uint32_t want;

	want = agent_reads(a) ? (uint32_t)EPOLLIN : 0;
	if (a->out.len != 0 || a->want_write || agent_pending(a))
		want |= EPOLLOUT;
	if (loop_mod(l, &a->io, want) == -1)
		fatal("epoll_ctl");
	if (up->fd == -1)
		return;
	want = a->out.len < MITMD_WINDOW ? (uint32_t)EPOLLIN : 0;
	if ((up->out.len != 0 || (a->held.len != 0 && !up->deaf)) &&
	    a->state == AGENT_EXCHANGE)
		want |= EPOLLOUT;
	/* Not merely masked: a hang-up would be reported for ever. */
	if (want == 0)
		loop_del(l, &up->io);
	else if (up->io.fd != -1
		     ? loop_mod(l, &up->io, want) == -1
		     : loop_add(l, &up->io, up->fd, want, reply_ready, a) == -1)
		fatal("epoll_ctl");
}

/* Takes what came; the rest waits in a->in. */
static void
agent_take(struct agent *a, struct span s)
{
	bool waited = a->in.len != 0;
	size_t used;

	if (waited) {
		if (buf_addspan(&a->in, s) == -1) {
			deny_request(a, REFUSE_HEADERS, false);
			return;
		}
		s = buf_span(&a->in);
	}
	used = http_input(a, s);
	if (a->dead)
		return;
	if (waited)
		buf_drain(&a->in, used);
	else if (used != s.len &&
		 buf_add(&a->in, s.p + used, s.len - used) == -1)
		deny_request(a, REFUSE_HEADERS, false);
	if (a->in.len == 0)
		buf_reset(&a->in, 0);
	else if (!waited && a->state == AGENT_REQUEST)
		agent_enter(a, AGENT_REQUEST, MITMD_HEAD_MS);
}

/* Fills the scratch buffer; as much as is there while a body is on its way. */
static ssize_t
agent_fill(struct agent *a, size_t *len)
{
	ssize_t n;

	*len = 0;
	do {
		n = mitmd_tls_read(a, agent_scratch + *len, AGENT_RECORD);
		if (n <= 0)
			return n;
		*len += (size_t)n;
	} while (a->req.left > *len && *len <= AGENT_SCRATCH - AGENT_RECORD);
	return 1;
}

static void
agent_pull(struct agent *a)
{
	size_t len;
	ssize_t n;

	for (int i = 0; i < AGENT_READS && !a->dead && agent_reads(a); i++) {
		n = agent_fill(a, &len);
		if (len != 0) {
			a->progress = loop_now(&mitmd_env.w.loop);
			agent_take(a, span_of(agent_scratch, len));
		}
		if (n == -1 && !a->dead)
			agent_close(a);
		/* Look again only where more is sure to be there, or wanted. */
		if (a->dead || n == 0 || a->state == AGENT_LINGER ||
		    (a->req.left == 0 && !agent_pending(a)))
			break;
	}
}

void
agent_resume(struct agent *a)
{
	struct span s;
	size_t used;

	if (a->dead || a->state == AGENT_LINGER)
		return;
	if (a->in.len != 0) {
		a->seen = 0;
		s = buf_span(&a->in);
		used = http_input(a, s);
		if (a->dead)
			return;
		buf_drain(&a->in, used);
	}
	if (a->in.len == 0)
		buf_reset(&a->in, 0);
	else if (a->state == AGENT_REQUEST)
		agent_enter(a, AGENT_REQUEST, MITMD_HEAD_MS);
	if (agent_pending(a))
		agent_pull(a);
}

static void
agent_handshake(struct agent *a)
{
	int r;

	if ((r = mitmd_tls_handshake(a)) == 0)
		return;
	if (r == -1) {
		mitmd_note(a, "TLS with %s: %s",
		    (const char *)mitmd_env.providers[a->provider].p->host.p,
		    mitmd_tls_error());
		agent_close(a);
		return;
	}
	agent_enter(a, AGENT_REQUEST, MITMD_IDLE_MS);
	if (agent_pending(a))
		agent_pull(a);
}

/* Reads and forgets, so that the agent can read what it was told. */
static void
agent_drop(struct agent *a)
{
	ssize_t n;

	for (int i = 0; i < AGENT_READS; i++) {
		n = read(a->fd, agent_scratch, sizeof(agent_scratch));
		if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR)) {
			agent_close(a);
			return;
		}
		if (n < (ssize_t)sizeof(agent_scratch))
			return;
	}
}

static void
agent_ready(struct loop_io *io, uint32_t events)
{
	struct agent *a = io->arg;

	agent_hold(a);
	if ((events & EPOLLOUT) != 0 && a->ssl != NULL &&
	    a->state != AGENT_TLS && mitmd_tls_flush(a) == -1)
		agent_close(a);
	if (!a->dead && a->state == AGENT_LINGER)
		agent_shut(a);
	if (a->dead)
		goto out;
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0 &&
	    a->state != AGENT_TLS && !agent_pending(a))
		goto out;
	switch (a->state) {
	case AGENT_CONNECT:
		connect_read(a);
		break;
	case AGENT_TLS:
		agent_handshake(a);
		break;
	case AGENT_LINGER:
		agent_drop(a);
		break;
	case AGENT_REQUEST:
	case AGENT_HOLD:
	case AGENT_OPENING:
	case AGENT_EXCHANGE:
	case AGENT_DISCARD:
	case AGENT_PENALTY:
		if (!agent_reads(a) && (events & (EPOLLHUP | EPOLLERR)) != 0)
			agent_close(a);
		else
			agent_pull(a);
		break;
	}
out:
	agent_leave(a);
}

static int
agent_new(int fd)
{
	struct agent *a;

	if ((a = calloc(1, sizeof(*a))) == NULL)
		return -1;
	a->number = ++mitmd_env.last_agent;
	a->fd = fd;
	a->io.fd = a->up.io.fd = a->up.fd = -1;
	a->progress = loop_now(&mitmd_env.w.loop);
	buf_init(&a->in, MITMD_MAX_IN);
	buf_init(&a->out, MITMD_MAX_QUEUE);
	buf_init(&a->kept, 2 * PROVIDER_MAX_BLOB);
	buf_init(&a->held, PROVIDER_MAX_BODY);
	buf_init(&a->up.in, MITMD_MAX_QUEUE);
	buf_init(&a->up.out, MITMD_MAX_QUEUE);
	if (loop_add(&mitmd_env.w.loop, &a->io, fd, EPOLLIN, agent_ready, a) ==
	    -1) {
		free(a);
		return -1;
	}
	TAILQ_INSERT_TAIL(&mitmd_env.agents, a, entry);
	mitmd_env.nagents++;
	agent_enter(a, AGENT_CONNECT, MITMD_CONNECT_MS);
	return 0;
}

void
agent_accept(struct loop_io *io, uint32_t events)
{
	int fd;

	(void)events;
	for (int i = 0; i < AGENT_ACCEPTS; i++) {
		fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd == -1)
			return;
		if (mitmd_env.nagents >= MITMD_MAX_AGENTS ||
		    agent_new(fd) == -1) {
			connect_busy(fd);
			close(fd);
		}
	}
}
