/* SPDX-License-Identifier: ISC */
/*
 * Reads challenges strictly, without allocation. The text is a server's and may
 * be hostile.
 */
#include "common/http/challenge.h"

static bool
is_token_byte(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') ||
	       (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static struct span
after(struct span s, size_t n)
{
	return span_of(s.p + n, s.len - n);
}

static void
skip_blanks(struct span *s)
{
	while (s->len != 0 && (s->p[0] == ' ' || s->p[0] == '\t'))
		*s = after(*s, 1);
}

static bool
take_token(struct span *s, struct span *token)
{
	size_t n = 0;

	while (n < s->len && is_token_byte(s->p[n]))
		n++;
	*token = span_of(s->p, n);
	*s = after(*s, n);
	return n != 0;
}

/* Take a quoted string off the front, without its escapes. */
static bool
take_quoted(struct span *s, char *dst, size_t cap)
{
	size_t i = 1, n = 0;

	for (; i < s->len && s->p[i] != '"'; i++) {
		if (s->p[i] == '\\' && ++i == s->len)
			return false;
		if (s->p[i] < 0x20 || s->p[i] > 0x7e || n + 1 >= cap)
			return false;
		dst[n++] = (char)s->p[i];
	}
	if (i == s->len)
		return false;
	dst[n] = '\0';
	*s = after(*s, i + 1);
	return true;
}

/* Take "= value" off the front. */
static bool
take_value(struct span *s, char *dst, size_t cap)
{
	struct span token;

	skip_blanks(s);
	if (s->len == 0 || s->p[0] != '=')
		return false;
	*s = after(*s, 1);
	skip_blanks(s);
	if (s->len != 0 && s->p[0] == '"')
		return take_quoted(s, dst, cap);
	return take_token(s, &token) && span_copy(token, dst, cap) == 0;
}

/*
 * Take a token68 off the front, such as the one of Basic, if it is all that
 * follows its scheme.
 */
static void
skip_token68(struct span *s)
{
	size_t n = 0;
	struct span rest;

	while (n < s->len && (is_token_byte(s->p[n]) || s->p[n] == '/'))
		n++;
	while (n < s->len && s->p[n] == '=')
		n++;
	rest = after(*s, n);
	skip_blanks(&rest);
	if (n != 0 && (rest.len == 0 || rest.p[0] == ','))
		*s = rest;
}

struct reading {
	struct challenge *c;
	unsigned schemes;
	bool bearer; /* the parameters are those of the one that is read */
	bool found;
};

/* Keep a parameter of Bearer. Returns false if it is there twice. */
static bool
keep(struct reading *r, struct span name, const char *value)
{
	const struct {
		const char *name;
		char *to;
		size_t cap;
	} known[] = {
	    {"resource_metadata", r->c->metadata, sizeof(r->c->metadata)},
	    {"scope", r->c->scope, sizeof(r->c->scope)},
	    {"error", r->c->error, sizeof(r->c->error)},
	};

	for (size_t i = 0; r->bearer && i < nitems(known); i++) {
		if (!span_ieq(name, span_str(known[i].name)))
			continue;
		if (known[i].to[0] != '\0')
			return false;
		return span_copy(
			   span_str(value), known[i].to, known[i].cap) == 0;
	}
	return true;
}

static bool
take_scheme(struct reading *r, struct span *s, struct span name)
{
	if (++r->schemes > CHALLENGE_MAX)
		return false;
	r->bearer = !r->found && span_ieq(name, SPAN("bearer"));
	r->found = r->found || r->bearer;
	skip_blanks(s);
	if (!r->bearer)
		skip_token68(s);
	return true;
}

/* Read one header. Returns false if it is malformed. */
static bool
read_header(struct reading *r, struct span s)
{
	static char value[CHALLENGE_SCOPES + 1];
	struct span name, rest;

	r->bearer = false;
	for (;;) {
		while (s.len != 0 && (s.p[0] == ' ' || s.p[0] == '\t' ||
					 s.p[0] == ','))
			s = after(s, 1);
		if (s.len == 0)
			return true;
		if (!take_token(&s, &name))
			return false;
		rest = s;
		skip_blanks(&rest);
		if (rest.len == 0 || rest.p[0] != '=') {
			if (!take_scheme(r, &s, name))
				return false;
			continue;
		}
		if (r->schemes == 0 ||
		    !take_value(&s, value, sizeof(value)) ||
		    !keep(r, name, value))
			return false;
		skip_blanks(&s);
		if (s.len != 0 && s.p[0] != ',')
			return false;
	}
}

int
challenge_read(const struct http1_head *h, struct challenge *c)
{
	struct reading r = {.c = c};

	c->metadata[0] = c->scope[0] = c->error[0] = '\0';
	for (unsigned i = 0; i < h->nheaders; i++)
		if (span_ieq(h->headers[i].name, SPAN("www-authenticate")) &&
		    !read_header(&r, h->headers[i].value))
			goto bad;
	if (c->scope[0] != '\0' && !challenge_is_scopes(span_str(c->scope)))
		goto bad;
	return r.found ? 1 : 0;
bad:
	c->metadata[0] = c->scope[0] = c->error[0] = '\0';
	return -1;
}

bool
challenge_is_scopes(struct span s)
{
	bool blank = true;

	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] < 0x20 || s.p[i] > 0x7e || s.p[i] == '"' ||
		    s.p[i] == '\\' || (blank && s.p[i] == ' '))
			return false;
		blank = s.p[i] == ' ';
	}
	return !blank;
}
