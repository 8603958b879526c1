/* SPDX-License-Identifier: ISC */
/*
 * Follows a session's audit log, which has every decision. Its texts come from
 * the agent and pass the strict reader; a line that cannot be read is left out,
 * since `icctl audit` is there to judge the log.
 */
#include "icctl/live/priv.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/json/json.h"

#define TAIL_FIRST 32768     /* bytes of what happened before we came */
#define TAIL_MAX (256 << 10) /* at once */
#define TAIL_LINE 4096U

void
tail_open(struct live_session *s)
{
	struct live_conn *c = s->conn;
	struct stat st;

	if (c->log != -1)
		return;
	c->log = openat(c->dir, "audit.jsonl",
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (c->log == -1)
		return;
	if (fstat(c->log, &st) == -1 || !S_ISREG(st.st_mode)) {
		tail_close(s);
		return;
	}
	if (c->at == 0 && st.st_size > TAIL_FIRST) {
		c->at = st.st_size - TAIL_FIRST;
		c->skip = true;
	}
}

void
tail_close(struct live_session *s)
{
	if (s->conn->log != -1)
		close(s->conn->log);
	s->conn->log = -1;
}

/* Append the first text among the arguments: a path, a URL, a query. */
static void
put_argument(const struct live *l, struct buf *b, const struct value *arguments)
{
	const struct value *v;

	if (arguments == NULL || arguments->type != VALUE_OBJECT)
		return;
	v = value_get(arguments, "path");
	for (const struct value *a = arguments->child; v == NULL && a != NULL;
	     a = a->next)
		if (a->type == VALUE_STRING)
			v = a;
	if (v == NULL || v->type != VALUE_STRING)
		return;
	buf_adds(b, "  ");
	activity_vis(l, b, v->text);
}

static bool
line_call(const struct live *l, struct buf *b, const struct value *v,
    enum live_kind *kind)
{
	const struct value *d = value_get(v, "policyDecision");
	struct span status = value_str(d, "status");

	/* The end of a pending call comes over the control socket. */
	if (status.p == NULL || value_get(v, "escalationResult") != NULL)
		return false;
	*kind = span_is(status, "allow") ? LIVE_ALLOWED : LIVE_DENIED;
	activity_vis(l, b, value_str(v, "serverName"));
	buf_adds(b, "__");
	activity_vis(l, b, value_str(v, "toolName"));
	put_argument(l, b, value_get(v, "arguments"));
	if (*kind == LIVE_DENIED) {
		buf_adds(b, "  (");
		activity_vis(l, b, value_str(d, "rule"));
		buf_adds(b, ")");
	}
	return true;
}

static void
put_number(
    struct buf *b, const struct value *v, const char *key, const char *after)
{
	const struct value *n = value_get(v, key);

	if (n == NULL || n->type != VALUE_NUMBER)
		return;
	buf_adds(b, "  ");
	buf_addspan(b, n->text);
	buf_adds(b, after);
}

/* Show a line that counts refused calls, or requests that were not asked. */
static void
line_counted(const struct live *l, struct buf *b, const struct value *v)
{
	activity_vis(l, b, value_str(v, "serverName"));
	buf_adds(
	    b, span_is(value_str(v, "event"), "refusedCalls") ? "__" : " ");
	activity_vis(l, b, value_str(v, "toolName"));
	put_number(b, v, "count", " more times");
	buf_adds(b, "  (");
	activity_vis(l, b, value_str(value_get(v, "policyDecision"), "rule"));
	buf_adds(b, value_get(v, "others") != NULL ? ", and others)" : ")");
}

static bool
line_text(const struct live *l, struct buf *b, const struct value *v,
    enum live_kind *kind)
{
	struct span event = value_str(v, "event");

	if (event.p == NULL)
		return false;
	if (span_is(event, "call"))
		return line_call(l, b, v, kind);
	if (span_is(event, "refusedCalls") ||
	    span_is(event, "refusedRequests")) {
		*kind =
		    span_is(event, "refusedCalls") ? LIVE_DENIED : LIVE_REFUSED;
		line_counted(l, b, v);
	} else if (span_is(event, "usage")) {
		*kind = LIVE_MODEL;
		activity_vis(l, b, value_str(v, "model"));
		put_number(b, v, "in", " in");
		put_number(b, v, "out", " out");
	} else if (span_is(event, "refused")) {
		*kind = LIVE_REFUSED;
		activity_vis(l, b, value_str(v, "method"));
		buf_addc(b, ' ');
		activity_vis(l, b, value_str(v, "host"));
		activity_vis(l, b, value_str(v, "target"));
		buf_adds(b, "  (");
		activity_vis(l, b, value_str(v, "code"));
		buf_adds(b, ")");
	} else if (span_is(event, "connectDenied")) {
		*kind = LIVE_REFUSED;
		activity_vis(l, b, value_str(v, "serverName"));
		buf_adds(b, " to ");
		activity_vis(l, b, value_str(v, "target"));
	} else {
		return false;
	}
	return true;
}

/* Returns the record's time in microseconds, or the present one. */
static uint64_t
line_time(const struct value *v)
{
	struct span t = value_str(v, "time");
	char text[40];
	struct tm tm = {0};
	time_t at;

	if (t.p == NULL || span_copy(t, text, sizeof(text)) == -1 ||
	    strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) == NULL ||
	    (at = timegm(&tm)) < 0)
		return clock_wall_us();
	return (uint64_t)at * 1000000;
}

void
tail_line(struct live_session *s, struct span line)
{
	struct live *l = s->set;
	const struct value *v;
	enum live_kind kind = LIVE_NOTE;
	struct buf b;

	value_pool_reset(l->pool);
	if ((v = json_read(l->pool, line, NULL)) == NULL)
		return;
	buf_init(&b, TAIL_LINE);
	if (line_text(l, &b, v, &kind))
		activity_add(s, kind, line_time(v), "", "", buf_span(&b));
	buf_free(&b);
}

/* Take complete lines. Returns the number of bytes that they have. */
static size_t
tail_lines(struct live_session *s, struct span all)
{
	struct span line;
	const uint8_t *nl;
	size_t at = 0;

	while (at < all.len &&
	       (nl = memchr(all.p + at, '\n', all.len - at)) != NULL) {
		line = span_of(all.p + at, (size_t)(nl - (all.p + at)));
		at += line.len + 1;
		if (s->conn->skip)
			s->conn->skip = false;
		else
			tail_line(s, line);
	}
	return at;
}

void
tail_read(struct live_session *s)
{
	struct live_conn *c = s->conn;
	struct stat st;
	uint8_t *p;
	ssize_t n;

	if (s->is == LIVE_ABSENT || s->is == LIVE_OVER)
		return;
	tail_open(s);
	if (c->log == -1 || fstat(c->log, &st) == -1 || st.st_size <= c->at)
		return;
	/* Nobody reads that fast: the log itself has all of it. */
	if (st.st_size - c->at > TAIL_MAX) {
		c->at = st.st_size - TAIL_MAX;
		c->skip = true;
	}
	if ((p = malloc(TAIL_MAX)) == NULL)
		return;
	n = pread(c->log, p, TAIL_MAX, c->at);
	if (n > 0)
		c->at += (int64_t)tail_lines(s, span_of(p, (size_t)n));
	freezero(p, TAIL_MAX);
}

/* Returns true if audit.jsonl has records. */
static bool
tail_filled(const struct live_session *s)
{
	struct stat st;

	return fstatat(s->conn->dir, "audit.jsonl", &st,
		   AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_size != 0;
}

void
tail_look(struct live_session *s)
{
	struct live_conn *c = s->conn;
	struct stat have, now;

	tail_changed(s,
	    c->log != -1 && fstat(c->log, &have) == 0 &&
		fstatat(c->dir, "audit.jsonl", &now, AT_SYMLINK_NOFOLLOW) ==
		    0 &&
		(have.st_ino != now.st_ino || have.st_dev != now.st_dev));
}

void
tail_changed(struct live_session *s, bool is_new)
{
	struct live_conn *c = s->conn;

	c->next = c->next || (is_new && c->log != -1);
	/* auditd writes to the file before until it takes the new one. */
	if (c->next && tail_filled(s)) {
		tail_read(s);
		tail_close(s);
		tail_open(s);
		c->next = c->skip = false;
		c->at = 0;
	}
	tail_read(s);
}
