/* SPDX-License-Identifier: ISC */
/*
 * The connection to one session. Requests are answered in their order; events
 * come between the replies and have no "ok". Nothing here waits.
 */
#include "icctl/live/priv.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/signed.h"
#include "icctl/icctl.h"

#define CONN_IN (64U << 20) /* as much as a whole call may need */
#define CONN_OUT (1U << 20)
#define CONN_CHUNK 65536U
#define CONN_TURN 8U /* chunks, until other sessions have their turn */
#define CONN_AGAIN_MS 250U
#define CONN_TRIES 40U      /* in a row */
#define CONN_WAIT_MS 10000U /* a session answers within 3 s */
#define CONN_SOON_MS 200U

static void conn_ready(struct loop_io *, uint32_t);

/* Returns how long the session may take to answer what it was asked. */
static uint64_t
conn_wait_ms(const struct live_conn *c)
{
	for (unsigned i = 0; i < c->nasks; i++)
		if (c->asks[i].signs)
			return SIGNED_REPLY_S * 1000;
	return CONN_WAIT_MS;
}

/* Everything that was asked is told that it has no answer. */
static void
conn_unasked(struct live_session *s)
{
	struct live_conn *c = s->conn;
	struct live_ask ask;
	struct live_reply r;
	char why[LIVE_TEXT];

	while (c->nasks != 0) {
		ask = c->asks[0];
		c->nasks--;
		memmove(c->asks, c->asks + 1, c->nasks * sizeof(c->asks[0]));
		if (ask.token == 0)
			continue;
		r = (struct live_reply){.token = ask.token,
		    .op = ask.op,
		    .id = ask.id,
		    .code = "lost",
		    .error = c->died ? died_why(s, why)
				     : "the session closed the connection "
				       "without an answer"};
		s->set->ops->replied(s->set->arg, s, &r);
	}
}

void
conn_close(struct live_session *s)
{
	struct live_conn *c = s->conn;
	int fd = c->io.fd;

	loop_del(s->set->loop, &c->io);
	if (fd != -1)
		close(fd);
	buf_free(&c->in);
	buf_free(&c->out);
	c->asked_status = false;
}

void
conn_shut(struct live_session *s)
{
	conn_close(s);
	conn_unasked(s);
	loop_timer_clear(s->set->loop, &s->conn->retry);
	loop_timer_clear(s->set->loop, &s->conn->soon);
}

static void
conn_retry(struct loop_timer *t)
{
	struct live_session *s = t->arg;

	if (s->conn->io.fd == -1) {
		conn_open(s);
		return;
	}
	/* It is connected, and an answer is overdue. */
	if (s->is == LIVE_RUNS) {
		s->is = LIVE_SILENT;
		live_tell(s, LIVE_ROW);
	}
}

static void
conn_is_lost(struct live_session *s)
{
	if (s->is != LIVE_RUNS && s->is != LIVE_SILENT)
		return;
	s->is = LIVE_LOST;
	live_tell(s, LIVE_ROW);
}

/* The connection is of no more use: try again, if it still can be there. */
static void
conn_lost(struct live_session *s)
{
	struct live_conn *c = s->conn;
	char why[LIVE_TEXT];

	conn_close(s);
	/* Its workers may hold the lock for a moment: the next try asks again. */
	c->died = s->is != LIVE_ABSENT && !c->over && died_is(s);
	if (c->died) {
		conn_is_lost(s);
		s->set->over(s, died_why(s, why));
		return;
	}
	if (c->over || c->gone) {
		s->set->over(s, c->gone ? "it is no longer running" : s->why);
		return;
	}
	conn_unasked(s);
	if (c->tries++ < CONN_TRIES)
		loop_timer_set(
		    s->set->loop, &c->retry, CONN_AGAIN_MS, conn_retry, s);
	else if (s->is != LIVE_ABSENT)
		s->set->over(s,
		    "it does not answer; icctl close tidies up after "
		    "a crash");
	else
		starting_over(s);
	conn_is_lost(s);
}

/* Returns false if the connection broke. */
static bool
conn_flush(struct live_session *s)
{
	struct live_conn *c = s->conn;
	struct span out = buf_span(&c->out);
	ssize_t n;

	while (out.len != 0) {
		n = send(c->io.fd, out.p, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			break;
		if (n == -1)
			return false;
		buf_drain(&c->out, (size_t)n);
		out = buf_span(&c->out);
	}
	return loop_mod(s->set->loop, &c->io,
		   EPOLLIN | (out.len != 0 ? EPOLLOUT : 0U)) == 0;
}

int
conn_ask(struct live_session *s, json_object *req, const char *op,
    const char *id, uint64_t token)
{
	struct live_conn *c = s->conn;
	struct live_ask *ask;
	int r = -1;

	put_str(req, "op", op);
	if (s->set->far.ask != NULL)
		return s->set->far.ask(
		    s->set->far.arg, s, req, op, id, token);
	if (c->io.fd == -1) {
		errno = ENOTCONN;
	} else if (c->nasks == LIVE_ASKS) {
		errno = EBUSY;
	} else {
		buf_adds(
		    &c->out, json_object_to_json_string_ext(req, ICCTL_JSON));
		buf_addc(&c->out, '\n');
		if (buf_check(&c->out) == -1) {
			errno = EBUSY;
			goto out;
		}
		ask = &c->asks[c->nasks++];
		*ask = (struct live_ask){.op = op,
		    .token = token,
		    .signs = json_object_object_get_ex(req, "signed", NULL)};
		(void)strlcpy(ask->id, id, sizeof(ask->id));
		/* A failure is found, and told, when the loop reads. */
		(void)conn_flush(s);
		if (c->nasks == 1 || ask->signs)
			loop_timer_set(s->set->loop, &c->retry,
			    conn_wait_ms(c), conn_retry, s);
		r = 0;
	}
out:
	json_object_put(req);
	return r;
}

void
conn_answered(struct live_session *s)
{
	if (s->conn->nasks == 0)
		loop_timer_clear(s->set->loop, &s->conn->retry);
	else
		loop_timer_set(s->set->loop, &s->conn->retry,
		    conn_wait_ms(s->conn), conn_retry, s);
}

static void
conn_soon(struct loop_timer *t)
{
	struct live_session *s = t->arg;

	s->conn->asked_status = false;
	(void)conn_ask(s, json_object_new_object(), "status", "", 0);
}

void
conn_status(struct live_session *s)
{
	if (s->conn->asked_status || s->conn->io.fd == -1)
		return;
	s->conn->asked_status = true;
	loop_timer_set(
	    s->set->loop, &s->conn->soon, CONN_SOON_MS, conn_soon, s);
}

void
live_status(struct live_session *s)
{
	conn_status(s);
}

void
conn_open(struct live_session *s)
{
	struct live_conn *c = s->conn;
	int fd;

	if (c->io.fd != -1 || s->is == LIVE_OVER)
		return;
	buf_init(&c->in, CONN_IN);
	buf_init(&c->out, CONN_OUT);
	fd = icctl_dial_at(c->dir, SOCK_NONBLOCK);
	if (fd == -1 ||
	    loop_add(s->set->loop, &c->io, fd, EPOLLIN, conn_ready, s) == -1) {
		if (fd != -1)
			close(fd);
		/* A crash has left it; a new socket would be noticed. */
		if (s->is == LIVE_ABSENT && fd == -1 && errno != EAGAIN &&
		    errno != ECONNREFUSED)
			return;
		conn_lost(s);
		return;
	}
	(void)conn_ask(s, json_object_new_object(), "watch", "", 0);
	(void)conn_ask(s, json_object_new_object(), "events", "", 0);
	(void)conn_ask(s, json_object_new_object(), "status", "", 0);
}

/* Take the complete lines. Returns false if one makes no sense. */
static bool
conn_lines(struct live_session *s)
{
	struct live_conn *c = s->conn;
	struct span all = buf_span(&c->in), line;
	json_object *o;
	char *text;
	bool good = true;

	while (good && all.len != 0 && memchr(all.p, '\n', all.len) != NULL &&
	       span_line(&all, &line)) {
		text = span_dup(line);
		o = text == NULL ? NULL : json_tokener_parse(text);
		good = icctl_reply_ok(o) && s->set->message(s, o);
		json_object_put(o);
		free(text);
		buf_drain(&c->in, line.len + 1);
		all = buf_span(&c->in);
	}
	return good;
}

static void
conn_ready(struct loop_io *io, uint32_t events)
{
	struct live_session *s = io->arg;
	struct live_conn *c = s->conn;
	uint8_t *room;
	ssize_t n = 1;

	for (unsigned i = 0; n > 0 && i < CONN_TURN; i++) {
		room = buf_room(&c->in, CONN_CHUNK);
		n = room == NULL
			? 0
			: recv(c->io.fd, room, CONN_CHUNK, MSG_DONTWAIT);
		if (n > 0)
			buf_grow(&c->in, (size_t)n);
		if (n > 0 && !conn_lines(s))
			n = 0;
	}
	if (n > 0 || (n == -1 && (errno == EAGAIN || errno == EINTR))) {
		if (s->is == LIVE_SILENT && c->nasks == 0) {
			s->is = LIVE_RUNS;
			live_tell(s, LIVE_ROW);
		}
		if (conn_flush(s))
			return;
	}
	conn_lost(s);
}
