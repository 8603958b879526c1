/* SPDX-License-Identifier: ISC */
/*
 * Reads what the keyd of a remote server passes on: heads and bodies of HTTP
 * answers, in frames. Everything in them is the server's. An answer that cannot
 * be read fails the message that it belongs to and nothing else, because each
 * has a stream of its own. The credential and the name of the session never
 * come here.
 */
#include "backd/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

static const char remote_much[] =
    "sent more than may be held at once; ask for a smaller part";

/* Close the stream. It is freed at once unless it is being read. */
static void
remote_close(struct remote *r)
{
	struct backd *b = r->b;

	loop_del(&b->w.loop, &r->io);
	if (r->fd != -1)
		close(r->fd);
	r->fd = -1;
	b->held -= r->body.len + mcp_reader_held(&r->in);
	buf_free(&r->part);
	buf_free(&r->body);
	mcp_reader_free(&r->in);
	if (b->from == r)
		return;
	LIST_REMOVE(r, entry);
	b->nremotes--;
	free(r);
}

static void
remote_end(struct backd *b)
{
	struct remote *r, *next;

	remote_again_none(b);
	for (r = LIST_FIRST(&b->remotes); r != NULL; r = next) {
		next = LIST_NEXT(r, entry);
		remote_close(r);
	}
}

/* Fail the message, if it wants an answer, and close its stream. */
static void
remote_fail(struct remote *r, const char *why)
{
	struct backd *b = r->b;
	bool begins, own = remote_is_own(r);
	struct jsonrpc_id id;

	jsonrpc_id_copy(&id, &r->id);
	/*
	 * The probe of its revision is no end, nor is what may pass: policyd
	 * asks again. A wanted login is one, in either.
	 */
	begins = r->first && !b->again &&
		 (r->status == 401 || r->login ||
		     span_is(span_of(r->id.text, r->id.len), "\"i\""));
	r->id.len = 0;
	r->b->status = r->status;
	if (id.len != 0)
		server_fail(b, &id, why);
	else
		log_info("%s %s",
		    own ? "the server, on its own stream of events,"
			: "a message to the server: it",
		    why);
	if (begins && id.len != 0) {
		/* It can be begun again, after a login. */
		b->died = true;
		backd_gone(b, "%s", why);
	} else if (r->fd != -1) {
		remote_close(r);
	}
}

static bool
remote_answers(struct backd *b, const struct jsonrpc_id *id)
{
	struct remote *r = b->from;

	if (r->id.len == 0 || !jsonrpc_id_eq(&r->id, id))
		return false;
	r->id.len = 0;
	return true;
}

/* A message cannot be read. The server's own stream has others. */
static void
remote_bad(struct remote *r, const char *why)
{
	if (remote_is_own(r))
		backd_drop(r->b, why);
	else
		remote_fail(r, why);
}

static void
remote_refused(struct backd *b, const char *why)
{
	char text[JSONRPC_WHY + 64];

	(void)snprintf(
	    text, sizeof(text), "sent a message that was refused: %s", why);
	remote_bad(b->from, text);
}

/* Keep the beginning of a media type, in lower case and without parameters. */
static void
remote_type(struct remote *r, struct span v)
{
	size_t n = 0;

	while (n < v.len && v.p[n] != ';' && v.p[n] != ' ' &&
	       n < sizeof(r->type) - 1) {
		r->type[n] = (char)v.p[n];
		if (v.p[n] >= 'A' && v.p[n] <= 'Z')
			r->type[n] = (char)(v.p[n] + ('a' - 'A'));
		n++;
	}
	r->type[n] = '\0';
}

static void
remote_headers(struct remote *r, struct span headers)
{
	struct span name, value;

	while (stream_field(&headers, &name, &value) == 1) {
		if (span_is(name, "content-type"))
			remote_type(r, value);
		else if (span_is(name, "retry-after"))
			(void)span_copy(value, r->retry, sizeof(r->retry));
		else if (span_is(name, "location"))
			(void)span_copy(
			    value, r->location, sizeof(r->location));
	}
}

/* The session is over: the server is asked for another one. */
static void
remote_lost(struct remote *r)
{
	struct backd *b = r->b;

	b->died = true;
	backd_gone(b, "has ended its session (status %u)", r->status);
}

static void
remote_head(struct remote *r, struct span p)
{
	if (r->how != REMOTE_HEAD || p.len < STREAM_HEAD_LEN) {
		remote_fail(r, "gave no answer that makes sense");
		return;
	}
	r->status = p.p[0] | (unsigned)p.p[1] << 8;
	remote_headers(
	    r, span_of(p.p + STREAM_HEAD_LEN, p.len - STREAM_HEAD_LEN));
	/* To a GET, it may mean that there is no such stream. */
	if (r->session && !r->events && (r->status == 404 || r->status == 410))
		remote_lost(r);
	else if (r->status >= 300)
		r->how = REMOTE_ERROR;
	else if (strcmp(r->type, "application/json") == 0 && r->status != 202)
		r->how = REMOTE_JSON;
	else if (strcmp(r->type, "text/event-stream") == 0)
		r->how = REMOTE_EVENTS;
	else
		r->how = REMOTE_NONE;
	if (r->how == REMOTE_JSON || r->how == REMOTE_EVENTS)
		mcp_reader_init(&r->in,
		    r->how == REMOTE_JSON ? &mcp_by_body : &mcp_by_event,
		    PROTO_MAX_LINE);
	/* An id and a time hold until the server sends others. */
	if (r->how == REMOTE_EVENTS) {
		memcpy(r->in.sse.id, r->last.id, sizeof(r->in.sse.id));
		memcpy(r->in.sse.next, r->last.id, sizeof(r->in.sse.next));
		r->in.sse.retry = r->last.retry;
	}
}

/* Read one message. Returns false if the stream has ended. */
static bool
remote_message(struct remote *r, struct span line)
{
	bool asked = r->id.len != 0;

	r->told = true;
	server_line(r->b, line);
	if (r->fd == -1)
		return false;
	/* The answer was the last thing that the server had to say. */
	if (asked && r->id.len == 0)
		remote_close(r);
	return r->fd != -1;
}

/* Count what the reader holds now, in place of what it held before. */
static void
remote_count(struct remote *r, size_t *was)
{
	size_t now = mcp_reader_held(&r->in);

	r->b->held += now;
	r->b->held -= *was;
	*was = now;
}

/* Read the messages that are complete. */
static void
remote_messages(struct remote *r, struct span in)
{
	size_t was = mcp_reader_held(&r->in);
	enum mcp_got got = MCP_MORE;
	struct span text;

	if (mcp_reader_add(&r->in, in) == -1)
		fatal("a server's answer");
	remote_count(r, &was);
	if (r->b->held > REMOTE_HELD) {
		remote_fail(r, remote_much);
		return;
	}
	do {
		got = mcp_reader_next(&r->in, &text);
		remote_count(r, &was);
		if (got == MCP_LONG || got == MCP_LONG_END)
			remote_bad(r, remote_much);
		else if (got == MCP_OTHER && span_is(text, "endpoint"))
			remote_bad(r, "speaks HTTP+SSE of 2024-11-05, which "
				      "is not supported");
		else if (got == MCP_ONE && !remote_message(r, text))
			return;
	} while (r->fd != -1 && got != MCP_MORE);
	if (r->fd != -1)
		mcp_reader_done(&r->in);
}

static void
remote_body(struct remote *r, struct span p)
{
	struct backd *b = r->b;

	switch (r->how) {
	case REMOTE_HEAD:
		remote_fail(r, "gave no answer that makes sense");
		return;
	case REMOTE_EVENTS:
	case REMOTE_JSON:
		remote_messages(r, p);
		return;
	case REMOTE_NONE:
		return;
	case REMOTE_ERROR:
		if (p.len > REMOTE_WORDS - r->body.len)
			p.len = REMOTE_WORDS - r->body.len;
		if (p.len > REMOTE_HELD - b->held)
			p.len = 0;
		break;
	}
	buf_addspan(&r->body, p);
	b->held += p.len;
	if (r->body.failed)
		fatal("a server's answer");
}

/*
 * An error's body may be the message that says why, as a server of revision
 * 2026-07-28 has it. Returns true if it was one.
 */
static bool
remote_told(struct remote *r)
{
	struct backd *b = r->b;
	struct jsonrpc_id id;
	struct jsonrpc m;

	if (r->how != REMOTE_ERROR || r->id.len == 0 ||
	    (r->status != 400 && r->status != 404) ||
	    strcmp(r->type, "application/json") != 0)
		return false;
	value_pool_reset(b->pool);
	jsonrpc_read_repaired(b->pool, buf_span(&r->body), &m);
	if (m.kind != JSONRPC_ERROR ||
	    (m.rid != NULL && !jsonrpc_id_eq(&m.id, &r->id)))
		return false;
	jsonrpc_id_copy(&id, &r->id);
	r->id.len = 0;
	b->status = r->status;
	server_error(b, &id, &m);
	remote_close(r);
	return true;
}

/*
 * A stream of events is over, by its end or by the connection's, or was not
 * given, with this status. Returns true if that is no failure: it is asked for
 * again, or it was the server's own.
 */
static bool
remote_over(struct remote *r, unsigned status)
{
	bool own = remote_is_own(r);

	if ((r->how != REMOTE_EVENTS && status != 429 && status < 500) ||
	    !remote_again(r)) {
		if (!own)
			return false;
		log_info("the server's own stream of events is over%s",
		    r->status == 405 ? ": it has none" : "");
	}
	r->id.len = 0;
	remote_close(r);
	return true;
}

/* The answer is complete. */
static void
remote_done(struct remote *r)
{
	struct span text;
	char why[900];

	/* It is there, and cannot work: that may pass. */
	r->b->again = r->first && (r->status == 429 || r->status >= 500);
	if (remote_told(r))
		return;
	if ((r->how == REMOTE_JSON || r->how == REMOTE_EVENTS) &&
	    mcp_reader_end(&r->in, &text) == MCP_ONE &&
	    !remote_message(r, text))
		return;
	if ((r->events || r->how == REMOTE_EVENTS) && remote_over(r, r->status))
		return;
	if (r->id.len != 0 || r->status >= 300)
		remote_fail(r, remote_why(r, why, sizeof(why)));
	else
		remote_close(r);
}

/* Returns the status that a FAIL frame of keyd begins with, or 0. */
static unsigned
remote_fail_status(struct span p)
{
	uint64_t n;

	return p.len < 4 || span_u64(span_of(p.p + 1, 3), 999, &n) == -1
		   ? 0
		   : (unsigned)n;
}

/* A frame is complete, or a piece of BODY has come. */
static void
remote_frame(struct remote *r, struct span p)
{
	char why[900];

	switch (r->frame.type) {
	case STREAM_HEAD:
		remote_head(r, p);
		break;
	case STREAM_BODY:
		remote_body(r, p);
		break;
	case STREAM_END:
		remote_done(r);
		break;
	case STREAM_FAIL:
		if ((r->events || r->how == REMOTE_EVENTS) &&
		    remote_over(r, remote_fail_status(p)))
			break;
		r->login = remote_why_login(p);
		r->b->again = r->first && !r->login &&
			      (p.len == 0 || p.p[0] != STREAM_SENT);
		remote_fail(r, remote_why_failed(r, p, why, sizeof(why)));
		break;
	case STREAM_AT:
	case STREAM_FOLLOW:
		remote_fail(r, "gave no answer that makes sense");
		break;
	}
}

/* Take the next piece of a frame off the front. */
static void
remote_piece(struct remote *r, struct span *in)
{
	struct span p = *in;

	if (p.len > r->fleft)
		p.len = r->fleft;
	*in = span_of(in->p + p.len, in->len - p.len);
	r->fleft -= (uint32_t)p.len;
	if (r->frame.type == STREAM_BODY) {
		if (p.len != 0)
			remote_frame(r, p);
	} else {
		buf_addspan(&r->part, p);
		if (r->fleft == 0)
			remote_frame(r, buf_span(&r->part));
		if (r->fleft == 0)
			buf_reset(&r->part, 0);
	}
	if (r->fleft == 0)
		r->fhave = 0;
}

static void
remote_feed(struct remote *r, struct span in)
{
	size_t n;

	while (r->fd != -1 && (in.len != 0 || r->fhave == STREAM_HEADER)) {
		if (r->fhave == STREAM_HEADER) {
			if (in.len == 0 && r->fleft != 0)
				return;
			remote_piece(r, &in);
			continue;
		}
		n = STREAM_HEADER - r->fhave;
		n = in.len < n ? in.len : n;
		memcpy(r->fhead + r->fhave, in.p, n);
		r->fhave += n;
		in = span_of(in.p + n, in.len - n);
		if (r->fhave < STREAM_HEADER)
			return;
		if (stream_unpack(r->fhead, &r->frame) == -1) {
			remote_fail(r, "gave no answer that makes sense");
			return;
		}
		r->fleft = r->frame.len;
	}
}

static void
remote_ready(struct loop_io *io, uint32_t events)
{
	static uint8_t room[LINES_READ];
	struct remote *r = io->arg;
	struct backd *b = r->b;
	ssize_t n;

	if ((n = read(r->fd, room, sizeof(room))) == -1 &&
	    (errno == EAGAIN || errno == EINTR))
		return;
	b->from = r;
	if (n <= 0 && remote_is_own(r))
		remote_close(r);
	else if (n <= 0)
		remote_fail(r, "gave no answer: the connection was given up");
	else
		remote_feed(r, span_of(room, (size_t)n));
	b->from = NULL;
	if (r->fd == -1)
		remote_close(r);
	backd_watch(b);
}

static void
remote_watch(struct backd *b)
{
	bool reads = !worker_is_behind(&b->w) && b->pause.at == 0;
	struct remote *r;

	LIST_FOREACH (r, &b->remotes, entry) {
		if (r->fd != -1 &&
		    loop_watch(&b->w.loop, &r->io, r->fd,
			reads ? (uint32_t)EPOLLIN : 0, remote_ready, r) == -1)
			fatal("epoll_ctl");
	}
}

static const struct backd_afar remote_streams = {
    .watch = remote_watch,
    .answers = remote_answers,
    .refused = remote_refused,
    .end = remote_end,
};

int
remote_on_afar(struct chan *c, const struct msg_SERVER_AFAR *m)
{
	static const struct msg_GONE given_up = {
	    .died = 1, .text = {(const uint8_t *)"was given up", 12}};
	struct backd *b = chan_arg(c);

	/*
	 * policyd gives a server up for reasons that are not known here; auditd
	 * waits for the end of the old one.
	 */
	if (b->afar != NULL && !b->gone) {
		server_done(b);
		worker_send(&b->w, ROLE_AUDIT, 0, MSG_GONE, &given_up, -1);
	}
	remote_end(b);
	b->afar = &remote_streams;
	b->mask = m->mask != 0;
	(void)span_copy(m->name, b->name, sizeof(b->name));
	b->gone = b->died = b->modern = b->old = b->denied = false;
	b->stray = 0;
	return 0;
}

int
remote_on_post(struct chan *c, const struct msg_POST *m, int fd)
{
	struct backd *b = chan_arg(c);
	struct remote *r;

	if (b->afar == NULL || m->id.len > JSONRPC_MAX_ID ||
	    b->nremotes == REMOTE_MAX) {
		close(fd);
		return chan_violation(c, "POST is impossible");
	}
	if (b->gone) {
		close(fd);
		return 0;
	}
	if ((r = calloc(1, sizeof(*r))) == NULL)
		fatal("remote");
	r->b = b;
	r->fd = fd;
	r->io.fd = -1;
	r->session = m->session != 0;
	r->events = m->events != 0;
	r->begun = loop_now(&b->w.loop);
	r->first = span_is(m->id, "\"i\"") || span_is(m->id, "\"d\"");
	r->id.len = (uint16_t)m->id.len;
	if (m->id.len != 0)
		memcpy(r->id.text, m->id.p, m->id.len);
	if (r->events)
		remote_again_begun(r);
	buf_init(&r->part, STREAM_MAX_FRAME);
	buf_init(&r->body, REMOTE_WORDS);
	LIST_INSERT_HEAD(&b->remotes, r, entry);
	b->nremotes++;
	backd_watch(b);
	return 0;
}
