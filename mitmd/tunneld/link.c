/* SPDX-License-Identifier: ISC */
/*
 * Links to the proxy: sends a CONNECT and reads the head of the answer. Input
 * is examined with MSG_PEEK before it is consumed, so that bytes after the head
 * stay in the socket: they belong to the other side, if that may speak first,
 * and are an error otherwise.
 */
#include "tunneld/tunneld.h"

#include <sys/socket.h>

#include <arpa/inet.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/forge/hosts.h"
#include "common/log.h"

static void link_ready(struct loop_io *, uint32_t);
static void link_unlisted(struct loop_timer *);

static void
link_end(struct link *l)
{
	struct tunneld_env *e = &tunneld_env;

	loop_timer_clear(&e->w.loop, &l->timer);
	if (l->fd != -1) {
		loop_del(&e->w.loop, &l->io);
		close(l->fd);
		l->fd = -1;
	}
	l->dead = true;
	e->nlinks--;
	TAILQ_REMOVE(&e->links, l, entry);
	TAILQ_INSERT_TAIL(&e->dead, l, entry);
}

/* Report the proxy's state to the user if it has changed. */
static void
link_show(enum proto_proxy state, const char *text)
{
	struct msg_TUNNEL_SHOW m = {
	    .proxy = (uint8_t)state, .text = span_str(text)};
	struct tunneld_env *e = &tunneld_env;

	if ((e->shown != 0 && e->state == state &&
		strcmp(e->text, text) == 0) ||
	    e->shown == TUNNELD_MAX_SHOWN)
		return;
	e->state = state;
	(void)strlcpy(e->text, text, sizeof(e->text));
	e->shown++;
	worker_send(&e->w, ROLE_SUP, 0, MSG_TUNNEL_SHOW, &m, -1);
}

static void
link_refuse(struct link *l, enum proto_proxy proxy, const char *text)
{
	struct msg_TUNNEL_FAIL m = {
	    .id = l->id, .proxy = (uint8_t)proxy, .text = span_str(text)};

	worker_send(&tunneld_env.w, ROLE_DIAL, 0, MSG_TUNNEL_FAIL, &m, -1);
	link_end(l);
}

static void
link_fail(struct link *l, enum proto_proxy proxy, const char *text)
{
	link_show(proxy, text);
	link_refuse(l, proxy, text);
}

static void
link_open(struct link *l)
{
	struct msg_TUNNELED m = {.id = l->id};
	int fd = l->fd;

	/* Remove the socket from this loop before another process gets it. */
	loop_del(&tunneld_env.w.loop, &l->io);
	l->fd = -1;
	worker_send(&tunneld_env.w, ROLE_DIAL, 0, MSG_TUNNELED, &m, fd);
	link_show(PROTO_PROXY_NONE, "");
	link_end(l);
}

static void
link_late(struct loop_timer *t)
{
	struct link *l = t->arg;

	link_fail(l, PROTO_PROXY_LOST,
	    l->sent ? "the proxy did not answer the CONNECT within 20 seconds"
		    : "the proxy did not take the CONNECT within 20 seconds");
}

/*
 * Write the head, followed by the credential if there is one, without copying
 * it.
 */
static void
link_write(struct link *l)
{
	static const struct span none = SPAN("\r\n");
	struct tunneld_env *e = &tunneld_env;
	struct span tail = none;
	struct iovec iov[2];
	struct msghdr m = {.msg_iov = iov};
	size_t cap, off = l->nsent;
	ssize_t n;

	if (e->nheader != 0)
		tail = span_of(secret_bytes(e->header, &cap), e->nheader);
	if (off < l->nhead)
		iov[m.msg_iovlen++] =
		    (struct iovec){l->head + off, l->nhead - off};
	off = off < l->nhead ? 0 : off - l->nhead;
	iov[m.msg_iovlen++] =
	    (struct iovec){(void *)(uintptr_t)(tail.p + off), tail.len - off};
	n = sendmsg(l->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == -1) {
		tunnel_answer_closed(&l->answer, 0);
		link_fail(l, l->answer.proxy, l->answer.text);
		return;
	}
	l->nsent += (size_t)n;
	if (l->nsent < l->nhead + tail.len)
		return;
	l->sent = true;
	if (loop_mod(&e->w.loop, &l->io, EPOLLIN) == -1)
		fatal("epoll");
}

/* Consume `n` bytes that were examined before. */
static bool
link_take(struct link *l, size_t n)
{
	uint8_t sink[TUNNEL_ANSWER_MAX];
	ssize_t got;

	do {
		got = recv(l->fd, sink, n, MSG_DONTWAIT);
	} while (got == -1 && errno == EINTR);
	return got == (ssize_t)n;
}

static void
link_judge(struct link *l, size_t had)
{
	struct tunnel_answer *a = &l->answer;
	size_t have = l->in.len;

	switch (tunnel_answer(a, buf_span(&l->in), tunneld_env.nheader != 0)) {
	case TUNNEL_ANSWER_MORE:
		if (!link_take(l, have - had))
			link_fail(l, PROTO_PROXY_BROKEN,
			    "the connection to the proxy broke");
		return;
	case TUNNEL_ANSWER_FAIL:
		link_fail(l, a->proxy, a->text);
		return;
	case TUNNEL_ANSWER_OPEN:
		break;
	}
	if (l->quiet && have != a->size)
		link_fail(l, PROTO_PROXY_BROKEN,
		    "the proxy sent bytes before the tunnel was used");
	else if (!link_take(l, a->size - had))
		link_fail(
		    l, PROTO_PROXY_BROKEN, "the connection to the proxy broke");
	else
		link_open(l);
}

static void
link_read(struct link *l)
{
	size_t had = l->in.len, room = TUNNEL_ANSWER_MAX - had;
	uint8_t *p;
	ssize_t n;

	if ((p = buf_room(&l->in, room)) == NULL)
		fatal("answer");
	n = recv(l->fd, p, room, MSG_DONTWAIT | MSG_PEEK);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		tunnel_answer_closed(&l->answer, had);
		link_fail(l, l->answer.proxy, l->answer.text);
		return;
	}
	buf_grow(&l->in, (size_t)n);
	link_judge(l, had);
}

static void
link_ready(struct loop_io *io, uint32_t events)
{
	struct link *l = io->arg;

	if (l->sent)
		link_read(l);
	else
		link_write(l);
}

/*
 * Check that the socket is connected to the proxy. Nothing else that dialerd
 * says is trusted; if the user gave a name, its address cannot be checked.
 */
static bool
link_is_proxy(int fd)
{
	const struct tunneld_env *e = &tunneld_env;
	struct sockaddr_storage ss;
	const struct sockaddr_in *in = (const void *)&ss;
	const struct sockaddr_in6 *in6 = (const void *)&ss;
	socklen_t len = sizeof(ss);
	uint8_t want[16];
	int proto = 0;

	if (getpeername(fd, (struct sockaddr *)&ss, &len) == -1)
		return false;
	len = sizeof(proto);
	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &proto, &len) == -1 ||
	    proto != IPPROTO_TCP)
		return false;
	if (ntohs(ss.ss_family == AF_INET ? in->sin_port : in6->sin6_port) !=
	    e->port)
		return false;
	if (inet_pton(AF_INET, e->host, want) == 1)
		return ss.ss_family == AF_INET &&
		       memcmp(&in->sin_addr, want, 4) == 0;
	if (inet_pton(AF_INET6, e->host, want) == 1)
		return ss.ss_family == AF_INET6 &&
		       memcmp(&in6->sin6_addr, want, 16) == 0;
	return true;
}

static struct link *
link_new(const struct msg_TUNNEL *m, const char *host, int fd)
{
	struct tunneld_env *e = &tunneld_env;
	bool v6 = strchr(host, ':') != NULL;
	struct link *l;
	char at[EGRESS_MAX_HOST + 16];
	int n;

	if ((l = calloc(1, sizeof(*l))) == NULL)
		fatal("calloc");
	l->id = m->id;
	l->port = m->port;
	(void)strlcpy(l->host, host, sizeof(l->host));
	l->quiet = m->quiet != 0;
	l->fd = fd;
	l->io.fd = -1;
	buf_init(&l->in, TUNNEL_ANSWER_MAX);
	snprintf(at, sizeof(at), v6 ? "[%s]:%u" : "%s:%u", host, m->port);
	n = snprintf(l->head, sizeof(l->head),
	    "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", at, at);
	if (n < 0 || (size_t)n >= sizeof(l->head))
		fatalx("CONNECT");
	l->nhead = (size_t)n;
	TAILQ_INSERT_TAIL(&e->links, l, entry);
	e->nlinks++;
	return l;
}

/* The second check; dialerd has the same list. */
static bool
link_allows(const char *host, uint16_t port)
{
	const struct tunneld_env *e = &tunneld_env;

	for (unsigned i = 0; i < e->nhops; i++)
		if (e->hops[i].port == port &&
		    strcmp(e->hops[i].host, host) == 0)
			return true;
	for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++)
		if (egress_allows(&e->doors[i], host, port))
			return true;
	/* dialerd knows whether there is a forge that may redirect. */
	for (const char *const *h = forge_hosts; *h != NULL; h++)
		if (port == 443 && egress_matches(*h, host))
			return true;
	return false;
}

/* Ask the proxy for the host. */
static void
link_begin(struct link *l)
{
	struct tunneld_env *e = &tunneld_env;

	l->listed = true;
	if (!link_is_proxy(l->fd)) {
		link_fail(l, PROTO_PROXY_LOST,
		    "the connection to the proxy closed before it was used");
		return;
	}
	loop_timer_set(&e->w.loop, &l->timer, TUNNELD_ANSWER_MS, link_late, l);
	if (loop_add(&e->w.loop, &l->io, l->fd, EPOLLOUT, link_ready, l) == -1)
		fatal("epoll");
	link_write(l);
}

/*
 * Refuse the link unless its TARGET may be on its way: icsupervisor sent that
 * before dialerd knew of the host, on a channel that may not have been read
 * yet. A few turns of the loop are enough.
 */
static void
link_wait(struct link *l)
{
	if (l->turns++ == TUNNELD_UNLISTED_TURNS)
		link_refuse(
		    l, PROTO_PROXY_NONE, "tunneld has this host on no list");
	else
		loop_timer_set(&tunneld_env.w.loop, &l->timer,
		    TUNNELD_UNLISTED_MS, link_unlisted, l);
}

static void
link_unlisted(struct loop_timer *t)
{
	link_wait(t->arg);
}

void
link_target(void)
{
	struct link *l, *next;

	for (l = TAILQ_FIRST(&tunneld_env.links); l != NULL; l = next) {
		next = TAILQ_NEXT(l, entry);
		if (!l->listed && link_allows(l->host, l->port))
			link_begin(l);
	}
}

int
tunneld_tunnel(struct chan *c, const struct msg_TUNNEL *m, int fd)
{
	struct tunneld_env *e = &tunneld_env;
	char host[EGRESS_MAX_HOST + 1];
	struct link *l;

	if (m->id <= e->last || e->nlinks == TUNNELD_MAX_LINKS ||
	    m->port == 0 || egress_host(m->host, host) == -1 ||
	    !span_is(m->host, host)) {
		close(fd);
		return chan_violation(c, "TUNNEL %u is impossible", m->id);
	}
	e->last = m->id;
	l = link_new(m, host, fd);
	if (link_allows(host, m->port))
		link_begin(l);
	else
		link_wait(l);
	return 0;
}

void
link_reap(void)
{
	struct link *l;

	while ((l = TAILQ_FIRST(&tunneld_env.dead)) != NULL) {
		TAILQ_REMOVE(&tunneld_env.dead, l, entry);
		buf_free(&l->in);
		free(l);
	}
}
