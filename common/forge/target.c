/* SPDX-License-Identifier: ISC */
/*
 * Request targets of REST: taken apart, decoded once, and encoded again in one
 * way. A target that a server could read in two ways is refused: empty parts,
 * "." and "..", an encoding within an encoding, a parameter after ";", a
 * backslash, and characters that have no glyph.
 */
#include "common/forge/forge_priv.h"
#include "common/hidden.h"
#include "common/json/text.h"

const char *
forge_prefix(const struct forge_grant *grant)
{
	switch (grant->kind) {
	case FORGE_GITHUB:
		return grant->enterprise ? "/api/v3" : "";
	case FORGE_GITLAB:
		return "/api/v4";
	case FORGE_GITEA:
		return "/api/v1";
	case FORGE_KINDS:
		break;
	}
	return "/none";
}

bool
forge_is_graphql(const struct forge_grant *grant, struct span target)
{
	return grant->kind == FORGE_GITHUB &&
	       span_is(target, grant->enterprise ? "/api/graphql" : "/graphql");
}

bool
forge_digits_valid(struct span s)
{
	if (s.len == 0 || s.len > 19 || s.p[0] == '0')
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (!text_is_digit(s.p[i]))
			return false;
	}
	return true;
}

/* Returns true for a part of a path that a server could leave out. */
static bool
part_is_dots(const uint8_t *part, const uint8_t *end)
{
	struct span s = span_of(part, (size_t)(end - part));

	return s.len == 0 || span_is(s, ".") || span_is(s, "..");
}

bool
forge_text_valid(struct span s, size_t max)
{
	const uint8_t *p = s.p, *end = s.p + s.len, *part = s.p;
	size_t n;

	if (s.len == 0 || s.len > max)
		return false;
	for (; p < end; p += n) {
		if ((n = text_utf8_len(p, end)) == 0 || *p == '\\' ||
		    *p == '%' || hidden_alone(text_utf8_code(p, n)))
			return false;
		if (*p == '/') {
			if (part_is_dots(part, p))
				return false;
			part = p + 1;
		}
	}
	return !part_is_dots(part, end);
}

bool
forge_ref_valid(struct span s)
{
	static const char bad[] = " :~^?*[;&#\"'<>|";

	if (!forge_text_valid(s, 255) || s.p[0] == '-')
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (strchr(bad, s.p[i]) != NULL)
			return false;
	}
	return true;
}

static int
hex_value(uint8_t c)
{
	if (text_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Decode percent signs, and plus signs in a query. */
static int
decode(struct value_pool *pool, struct span in, bool query, struct span *out)
{
	uint8_t *to;
	size_t n = 0;
	int hi, lo;

	if ((to = value_pool_alloc(pool, in.len + 1)) == NULL)
		return -1;
	for (size_t i = 0; i < in.len; i++) {
		uint8_t c = in.p[i];

		if (c == '+' && query) {
			c = ' ';
		} else if (c == '%') {
			if (in.len - i < 3 ||
			    (hi = hex_value(in.p[i + 1])) == -1 ||
			    (lo = hex_value(in.p[i + 2])) == -1)
				return -1;
			c = (uint8_t)(hi << 4 | lo);
			i += 2;
		} else if (c <= 0x20 || c >= 0x7f || c == '\\' || c == ';' ||
			   c == '#') {
			return -1;
		}
		to[n++] = c;
	}
	*out = span_of(to, n);
	return 0;
}

/* Take what stands before `c`, or all of it, off the front of `rest`. */
static struct span
take(struct span *rest, uint8_t c, bool *more)
{
	const uint8_t *at =
	    rest->len == 0 ? NULL : memchr(rest->p, c, rest->len);
	struct span first = *rest;

	*more = at != NULL;
	if (at == NULL)
		return first;
	first.len = (size_t)(at - rest->p);
	*rest = span_of(at + 1, rest->len - first.len - 1);
	return first;
}

static int
read_path(struct value_pool *pool, struct span path, struct forge_target *t,
    struct forge_fail *fail)
{
	struct span part;
	bool more = true;

	t->nparts = 0;
	if (path.len == 0 || path.p[0] != '/')
		return forge_refuse(fail, "the path does not begin with \"/\"");
	path = span_of(path.p + 1, path.len - 1);
	if (path.len == 0)
		return 0;
	while (more) {
		part = take(&path, '/', &more);
		if (t->nparts == FORGE_MAX_PARTS)
			return forge_refuse(fail,
			    "the path has too many "
			    "parts (%u at most)",
			    FORGE_MAX_PARTS);
		if (decode(pool, part, false, &t->parts[t->nparts]) == -1 ||
		    !forge_text_valid(t->parts[t->nparts], 1024))
			return forge_refuse(fail,
			    "part %zu of the path is "
			    "empty, \".\", \"..\", encoded twice, or has a "
			    "character that is not permitted",
			    t->nparts + 1);
		t->nparts++;
	}
	return 0;
}

/* Returns true if a text of valid UTF-8 has a line end or another control. */
static bool
has_hidden(struct span s)
{
	size_t n;

	for (size_t i = 0; i < s.len; i += n) {
		n = text_utf8_len(s.p + i, s.p + s.len);
		if (hidden_alone(text_utf8_code(s.p + i, n)))
			return true;
	}
	return false;
}

static int
read_query(struct value_pool *pool, struct span query, struct forge_target *t,
    struct forge_fail *fail)
{
	struct span pair, name;
	bool more = true, value;

	t->nquery = 0;
	while (more && query.len != 0) {
		pair = take(&query, '&', &more);
		if (t->nquery == FORGE_MAX_QUERY)
			return forge_refuse(fail,
			    "the query has too many "
			    "members (%u at most)",
			    FORGE_MAX_QUERY);
		name = take(&pair, '=', &value);
		if (!value)
			pair.len = 0;
		if (decode(pool, name, true, &t->query[t->nquery].name) == -1 ||
		    decode(pool, pair, true, &t->query[t->nquery].value) ==
			-1 ||
		    !utf8_valid(t->query[t->nquery].name) ||
		    !utf8_valid(t->query[t->nquery].value) ||
		    has_hidden(t->query[t->nquery].value))
			return forge_refuse(fail,
			    "member %zu of the query is "
			    "not encoded correctly",
			    t->nquery + 1);
		t->nquery++;
	}
	return 0;
}

int
forge_target_read(const struct forge_grant *grant, struct value_pool *pool,
    struct span target, struct forge_target *t, struct forge_fail *fail)
{
	struct span prefix = span_str(forge_prefix(grant)), path;
	bool query;

	if (target.len > FORGE_MAX_TARGET)
		return forge_refuse(fail,
		    "the address has %zu bytes (%u at "
		    "most)",
		    target.len, FORGE_MAX_TARGET);
	if (!span_starts(target, prefix))
		return forge_refuse(fail, "the API of this forge is below %s",
		    forge_prefix(grant));
	target = span_of(target.p + prefix.len, target.len - prefix.len);
	path = take(&target, '?', &query);
	if (!query)
		target.len = 0;
	/* A path that is the prefix alone is the root. */
	if (path.len == 0 && prefix.len != 0)
		path = SPAN("/");
	if (read_path(pool, path, t, fail) == -1 ||
	    read_query(pool, target, t, fail) == -1)
		return -1;
	return 0;
}

void
forge_target_put(struct buf *b, struct span s)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.p[i];

		if (text_is_digit(c) || (c >= 'a' && c <= 'z') ||
		    (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
		    c == '_' || c == '~') {
			buf_addc(b, c);
			continue;
		}
		buf_addc(b, '%');
		buf_addc(b, (uint8_t)digits[c >> 4]);
		buf_addc(b, (uint8_t)digits[c & 15]);
	}
}
