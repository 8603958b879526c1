/* SPDX-License-Identifier: ISC */
/*
 * The messages for a remote MCP server: each line that auditd writes after it
 * has recorded it becomes one POST, whose answer goes to that server's
 * mcp-backd on a stream of its own. policyd composed the lines; of their
 * content only the beginning is looked at, which is always written the same
 * way. The server's session is held here, beside the credential, and ended with
 * a DELETE when auditd closes the pipe: it has given the server up, or has
 * written the last record. No message that may change something is sent a
 * second time.
 */
#include "keyd/keyd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "keyd/head.h"
#include "keyd/post_line.h"
#include "provider/dest_mcp.h"

#define POST_MODERN "2026-07-28"
#define POST_READ 65536U
#define POST_VERSION 32U
/* The routes of provider/dest_mcp.c. */
#define POST_ROUTE 0U
#define POST_ROUTE_EVENTS 1U
#define POST_ROUTE_END 2U
/* Streams at once: all calls of a session, and the session's own messages. */
#define POST_MAX (PROTO_MAX_CALLS + 64U)

static const char post_version[] = "MCP-Protocol-Version: ";
static const char post_events[] = "MCP-Events: ";
static const char post_params[] = "MCP-Params: ";

static struct {
	struct loop_io io;
	int fd; /* the pipe from auditd; -1: none */
	struct buf in;
	size_t seen; /* no newline before it */
	char version[POST_VERSION + 1];
	struct reply_take session;
	char path[PROTO_MAX_PLACE + 1]; /* with a query: it has moved; or "" */
	uint32_t init;      /* the stream of `initialize`; 0: none */
	uint32_t last;      /* the last stream's number */
	struct buf params;  /* a line with headers of the next message; or "" */
	bool forgotten;     /* the server does not know the session any more */
	bool stopping;      /* exit when the session has ended */
	struct stream *end; /* the DELETE that is being sent; or NULL */
	int end_fd;         /* the other end of its stream: nobody reads it */
} post = {.io = LOOP_IO_INIT,
    .fd = -1,
    .session = {.name = "mcp-session-id"},
    .end_fd = -1};

/* Take a text of ours off the front. Returns false if it is not there. */
static bool
post_skip(struct span *s, const char *text)
{
	struct span t = span_str(text);

	if (!span_starts(*s, t))
		return false;
	*s = span_of(s->p + t.len, s->len - t.len);
	return true;
}

/* Returns true if the message may be sent again with another credential. */
static bool
post_repeats(struct span line)
{
	static const char *const methods[] = {"initialize", "prompts/list",
	    "resources/list", "resources/templates/list", "server/discover",
	    "tools/list"};
	struct post_line l;

	post_line_read(line, &l);
	for (size_t i = 0; i < nitems(methods); i++)
		if (span_is(l.method, methods[i]))
			return true;
	return false;
}

static int
post_copy(struct buf *b, const char *name, const char *value)
{
	return value[0] == '\0'
		   ? 0
		   : provider_pack(b, span_str(name), span_str(value));
}

/* The newer revision's messages have their method and name in headers, too. */
static int
post_modern(struct buf *b, const struct post_line *l)
{
	if (strcmp(post.version, POST_MODERN) != 0 || l->method.len == 0)
		return 0;
	return provider_pack(b, SPAN("mcp-method"), l->method) == -1
		   ? -1
		   : post_copy(b, "mcp-name", l->name);
}

/*
 * Parameters are in headers, too, if the line before the message says so.
 * Returns 0, or -1 if they cannot be.
 */
static int
post_mirror(struct buf *b, const struct post_line *l)
{
	char name[POST_PARAM], value[POST_NAME];
	struct span s = buf_span(&post.params);
	int r;

	if (s.len < l->id.len || l->id.len == 0 ||
	    !span_eq(span_of(s.p, l->id.len), l->id))
		return 0;
	s = span_of(s.p + l->id.len, s.len - l->id.len);
	/* The id of another message begins in the same way. */
	if (s.len != 0 && s.p[0] != ' ')
		return 0;
	while ((r = post_line_param(&s, name, value)) == 1)
		if (provider_pack(b, span_str(name), span_str(value)) == -1)
			return -1;
	return r;
}

/* The routes differ in these headers. */
static int
post_own(
    struct buf *b, const struct post_line *l, unsigned route, const char *event)
{
	if (route == POST_ROUTE_END)
		return 0;
	if (route == POST_ROUTE_EVENTS)
		return post_copy(b, "accept", "text/event-stream") == -1
			   ? -1
			   : post_copy(b, "last-event-id", event);
	return post_copy(b, "accept", "application/json, text/event-stream") ==
			   -1 ||
		       post_copy(b, "content-type", "application/json") == -1 ||
		       post_modern(b, l) == -1 || post_mirror(b, l) == -1
		   ? -1
		   : 0;
}

/*
 * Compose what the head is made of, beside the credential. `event`, of a
 * request for events: ask for those after this one, or for the server's own
 * stream if it is empty. Returns 0, or -1 if it is too long.
 */
static int
post_head(struct request *r, const struct post_line *l, uint64_t length,
    unsigned route, const char *event)
{
	const struct dest_mcp *m = keyd_env.provider->mcp;
	bool root = keyd_env.hosts[0].prefix[0] == '\0' && m->path.len == 0;
	struct span path = root ? SPAN("/") : m->path;
	struct buf b;
	int rv = -1;

	*r = (struct request){.exchange = 1,
	    .route = route,
	    .kind = route == POST_ROUTE_END ? &post_end_kind : &post_kind,
	    .length = length};
	buf_init(&b, 2U * PROVIDER_MAX_BLOB);
	buf_addspan(&b, path);
	buf_addspan(&b, m->query);
	if (post_own(&b, l, route, event) == 0 &&
	    post_copy(&b, "mcp-protocol-version", post.version) == 0 &&
	    post_copy(&b, "mcp-session-id", post.session.value) == 0) {
		buf_addspan(&b, m->headers);
		r->size = b.len;
		if (!b.failed && (r->mem = malloc(r->size + 1)) != NULL)
			rv = 0;
	}
	if (rv == 0) {
		memcpy(r->mem, buf_span(&b).p, r->size);
		r->path = span_of(r->mem, path.len);
		r->query = span_of(r->mem + path.len, m->query.len);
		r->headers = span_of(r->query.p + m->query.len,
		    r->size - path.len - m->query.len);
	}
	buf_free(&b);
	return rv;
}

/* The message is in s->pend, all of it. */
static void
post_begin(struct stream *s)
{
	const struct keyd_env *e = &keyd_env;
	struct span body = buf_span(&s->pend);
	struct txn *x = &s->x;

	x->counted = x->req.length;
	x->keeping = x->req.route == POST_ROUTE_EVENTS || post_repeats(body);
	txn_keep(s, body.p, body.len);
	if (e->now == NULL && e->provider->nkinds != 0 &&
	    e->provider->nlogins == 0) {
		x->state = TXN_ON;
		txn_fail(s, KEYD_FAIL_NO_KEY, "no credential");
	} else if (e->locked) {
		x->state = TXN_ON;
		txn_fail(s, KEYD_FAIL_LOCKED, "locked");
	} else {
		txn_go(s);
	}
}

/* The session's id comes with the answer to `initialize`. */
static struct reply_take *
post_take(const struct stream *s)
{
	return s->id == post.init ? &post.session : NULL;
}

/* Returns path and query of an address of this server, or an empty span. */
static struct span
post_place(struct span to)
{
	/* A server behind a proxy may write http for its own https. */
	static const char *const schemes[] = {"https://", "http://"};
	const struct keyd_host *h = &keyd_env.hosts[0];
	char own[300];
	size_t n;

	for (size_t i = 0; i < nitems(schemes); i++) {
		if (!span_starts(to, span_str(schemes[i])))
			continue;
		n = (size_t)snprintf(own, sizeof(own),
		    h->port == 443 ? "%s%s" : "%s%s:%u", schemes[i], h->name,
		    (unsigned)h->port);
		if (to.len < n || !span_ieq(span_of(to.p, n), span_of(own, n)))
			return SPAN("");
		to = span_of(to.p + n, to.len - n);
	}
	/* "//host" is another server. */
	if (to.len == 0 || to.p[0] != '/' || (to.len > 1 && to.p[1] == '/'))
		return SPAN("");
	for (size_t i = 0; i < to.len; i++)
		if (to.p[i] <= 0x20 || to.p[i] > 0x7e || to.p[i] == '#' ||
		    to.p[i] == '\\')
			return SPAN("");
	return to;
}

/* Frameworks redirect from /mcp to /mcp/: once in a session that is followed.
 */
static bool
post_moved(const struct http1_head *h)
{
	struct span to = SPAN("");
	unsigned n = 0;

	for (unsigned i = 0; i < h->nheaders; i++) {
		if (!span_ieq(h->headers[i].name, SPAN("location")))
			continue;
		to = post_place(h->headers[i].value);
		n++;
	}
	if (n != 1 || to.len == 0 || post.path[0] != '\0' ||
	    span_copy(to, post.path, sizeof(post.path)) == -1)
		return false;
	/* A query may hold a token of the server's. */
	log_info("for this session, the server has moved to %.*s",
	    (int)strcspn(post.path, "?"), post.path);
	return true;
}

static void
post_compose(const struct txn *x, struct keyd_head *h)
{
	if (post.path[0] == '\0')
		return;
	h->prefix = h->query = span_of(NULL, 0);
	h->path = span_str(post.path);
}

/* The answer to a message may say that the server has forgotten its session. */
static void
post_over(struct stream *s)
{
	const struct txn *x = &s->x;

	if (x->req.route == POST_ROUTE &&
	    (x->reply.status == 404 || x->reply.status == 410))
		post.forgotten = true;
}

const struct txn_kind post_kind = {.begin = post_begin,
    .take = post_take,
    .head = post_compose,
    .moved = post_moved,
    .forbidden = scope_forbidden,
    .release = post_over};

/* The end of a session is over, whatever the server has said. */
static void
post_ended(struct stream *s)
{
	if (s != post.end)
		return;
	post.end = NULL;
	/* Nothing is left to do for its stream, which is freed. */
	close(post.end_fd);
	post.end_fd = -1;
}

/* A login is not renewed for this, and nobody is told of a failure. */
const struct txn_kind post_end_kind = {.begin = up_want,
    .head = post_compose,
    .release = post_ended,
    .quiet = true};

/* Tell the server that its session is over, if it has one. */
static void
post_end(void)
{
	static const struct post_line none;
	struct request r;
	int theirs;

	if (post.end != NULL)
		txn_abort(post.end, "another session has ended");
	if (post.session.value[0] == '\0' || post.forgotten ||
	    post_head(&r, &none, 0, POST_ROUTE_END, NULL) == -1)
		return;
	post.session.value[0] = '\0';
	if (++post.last == 0)
		post.last = 1;
	if ((theirs = open_stream(post.last, &post.end)) == -1 ||
	    post.end == NULL) {
		log_warnx("the server is not told that its session is over");
		if (theirs != -1)
			close(theirs);
		request_free(&r);
		return;
	}
	post.end_fd = theirs;
	txn_begin(post.end, &r);
}

static unsigned
post_reader(void)
{
	unsigned i = 0;

	while (i < PROTO_MAX_PEERS && keyd_env.w.peers[ROLE_BACK][i] == NULL)
		i++;
	return i;
}

/* Begin a stream for the message, or for events, that are not sent yet. */
static void
post_open(struct span line, const struct post_line *l, const char *event)
{
	struct msg_POST m = {.id = l->id, .events = event != NULL};
	struct stream *s;
	struct request r;
	int theirs;

	if (post_reader() == PROTO_MAX_PEERS)
		return;
	if (++post.last == 0)
		post.last = 1;
	if (span_is(l->method, "initialize")) {
		post.session.value[0] = post.version[0] = '\0';
		post.forgotten = false;
		post.init = post.last;
	}
	m.stream = post.last;
	m.session = post.session.value[0] != '\0';
	if ((theirs = open_stream(m.stream, &s)) == -1) {
		log_warn("socketpair");
		return;
	}
	worker_send(
	    &keyd_env.w, ROLE_BACK, post_reader(), MSG_POST, &m, theirs);
	if (s == NULL)
		return;
	buf_init(&s->pend, PROTO_MAX_LINE + 1U);
	buf_addspan(&s->pend, line);
	if (s->pend.failed ||
	    post_head(&r, l, line.len,
		event != NULL ? POST_ROUTE_EVENTS : POST_ROUTE, event) == -1) {
		s->x = (struct txn){.state = TXN_ON, .req.exchange = 1};
		txn_fail(s, KEYD_FAIL_INTERNAL,
		    "the head of the message is too long");
		return;
	}
	txn_begin(s, &r);
}

static void
post_send(struct span line)
{
	struct post_line l;

	post_line_read(line, &l);
	post_open(line, &l, NULL);
	buf_free(&post.params);
}

/* Ask for events. */
static void
post_listen(struct span s)
{
	struct post_line l = {.id = SPAN(""), .method = SPAN("")};
	char event[PROTO_MAX_EVENT + 1];

	if (post_line_events(s, &l.id, event) == 0)
		post_open(SPAN(""), &l, event);
}

/* Take the revision that policyd and the server have agreed on. */
static void
post_revision(struct span s)
{
	if (post_line_token(s))
		(void)span_copy(s, post.version, sizeof(post.version));
}

/* Headers of the message that follows. */
static void
post_keep(struct span line)
{
	buf_free(&post.params);
	buf_init(&post.params, PROVIDER_MAX_BLOB);
	buf_addspan(&post.params, line);
}

static void
post_line(struct span line)
{
	if (post_skip(&line, post_version))
		post_revision(line);
	else if (post_skip(&line, post_events))
		post_listen(line);
	else if (post_skip(&line, post_params))
		post_keep(line);
	else if (line.len != 0)
		post_send(line);
}

/* Send the lines that are complete, as many as may be sent at once. */
static void
post_lines(void)
{
	const uint8_t *nl;
	struct span in;
	size_t n;

	while (keyd_env.nstreams < POST_MAX) {
		in = buf_span(&post.in);
		nl = in.len != post.seen
			 ? memchr(in.p + post.seen, '\n', in.len - post.seen)
			 : NULL;
		if (nl == NULL) {
			post.seen = in.len;
			return;
		}
		n = (size_t)(nl - in.p);
		if (!post.stopping)
			post_line(span_of(in.p, n));
		buf_drain(&post.in, n + 1);
		post.seen = 0;
	}
}

static void
post_close(void)
{
	loop_del(&keyd_env.w.loop, &post.io);
	if (post.fd != -1)
		close(post.fd);
	post.fd = -1;
	buf_free(&post.in);
	post.seen = 0;
}

static void
post_readable(struct loop_io *io, uint32_t events)
{
	uint8_t *room = buf_room(&post.in, POST_READ);
	ssize_t n;

	if (room == NULL) {
		log_warnx("a line of more than %u bytes", PROTO_MAX_LINE);
		post_close();
		return;
	}
	if ((n = read(post.fd, room, POST_READ)) == -1) {
		if (errno != EAGAIN && errno != EINTR)
			post_close();
		return;
	}
	if (n == 0) {
		/* auditd has given the server up, or written its last record.
		 */
		post_close();
		post_end();
		return;
	}
	buf_grow(&post.in, (size_t)n);
	post_lines();
	post_turn();
}

void
post_turn(void)
{
	bool reads = keyd_env.nstreams < POST_MAX;

	if (post.stopping && post.fd == -1 && post.end == NULL)
		worker_exit(&keyd_env.w, 0);
	if (post.fd == -1)
		return;
	if (reads && post.in.len != post.seen)
		post_lines();
	if (loop_watch(&keyd_env.w.loop, &post.io, post.fd,
		reads ? (uint32_t)EPOLLIN : 0, post_readable, NULL) == -1)
		log_warn("epoll_ctl");
}

void
post_stop(void)
{
	post.stopping = true;
}

int
post_in(struct chan *c, const struct msg_SERVER_IN *m, int fd)
{
	if (keyd_env.provider == NULL || keyd_env.provider->mcp == NULL) {
		close(fd);
		return chan_violation(c, "SERVER_IN without a server");
	}
	/* A new session: nothing of the old one is left but its end. */
	post_close();
	streams_abort("the server's session is over");
	if (post.session.value[0] != '\0')
		post_end();
	post.session.value[0] = post.version[0] = post.path[0] = '\0';
	post.init = 0;
	buf_free(&post.params);
	post.fd = fd;
	buf_init(&post.in, PROTO_MAX_LINE + 1U + POST_READ);
	post_turn();
	return 0;
}
