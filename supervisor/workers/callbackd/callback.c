/* SPDX-License-Identifier: ISC */
/* Reads the answer to a login strictly (RFC 6749 section 4.1.2, RFC 9207). */
#include "workers/callbackd/callback.h"

#include <string.h>

static int
digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decode %XX and +. Returns false if it is malformed, or does not fit. */
static bool
decode(struct span s, char *dst, size_t cap)
{
	size_t n = 0;
	int hi, lo;

	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.p[i] == '+' ? ' ' : s.p[i];

		if (c == '%') {
			if (s.len - i < 3 || (hi = digit(s.p[i + 1])) == -1 ||
			    (lo = digit(s.p[i + 2])) == -1)
				return false;
			c = (uint8_t)(hi << 4 | lo);
			i += 2;
		}
		if (c == '\0' || n + 1 >= cap)
			return false;
		dst[n++] = (char)c;
	}
	dst[n] = '\0';
	return true;
}

/* Returns true if it is visible ASCII. */
static bool
is_plain(const char *s)
{
	for (; *s != '\0'; s++)
		if (*s < 0x21 || *s > 0x7e)
			return false;
	return true;
}

static bool
same(const char *a, const char *b)
{
	size_t n = strlen(a);
	unsigned odd = 0;

	if (n != strlen(b))
		return false;
	for (size_t i = 0; i < n; i++)
		odd |= (unsigned char)(a[i] ^ b[i]);
	return odd == 0;
}

struct reading {
	struct callback *c;
	char state[65];
	unsigned seen; /* a bit for each name */
};

/* Read NAME=VALUE. Returns NULL, or why it is refused. */
static const char *
read_pair(struct reading *r, struct span pair)
{
	const struct {
		const char *name;
		char *to;
		size_t cap;
	} known[] = {
	    {"code", r->c->code, sizeof(r->c->code)},
	    {"state", r->state, sizeof(r->state)},
	    {"iss", r->c->issuer, sizeof(r->c->issuer)},
	    {"error", r->c->error, sizeof(r->c->error)},
	    {"error_description", r->c->text, sizeof(r->c->text)},
	};
	const uint8_t *eq = pair.len == 0 ? NULL : memchr(pair.p, '=', pair.len);
	struct span name = pair, value = span_of(pair.p + pair.len, 0);

	if (eq != NULL) {
		name.len = (size_t)(eq - pair.p);
		value = span_of(eq + 1, pair.len - name.len - 1);
	}
	for (size_t i = 0; i < nitems(known); i++) {
		if (!span_is(name, known[i].name))
			continue;
		if ((r->seen & 1U << i) != 0)
			return "it has a value twice";
		r->seen |= 1U << i;
		/* A text that is only shown may be left out. */
		if (known[i].to == r->c->text && value.len > 1200)
			value.len = 0;
		if (!decode(value, known[i].to, known[i].cap)) {
			if (known[i].to != r->c->text)
				return "it has a value that is malformed or "
				       "too long";
			known[i].to[0] = '\0';
		}
		return NULL;
	}
	return NULL;
}

/* Read all pairs. Returns NULL, or why they are refused. */
static const char *
read_query(struct reading *r, struct span query)
{
	const uint8_t *end;
	const char *why;
	struct span one;

	for (;;) {
		end = query.len == 0 ? NULL : memchr(query.p, '&', query.len);
		one = query;
		if (end != NULL)
			one.len = (size_t)(end - query.p);
		if ((why = read_pair(r, one)) != NULL)
			return why;
		if (end == NULL)
			return NULL;
		query = span_of(end + 1, query.len - one.len - 1);
	}
}

/* Returns NULL, or why this is not the answer that is awaited. */
static const char *
check(const struct reading *r, const struct callback_want *w)
{
	const struct callback *c = r->c;

	if (r->state[0] == '\0' || !same(r->state, w->state))
		return "its state is not that of this login";
	if (c->named ? strcmp(c->issuer, w->issuer) != 0 : w->iss)
		return c->named ? "it comes from another issuer"
				: "it does not say from which issuer it comes";
	if ((c->code[0] == '\0') == (c->error[0] == '\0'))
		return "it has no code";
	if (!is_plain(c->code) || !is_plain(c->error))
		return "its code or error is not plain text";
	return NULL;
}

enum proto_seen
callback_target(
    struct span target, const struct callback_want *w, struct callback *c)
{
	struct reading r = {.c = c};
	const uint8_t *mark;

	memset(c, 0, sizeof(*c));
	/* A pasted address may have a fragment, which no browser sends. */
	if (target.len != 0 &&
	    (mark = memchr(target.p, '#', target.len)) != NULL)
		target.len = (size_t)(mark - target.p);
	c->why = "it is not the address of the end of a login";
	if (target.len == 0 ||
	    (mark = memchr(target.p, '?', target.len)) == NULL)
		return PROTO_SEEN_OTHER;
	c->why = read_query(&r,
	    span_of(mark + 1, target.len - (size_t)(mark + 1 - target.p)));
	c->named = (r.seen & 4U) != 0;
	if (c->why == NULL)
		c->why = check(&r, w);
	explicit_bzero(&r.state, sizeof(r.state));
	if (c->why != NULL) {
		explicit_bzero(c->code, sizeof(c->code));
		/* Nobody is shown words of another issuer. */
		c->error[0] = c->text[0] = '\0';
		return PROTO_SEEN_OTHER;
	}
	return c->error[0] != '\0' ? PROTO_SEEN_ERROR : PROTO_SEEN_CODE;
}

/* Returns true if the header is absent, or has one of two values, once. */
static bool
head_is(const struct http1_head *h, const char *name, const char *a,
    const char *b)
{
	struct span v;

	switch (http1_header(h, name, &v)) {
	case 0:
		return true;
	case 1:
		return span_is(v, a) || span_is(v, b);
	default:
		return false;
	}
}

const char *
callback_head(const struct http1_head *h, const struct callback_want *w)
{
	struct span host, v;

	if (!span_is(h->method, "GET"))
		return "it is no GET";
	if (http1_header(h, "host", &host) != 1 || !span_is(host, w->host))
		return "it is for another host";
	/* A browser that is sent here follows a link; a page's script asks. */
	if (http1_header(h, "origin", &v) != 0 ||
	    !head_is(h, "sec-fetch-mode", "navigate", "navigate") ||
	    !head_is(h, "sec-fetch-dest", "document", "document"))
		return "a page has sent it";
	if (!span_starts(h->target, SPAN(CALLBACK_PATH "?")))
		return "it is for another path";
	return NULL;
}
