/* SPDX-License-Identifier: ISC */
/*
 * The browser's connections, each for one request with one constant answer; and
 * the messages of mcp-callbackd. The first request that is the awaited answer
 * ends the wait; every other one is told so and changes nothing.
 */
#include "workers/callbackd/callbackd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "workers/callbackd/callback.h"

#define CONN_MS 10000U

struct conn {
	int fd; /* -1: a free place */
	struct loop_io io;
	struct loop_timer timer;
	uint8_t in[CALLBACK_HEAD];
	size_t len, seen;
};

static struct {
	struct worker *w;
	struct conn conns[CALLBACKD_CONNS];
	struct callback_want want;
	bool waits;
} cb;

#define PAGE(status, text)                                                     \
	"HTTP/1.1 " status "\r\n"                                              \
	"Content-Type: text/html; charset=utf-8\r\n"                           \
	"Content-Security-Policy: default-src 'none'\r\n"                      \
	"Referrer-Policy: no-referrer\r\n"                                     \
	"Cache-Control: no-store\r\n"                                          \
	"X-Content-Type-Options: nosniff\r\n"                                  \
	"Connection: close\r\n\r\n"                                            \
	"<!doctype html><title>IronCurtain</title><p>" text "</p>\n"

static const char page_good[] = PAGE("200 OK",
    "The answer has arrived. You can close this window; the terminal says "
    "whether the login worked.");
static const char page_error[] = PAGE("200 OK",
    "The login was refused. You can close this window; the terminal says why.");
static const char page_other[] =
    PAGE("400 Bad Request", "This is not the answer to a login that waits.");

static void
conn_close(struct conn *c)
{
	if (c->fd == -1)
		return;
	loop_timer_clear(&cb.w->loop, &c->timer);
	loop_del(&cb.w->loop, &c->io);
	close(c->fd);
	c->fd = -1;
	/* It may have had a code. */
	explicit_bzero(c->in, sizeof(c->in));
}

static void
conn_late(struct loop_timer *t)
{
	conn_close(t->arg);
}

/* Say what came, and pass on a code. Returns the page for it. */
static const char *
take(struct span target)
{
	static struct callback c;
	struct msg_CALLBACK_SEEN seen = {.text = SPAN("")};
	struct msg_CALLBACK m;
	char text[512];
	const char *page = page_other;

	seen.how = (uint8_t)callback_target(target, &cb.want, &c);
	switch ((enum proto_seen)seen.how) {
	case PROTO_SEEN_CODE:
		page = page_good;
		m = (struct msg_CALLBACK){.state = span_str(cb.want.state),
		    .code = span_str(c.code),
		    .named = c.named,
		    .issuer = span_str(c.issuer)};
		worker_send(cb.w, ROLE_GRANT, PROTO_GRANT_INDEX, MSG_CALLBACK,
		    &m, -1);
		cb.waits = false;
		break;
	case PROTO_SEEN_ERROR:
		page = page_error;
		snprintf(text, sizeof(text), "%s%s%s", c.error,
		    c.text[0] != '\0' ? ": " : "", c.text);
		seen.text = span_str(text);
		cb.waits = false;
		break;
	case PROTO_SEEN_OTHER:
		seen.text = span_str(c.why);
		break;
	}
	worker_send(cb.w, ROLE_SUP, 0, MSG_CALLBACK_SEEN, &seen, -1);
	explicit_bzero(&c, sizeof(c));
	return page;
}

/* The head is complete, or cannot be one. */
static void
conn_answer(struct conn *c, enum http1_result r, const struct http1_head *h)
{
	const char *page = page_other;
	size_t len;

	if (r == HTTP1_OK && cb.waits && callback_head(h, &cb.want) == NULL)
		page = take(h->target);
	len = strlen(page);
	/* It fits into the socket's buffer, which is empty. */
	if (write(c->fd, page, len) != (ssize_t)len)
		log_info("a browser did not take its page");
	conn_close(c);
}

static void
conn_ready(struct loop_io *io, uint32_t events)
{
	static struct http1_head h;
	struct conn *c = io->arg;
	enum http1_result r;
	ssize_t n;

	n = read(c->fd, c->in + c->len, sizeof(c->in) - c->len);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		conn_close(c);
		return;
	}
	c->len += (size_t)n;
	r = http1_request_more(span_of(c->in, c->len), &c->seen, &h);
	if (r != HTTP1_MORE || c->len == sizeof(c->in))
		conn_answer(c, r, &h);
	explicit_bzero(&h, sizeof(h));
}

static int
on_wait(struct chan *ch, const struct msg_CALLBACK_WAIT *m)
{
	if (cb.want.state[0] != '\0' || m->state.len == 0 ||
	    span_copy(m->state, cb.want.state, sizeof(cb.want.state)) == -1 ||
	    span_copy(m->host, cb.want.host, sizeof(cb.want.host)) == -1 ||
	    span_copy(m->issuer, cb.want.issuer, sizeof(cb.want.issuer)) == -1)
		return chan_violation(ch, "CALLBACK_WAIT twice or impossible");
	cb.want.iss = m->iss != 0;
	cb.waits = true;
	return 0;
}

static int
on_conn(struct chan *ch, const struct msg_CALLBACK_CONN *m, int fd)
{
	struct conn *c = NULL;

	for (size_t i = 0; i < CALLBACKD_CONNS && c == NULL; i++)
		if (cb.conns[i].fd == -1)
			c = &cb.conns[i];
	if (c == NULL) {
		close(fd);
		return 0;
	}
	c->fd = fd;
	c->len = c->seen = 0;
	if (loop_add(&cb.w->loop, &c->io, fd, EPOLLIN, conn_ready, c) == -1) {
		close(fd);
		c->fd = -1;
		return 0;
	}
	loop_timer_set(&cb.w->loop, &c->timer, CONN_MS, conn_late, c);
	return 0;
}

static int
on_text(struct chan *ch, const struct msg_CALLBACK_TEXT *m)
{
	struct msg_CALLBACK_SEEN seen = {.how = PROTO_SEEN_OTHER,
	    .text = SPAN("the answer has come already")};
	struct span s = m->text;

	while (s.len != 0 && s.p[s.len - 1] <= ' ')
		s.len--;
	if (cb.waits)
		(void)take(s);
	else
		worker_send(cb.w, ROLE_SUP, 0, MSG_CALLBACK_SEEN, &seen, -1);
	return 0;
}

/* clang-format off */
static const struct chan_handler serve_handlers[] = {
	HANDLER(CALLBACK_WAIT,	on_wait),
	HANDLER(CALLBACK_CONN,	on_conn),
	HANDLER(CALLBACK_TEXT,	on_text),
};
/* clang-format on */

static void
serve_lost(enum role role, unsigned index)
{
	log_info("%s is gone", role_name(role));
	worker_exit(cb.w, 1);
}

void
callbackd_serve(struct worker *w)
{
	cb.w = w;
	for (size_t i = 0; i < CALLBACKD_CONNS; i++) {
		cb.conns[i].fd = -1;
		cb.conns[i].io = (struct loop_io)LOOP_IO_INIT;
	}
	w->lost = serve_lost;
	worker_serve(w, serve_handlers, nitems(serve_handlers));
}
