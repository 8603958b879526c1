/* SPDX-License-Identifier: ISC */
/*
 * The servers' stdin ends and the calls that are being served. A line is
 * written whole, or the server is lost: a server that reads no byte for 30
 * seconds loses the lines that were not begun. Nothing here waits for a server.
 */
#include "workers/auditd/auditd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/log.h"

#define SERVER_IOV 32

struct auditd_call *
auditd_call_find(uint64_t id)
{
	if (id == 0)
		return NULL;
	for (size_t i = 0; i < AUDITD_MAX_CALLS; i++) {
		/*
		 * Ids rise by one, so a recent call is usually in its own slot.
		 */
		struct auditd_call *c =
		    &auditd_env.calls[(id + i) % AUDITD_MAX_CALLS];

		if (c->id == id)
			return c;
	}
	return NULL;
}

struct auditd_call *
auditd_call_new(uint64_t id, unsigned server)
{
	for (size_t i = 0; i < AUDITD_MAX_CALLS; i++) {
		struct auditd_call *c =
		    &auditd_env.calls[(id + i) % AUDITD_MAX_CALLS];

		if (c->id != 0)
			continue;
		c->id = id;
		c->server = server;
		c->error = c->shown = false;
		c->since = clock_mono_us();
		return c;
	}
	return NULL;
}

/*
 * Move ids to `m`: the lowest, and all that are less than 64 above it. Usually
 * these are all, because ids of calls rise by one.
 */
static void
ended_take(struct msg_ENDED *m)
{
	unsigned left = 0;
	uint64_t bit, id;

	m->first = UINT64_MAX;
	for (unsigned i = 0; i < auditd_env.nended; i++)
		if (auditd_env.ended[i] < m->first)
			m->first = auditd_env.ended[i];
	m->ended = m->failed = 0;
	for (unsigned i = 0; i < auditd_env.nended; i++) {
		id = auditd_env.ended[i];
		if (id - m->first < 64) {
			bit = (uint64_t)1 << (id - m->first);
			m->ended |= bit;
			m->failed |= auditd_env.ended_error[i] ? bit : 0;
			continue;
		}
		auditd_env.ended_error[left] = auditd_env.ended_error[i];
		auditd_env.ended[left++] = id;
	}
	auditd_env.nended = left;
}

static void
ended_flush(struct loop_timer *t)
{
	struct msg_ENDED m;

	loop_timer_clear(&auditd_env.w.loop, t);
	while (auditd_env.nended != 0) {
		ended_take(&m);
		worker_send(&auditd_env.w, ROLE_POLICY, 0, MSG_ENDED, &m, -1);
	}
}

void
auditd_ended(uint64_t id, bool error)
{
	uint64_t now = loop_now(&auditd_env.w.loop);

	if (auditd_env.nended == 0)
		auditd_env.ended_since = now;
	auditd_env.ended_error[auditd_env.nended] = error;
	auditd_env.ended[auditd_env.nended++] = id;
	if (auditd_env.nended == AUDITD_ENDED || error ||
	    now - auditd_env.ended_since >= AUDITD_ENDED_MS)
		ended_flush(&auditd_env.ended_timer);
	else if (auditd_env.nended == 1)
		loop_timer_set(&auditd_env.w.loop, &auditd_env.ended_timer,
		    AUDITD_ENDED_IDLE_MS, ended_flush, NULL);
}

void
auditd_unasked(unsigned server)
{
	struct auditd_server *s = &auditd_env.servers[server];

	if (s->late != 0) {
		s->late--;
		return;
	}
	s->unasked++;
	auditd_env.unasked = true;
}

void
auditd_unasked_tell(void)
{
	struct auditd_server *s;
	struct msg_UNASKED m;

	for (unsigned i = 0; auditd_env.unasked && i < PROTO_MAX_SERVERS; i++) {
		s = &auditd_env.servers[i];
		if (s->unasked == 0)
			continue;
		m.count = s->unasked;
		s->unasked = 0;
		worker_send(&auditd_env.w, ROLE_BACK, i, MSG_UNASKED, &m, -1);
	}
	auditd_env.unasked = false;
}

void
auditd_call_end(struct auditd_call *c)
{
	uint64_t id = c->id;

	c->id = 0;
	auditd_ended(id, c->error);
}

void
auditd_call_refuse(const struct auditd_effect *e)
{
	struct auditd_call *call;
	struct msg_ANSWER m = {.id = e->id, .error = 1};
	char text[512];

	snprintf(text, sizeof(text),
	    "DENIED: The audit log cannot be written "
	    "(%s), so nothing is forwarded. Do not retry: tell the user, who "
	    "must make room and start a new session.",
	    auditd_env.failed);
	m.text = span_str(text);
	if (e->id != 0)
		worker_send(&auditd_env.w, ROLE_PROXY, 0, MSG_ANSWER, &m, -1);
	if ((call = auditd_call_find(e->id)) != NULL)
		auditd_call_end(call);
}

void
auditd_answer_later(const struct msg_ANSWER *m, uint64_t call)
{
	auditd_effect_msg(ROLE_PROXY, 0, MSG_ANSWER, m, call)->refuse =
	    auditd_call_refuse;
}

/* Record a call that no server will answer, and then answer it. */
static void
call_lost(struct auditd_call *c, const char *why, bool begun)
{
	const struct auditd_result r = {
	    .status = begun ? PROTO_RESULT_LOST : PROTO_RESULT_UNDELIVERED,
	    .why = why};
	const char *name = auditd_env.servers[c->server].name;
	struct msg_ANSWER m = {.id = c->id, .error = 1};
	bool stays = c->server < PROTO_FIRST_INSTANCE;
	char text[1024];
	int n;

	n = snprintf(text, sizeof(text),
	    "Error: MCP server \"%s\" %s; this call %s. %s", name, why,
	    begun ? "may or may not have taken effect" : "was not delivered",
	    !stays   ? "It ran for this call only. Check before you retry."
	    : !begun ? "Try again in a moment."
		     : "Check before you retry. If the server does not come "
		       "back, the next call says so.");
	if (n < 0)
		n = 0;
	m.text = span_of(text, strnlen(text, sizeof(text)));
	auditd_result(c, &r);
	auditd_answer_later(&m, c->id);
	c->error = true;
	auditd_call_end(c);
}

void
auditd_call_cancelled(struct auditd_call *c)
{
	static const struct auditd_result r = {
	    .status = PROTO_RESULT_CANCELLED};
	const struct msg_ANSWER m = {
	    .id = c->id, .error = 1, .text = SPAN("Error: cancelled")};

	auditd_result(c, &r);
	auditd_env.servers[c->server].late++;
	/* mcp-proxyd forgot the caller already; this answer ends the id. */
	auditd_answer_later(&m, c->id);
	auditd_call_end(c);
}

/* Returns true if part of this call's line is written, or all of it. */
static bool
call_begun(const struct auditd_server *s, uint64_t id)
{
	const struct auditd_effect *e;

	TAILQ_FOREACH (e, &s->lines, entry) {
		if (e->id == id)
			return e->off != 0;
	}
	return true;
}

static void
server_close(struct auditd_server *s)
{
	struct auditd_effect *e;

	loop_timer_clear(&auditd_env.w.loop, &s->stall);
	loop_del(&auditd_env.w.loop, &s->io);
	if (s->fd != -1)
		close(s->fd);
	s->fd = -1;
	while ((e = TAILQ_FIRST(&s->lines)) != NULL) {
		TAILQ_REMOVE(&s->lines, e, entry);
		freezero(e, sizeof(*e) + e->len);
	}
	s->queued = 0;
}

void
auditd_server_lost(unsigned server, const char *why)
{
	struct auditd_server *s = &auditd_env.servers[server];

	for (size_t i = 0; i < AUDITD_MAX_CALLS; i++) {
		struct auditd_call *c = &auditd_env.calls[i];

		if (c->id != 0 && c->server == server)
			call_lost(c, why, call_begun(s, c->id));
	}
	server_close(s);
}

void
auditd_calls_over(void)
{
	struct auditd_result r = {.why = "the session ended"};

	for (size_t i = 0; i < AUDITD_MAX_CALLS; i++) {
		struct auditd_call *c = &auditd_env.calls[i];

		if (c->id == 0)
			continue;
		r.status = call_begun(&auditd_env.servers[c->server], c->id)
			       ? PROTO_RESULT_LOST
			       : PROTO_RESULT_UNDELIVERED;
		auditd_result(c, &r);
		c->id = 0;
	}
}

static void
server_stalled(struct loop_timer *t)
{
	struct auditd_server *s = t->arg;

	auditd_server_lost(
	    (unsigned)(s - auditd_env.servers), "took no input for 30 seconds");
}

/* Remove `n` written bytes from the front of the queue. */
static void
server_written(struct auditd_server *s, size_t n)
{
	struct auditd_effect *e;

	s->queued -= n;
	while (n != 0 && (e = TAILQ_FIRST(&s->lines)) != NULL) {
		size_t here = e->len - e->off < n ? e->len - e->off : n;

		e->off += here;
		n -= here;
		if (e->off == e->len) {
			TAILQ_REMOVE(&s->lines, e, entry);
			freezero(e, sizeof(*e) + e->len);
		}
	}
}

static void server_kick(struct auditd_server *);

static void
server_ready(struct loop_io *io, uint32_t events)
{
	struct auditd_server *s = io->arg;

	if ((events & EPOLLERR) != 0) {
		auditd_server_lost(
		    (unsigned)(s - auditd_env.servers), "closed its input");
		return;
	}
	server_kick(s);
}

/*
 * Write lines from the front of the queue. Returns 1 if all of those were
 * taken, 0 if not, or -1 if the server is lost.
 */
static int
server_write(struct auditd_server *s)
{
	struct iovec iov[SERVER_IOV] UNCLEARED;
	struct auditd_effect *e;
	size_t all = 0;
	int niov = 0;
	ssize_t n;

	TAILQ_FOREACH (e, &s->lines, entry) {
		if (niov == SERVER_IOV)
			break;
		iov[niov].iov_base = e->bytes + e->off;
		iov[niov++].iov_len = e->len - e->off;
		all += e->len - e->off;
	}
	n = writev(s->fd, iov, niov);
	if (n == -1 && errno != EAGAIN && errno != EINTR) {
		auditd_server_lost(
		    (unsigned)(s - auditd_env.servers), "closed its input");
		return -1;
	}
	if (n <= 0)
		return 0;
	server_written(s, (size_t)n);
	loop_timer_clear(&auditd_env.w.loop, &s->stall);
	return (size_t)n == all;
}

static void
server_kick(struct auditd_server *s)
{
	int r = 1;

	if (s->fd == -1)
		return;
	while (r == 1 && !TAILQ_EMPTY(&s->lines))
		r = server_write(s);
	if (r == -1)
		return;
	if (TAILQ_EMPTY(&s->lines)) {
		loop_mod(&auditd_env.w.loop, &s->io, 0);
		return;
	}
	loop_mod(&auditd_env.w.loop, &s->io, EPOLLOUT);
	if (s->stall.at == 0)
		loop_timer_set(&auditd_env.w.loop, &s->stall, AUDITD_STALL_MS,
		    server_stalled, s);
}

static bool
server_put(struct auditd_effect *e)
{
	struct auditd_server *s = &auditd_env.servers[e->server];
	struct auditd_call *c;

	TAILQ_INSERT_TAIL(&s->lines, e, entry);
	s->queued += e->len;
	if (s->fd != -1) {
		s->unwritten = auditd_env.unwritten = true;
		return true;
	}
	/* The server is lost, or has not started yet. */
	if ((c = auditd_call_find(e->id)) != NULL)
		call_lost(c, "is not running", false);
	server_close(s);
	return true;
}

void
auditd_servers_write(void)
{
	struct auditd_server *s;

	if (!auditd_env.unwritten)
		return;
	auditd_env.unwritten = false;
	for (size_t i = 0; i < nitems(auditd_env.servers); i++) {
		s = &auditd_env.servers[i];
		if (s->unwritten)
			server_kick(s);
		s->unwritten = false;
	}
}

void
auditd_server_line(unsigned server, uint64_t call, struct span line)
{
	struct auditd_effect *e = auditd_effect_line(server, call, line);

	e->release = server_put;
	e->refuse = auditd_call_refuse;
}

void
auditd_server_stdin(unsigned server, int fd)
{
	struct auditd_server *s = &auditd_env.servers[server];

	s->fd = fd;
	s->io.fd = -1;
	if (loop_add(&auditd_env.w.loop, &s->io, fd, 0, server_ready, s) == -1)
		fatal("epoll_ctl");
}

/* Its mcp-backd and policyd have both closed with the one that died. */
static void
server_again(unsigned server)
{
	struct auditd_server *s = &auditd_env.servers[server];
	const struct msg_AGAIN m = {.server = (uint16_t)server};

	if (!s->gone || s->next == -1)
		return;
	s->gone = s->died = false;
	s->late = 0;
	auditd_server_stdin(server, s->next);
	s->next = -1;
	/* policyd counts the old one's calls as over before it begins. */
	ended_flush(&auditd_env.ended_timer);
	worker_send(&auditd_env.w, ROLE_POLICY, 0, MSG_AGAIN, &m, -1);
}

int
auditd_server_again(unsigned server, int fd)
{
	struct auditd_server *s = &auditd_env.servers[server];

	if (!s->died || s->next != -1)
		return -1;
	s->next = fd;
	server_again(server);
	return 0;
}

void
auditd_server_gone(unsigned server, bool died)
{
	auditd_env.servers[server].gone = died;
	server_again(server);
}
