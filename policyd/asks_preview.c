/* SPDX-License-Identifier: ISC */
/*
 * What a person is shown of a request: checked field by field, since a mitmd
 * that an agent broke could send anything, then written as canonical JSON.
 * Trusts nothing of the message but that the codec kept its limits.
 */
#include <stdio.h>
#include <stdlib.h>

#include "asks.h"
#include "common/json/json.h"

#define ASK_MAX_BODY (1U << 30)
#define ASK_MAX_HEADERS 256U
#define ASK_PUSH "/git-receive-pack"

struct ask_header {
	struct span name, value;
};

/* One line of a push: what a ref was and what it shall be. */
struct ask_ref {
	struct span old, new, name;
};

/* Printable ASCII; blank: a space and a tab, too. */
static bool
ask_is_text(struct span s, bool blank)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] > 0x20 && s.p[i] < 0x7f)
			continue;
		if (!blank || (s.p[i] != ' ' && s.p[i] != '\t'))
			return false;
	}
	return true;
}

static bool
ask_is_of(struct span s, const char *letters)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] == '\0' || strchr(letters, s.p[i]) == NULL)
			return false;
	return s.len != 0;
}

/* Entries as in REQUEST: 1, 0 at the end, -1. */
static int
ask_header(struct span *rest, struct ask_header *h)
{
	struct span *part[] = {&h->name, &h->value};
	size_t n;

	if (rest->len == 0)
		return 0;
	for (size_t i = 0; i < 2; i++) {
		if (rest->len < 2)
			return -1;
		n = (size_t)rest->p[0] | (size_t)rest->p[1] << 8;
		if (rest->len - 2 < n)
			return -1;
		*part[i] = span_of(rest->p + 2, n);
		*rest = span_of(rest->p + 2 + n, rest->len - 2 - n);
	}
	return 1;
}

static int
ask_header_cmp(const void *a, const void *b)
{
	const struct ask_header *x = a, *y = b;

	return span_cmp(x->name, y->name);
}

/* Sorted by name, none twice. How many, or -1. */
static int
ask_headers(struct span blob, struct ask_header list[ASK_MAX_HEADERS])
{
	unsigned n = 0;
	int r;

	while (n < ASK_MAX_HEADERS && (r = ask_header(&blob, &list[n])) == 1) {
		if (!ask_is_of(list[n].name,
			":-_0123456789abcdefghijklmnopqrstuvwxyz") ||
		    !ask_is_text(list[n].value, true))
			return -1;
		n++;
	}
	if (blob.len != 0)
		return -1;
	qsort(list, n, sizeof(list[0]), ask_header_cmp);
	for (unsigned i = 1; i < n; i++)
		if (span_eq(list[i - 1].name, list[i].name))
			return -1;
	return (int)n;
}

static bool
ask_is_object(struct span s)
{
	return (s.len == 40 || s.len == 64) && ask_is_of(s, "0123456789abcdef");
}

static bool
ask_is_zero(struct span s)
{
	return ask_is_of(s, "0");
}

/* "OLD NEW NAME\n": 1, 0 at the end, -1. */
static int
ask_ref(struct span *rest, struct ask_ref *r)
{
	const uint8_t *end;
	struct span line;
	size_t n;

	if (rest->len == 0)
		return 0;
	if ((end = memchr(rest->p, '\n', rest->len)) == NULL)
		return -1;
	line = span_of(rest->p, (size_t)(end - rest->p));
	*rest = span_of(end + 1, rest->len - line.len - 1);
	for (n = 0; n < line.len && line.p[n] != ' '; n++)
		;
	r->old = span_of(line.p, n);
	if (line.len < 2 * n + 3 || line.p[2 * n + 1] != ' ')
		return -1;
	r->new = span_of(line.p + n + 1, n);
	r->name = span_of(line.p + 2 * n + 2, line.len - 2 * n - 2);
	if (!ask_is_object(r->old) || !ask_is_object(r->new) ||
	    !span_starts(r->name, SPAN("refs/")) ||
	    !ask_is_text(r->name, false))
		return -1;
	return 1;
}

static const char *
ask_check_refs(const struct msg_ASK *m)
{
	struct span rest = m->refs;
	struct ask_ref ref;
	unsigned n = 0;
	int r;

	while ((r = ask_ref(&rest, &ref)) == 1)
		n++;
	if (r == -1)
		return "refs";
	if (n != 0 && ask_repository(m).p == NULL)
		return "refs without a repository";
	return NULL;
}

const char *
ask_check(const struct msg_ASK *m)
{
	struct ask_header headers[ASK_MAX_HEADERS];

	if (m->id == 0 || m->stream == 0 || m->exchange == 0)
		return "numbers";
	if (m->asked != 0)
		return "approved already";
	if (m->name.len == 0 || !ask_is_text(m->name, false))
		return "name";
	if (!ask_is_of(m->host_name, "-.:0123456789abcdefghijklmnopqrstuvwxyz"))
		return "host";
	if (!ask_is_of(m->method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-"))
		return "method";
	if (m->path.len == 0 || m->path.p[0] != '/' ||
	    !ask_is_text(m->path, false) || !ask_is_text(m->query, false))
		return "target";
	if (m->length > ASK_MAX_BODY || m->body.len != HOLD_DIGEST)
		return "body";
	if (ask_headers(m->headers, headers) == -1)
		return "headers";
	return ask_check_refs(m);
}

struct span
ask_repository(const struct msg_ASK *m)
{
	struct span end = SPAN(ASK_PUSH);
	size_t n;

	if (m->refs.len == 0 || m->path.len < end.len + 2)
		return span_of(NULL, 0);
	n = m->path.len - end.len;
	if (!span_eq(span_of(m->path.p + n, end.len), end))
		return span_of(NULL, 0);
	return span_of(m->path.p + 1, n - 1);
}

void
ask_tool(const struct msg_ASK *m, char *dst, size_t cap)
{
	int n;

	n = snprintf(dst, cap, "%.*s https://%.*s%.*s%s%.*s",
	    (int)m->method.len, (const char *)m->method.p,
	    (int)m->host_name.len, (const char *)m->host_name.p,
	    (int)m->path.len, (const char *)m->path.p,
	    m->query.len != 0 ? "?" : "", (int)m->query.len,
	    m->query.len != 0 ? (const char *)m->query.p : "");
	if (n >= (int)cap)
		memcpy(dst + cap - 4, "...", 4);
}

static void
ask_member(struct buf *b, const char *before, struct span text)
{
	(void)buf_adds(b, before);
	(void)json_write_string(b, text);
}

static void
ask_write_refs(struct buf *b, struct span rest)
{
	struct ask_ref r;
	const char *before = "";

	(void)buf_adds(b, ",\"refs\":[");
	while (ask_ref(&rest, &r) == 1) {
		(void)buf_adds(b, before);
		ask_member(b, "{\"action\":",
		    ask_is_zero(r.old)   ? SPAN("create")
		    : ask_is_zero(r.new) ? SPAN("delete")
					 : SPAN("update"));
		ask_member(b, ",\"name\":", r.name);
		ask_member(b, ",\"new\":", r.new);
		ask_member(b, ",\"old\":", r.old);
		(void)buf_addc(b, '}');
		before = ",";
	}
	(void)buf_addc(b, ']');
}

int
ask_preview(const struct msg_ASK *m, struct buf *b)
{
	struct ask_header headers[ASK_MAX_HEADERS];
	const char *before = "";
	int n = ask_headers(m->headers, headers);

	(void)buf_printf(b, "{\"body\":{\"bytes\":%llu,\"sha256\":\"",
	    (unsigned long long)m->length);
	(void)buf_addhex(b, m->body.p, m->body.len);
	(void)buf_adds(b, "\"},\"headers\":{");
	for (int i = 0; i < n; i++) {
		/* Which way the key is written: not the agent's to say. */
		if (headers[i].name.p[0] == ':')
			continue;
		ask_member(b, before, headers[i].name);
		ask_member(b, ":", headers[i].value);
		before = ",";
	}
	ask_member(b, "},\"host\":", m->host_name);
	ask_member(b, ",\"method\":", m->method);
	ask_member(b, ",\"path\":", m->path);
	if (m->query.len != 0)
		ask_member(b, ",\"query\":", m->query);
	if (m->refs.len != 0) {
		ask_write_refs(b, m->refs);
		ask_member(b, ",\"repository\":", ask_repository(m));
	}
	(void)buf_addc(b, '}');
	return b->failed ? -1 : 0;
}
