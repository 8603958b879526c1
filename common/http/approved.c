/* SPDX-License-Identifier: ISC */
/*
 * Checks a request field by field and writes it as canonical JSON.  Relies only
 * on the codec having enforced the maximum lengths.
 */
#include "common/http/approved.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/json/json.h"

#define APPROVED_MAX_BODY (1U << 30)
#define APPROVED_MAX_HEADERS 256U
#define APPROVED_PUSH "/git-receive-pack"
#define APPROVED_DIGEST 32U

struct header {
	struct span name, value;
};

/*
 * Returns true if all is printable ASCII; with `blank`, spaces and tabs are
 * allowed too.
 */
static bool
is_text(struct span s, bool blank)
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
is_of(struct span s, const char *letters)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] == '\0' || strchr(letters, s.p[i]) == NULL)
			return false;
	return s.len != 0;
}

/*
 * Take the next header, in the encoding of REQUEST.  Returns 1, 0 at the end,
 * or -1 if it is malformed.
 */
static int
header_next(struct span *rest, struct header *h)
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
header_cmp(const void *a, const void *b)
{
	const struct header *x = a, *y = b;

	return span_cmp(x->name, y->name);
}

/*
 * Read all headers into `list`, sorted by name.  Returns their number, or -1 if
 * one is malformed or given twice.
 */
static int
headers_read(struct span blob, struct header list[APPROVED_MAX_HEADERS])
{
	unsigned n = 0;
	int r;

	while (n < APPROVED_MAX_HEADERS &&
	       (r = header_next(&blob, &list[n])) == 1) {
		if (!is_of(list[n].name,
			":-_0123456789abcdefghijklmnopqrstuvwxyz") ||
		    !is_text(list[n].value, true))
			return -1;
		n++;
	}
	if (blob.len != 0)
		return -1;
	qsort(list, n, sizeof(list[0]), header_cmp);
	for (unsigned i = 1; i < n; i++)
		if (span_eq(list[i - 1].name, list[i].name))
			return -1;
	return (int)n;
}

static bool
is_object(struct span s)
{
	return (s.len == 40 || s.len == 64) && is_of(s, "0123456789abcdef");
}

static bool
is_zero(struct span s)
{
	return is_of(s, "0");
}

int
approved_ref(struct span *rest, struct approved_ref *r)
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
	if (!is_object(r->old) || !is_object(r->new) ||
	    !span_starts(r->name, SPAN("refs/")) || !is_text(r->name, false))
		return -1;
	r->action = is_zero(r->old)   ? "create"
		    : is_zero(r->new) ? "delete"
				      : "update";
	return 1;
}

static const char *
check_refs(const struct approved *m)
{
	struct span rest = m->refs;
	struct approved_ref ref;
	unsigned n = 0;
	int r;

	while ((r = approved_ref(&rest, &ref)) == 1)
		n++;
	if (r == -1)
		return "refs";
	if (n != 0 && approved_repository(m).p == NULL)
		return "refs without a repository";
	return NULL;
}

const char *
approved_check(const struct approved *m)
{
	struct header headers[APPROVED_MAX_HEADERS];

	if (m->name.len == 0 || !is_text(m->name, false))
		return "name";
	if (!is_of(m->host, "-.:0123456789abcdefghijklmnopqrstuvwxyz"))
		return "host";
	if (!is_of(m->method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-"))
		return "method";
	if (m->path.len == 0 || m->path.p[0] != '/' ||
	    !is_text(m->path, false) || !is_text(m->query, false))
		return "target";
	if (m->length > APPROVED_MAX_BODY || m->body.len != APPROVED_DIGEST)
		return "body";
	if (headers_read(m->headers, headers) == -1)
		return "headers";
	return check_refs(m);
}

struct span
approved_repository(const struct approved *m)
{
	struct span end = SPAN(APPROVED_PUSH);
	size_t n;

	if (m->refs.len == 0 || m->path.len < end.len + 2)
		return span_of(NULL, 0);
	n = m->path.len - end.len;
	if (!span_eq(span_of(m->path.p + n, end.len), end))
		return span_of(NULL, 0);
	return span_of(m->path.p + 1, n - 1);
}

void
approved_target(const struct approved *m, char *dst, size_t cap)
{
	int n;

	n = snprintf(dst, cap, "%.*s https://%.*s%.*s%s%.*s",
	    (int)m->method.len, (const char *)m->method.p, (int)m->host.len,
	    (const char *)m->host.p, (int)m->path.len, (const char *)m->path.p,
	    m->query.len != 0 ? "?" : "", (int)m->query.len,
	    m->query.len != 0 ? (const char *)m->query.p : "");
	if (n >= (int)cap)
		memcpy(dst + cap - 4, "...", 4);
}

static void
member(struct buf *b, const char *before, struct span text)
{
	buf_adds(b, before);
	(void)json_write_string(b, text);
}

static void
write_refs(struct buf *b, struct span rest)
{
	struct approved_ref r;
	const char *before = "";

	buf_adds(b, ",\"refs\":[");
	while (approved_ref(&rest, &r) == 1) {
		buf_adds(b, before);
		member(b, "{\"action\":", span_str(r.action));
		member(b, ",\"name\":", r.name);
		member(b, ",\"new\":", r.new);
		member(b, ",\"old\":", r.old);
		buf_addc(b, '}');
		before = ",";
	}
	buf_addc(b, ']');
}

int
approved_write(const struct approved *m, struct buf *b)
{
	struct header headers[APPROVED_MAX_HEADERS];
	const char *before = "";
	int n = headers_read(m->headers, headers);

	buf_printf(b, "{\"body\":{\"bytes\":%llu,\"sha256\":\"",
	    (unsigned long long)m->length);
	buf_addhex(b, m->body.p, m->body.len);
	buf_adds(b, "\"},\"headers\":{");
	for (int i = 0; i < n; i++) {
		/* The agent does not decide how the key is sent. */
		if (headers[i].name.p[0] == ':')
			continue;
		member(b, before, headers[i].name);
		member(b, ":", headers[i].value);
		before = ",";
	}
	member(b, "},\"host\":", m->host);
	member(b, ",\"method\":", m->method);
	member(b, ",\"path\":", m->path);
	if (m->query.len != 0)
		member(b, ",\"query\":", m->query);
	if (m->refs.len != 0) {
		write_refs(b, m->refs);
		member(b, ",\"repository\":", approved_repository(m));
	}
	buf_addc(b, '}');
	return b->failed ? -1 : 0;
}

int
approved_bound(const struct approved *m, struct buf *b)
{
	char target[257];

	approved_target(m, target, sizeof(target));
	member(b, "[", m->name);
	member(b, ",", span_str(target));
	buf_addc(b, ',');
	if (approved_write(m, b) == -1)
		return -1;
	buf_addc(b, ']');
	return buf_check(b);
}
