/* SPDX-License-Identifier: ISC */
/*
 * Follows the brackets, quotes and top-level members of a line from an agent or
 * an MCP server.  It keeps only the id; a line that is out of balance has none.
 */
#include "mcp/idscan.h"

#include <string.h>

static bool
is_space(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void
token_add(struct idscan *s, uint8_t c)
{
	if (s->ntoken < sizeof(s->token))
		s->token[s->ntoken] = c;
	s->ntoken++;
}

/* Returns true for an integer, or for a string without escapes. */
static bool
token_plain(const struct idscan *s)
{
	const uint8_t *p = s->token;
	size_t n = s->ntoken, i = 0;

	if (n == 0 || n > sizeof(s->token))
		return false;
	if (p[0] == '"') {
		for (i = 1; i + 1 < n; i++)
			if (p[i] < 0x20 || p[i] > 0x7e || p[i] == '\\')
				return false;
		return true;
	}
	if (p[0] == '-')
		i = 1;
	if (i == n || n > 19 || (p[i] == '0' && n > i + 1))
		return false;
	for (; i < n; i++)
		if (p[i] < '0' || p[i] > '9')
			return false;
	return true;
}

/* Process the end of a string or scalar at depth 1. */
static void
token_end(struct idscan *s)
{
	size_t n = s->ntoken;

	if (s->name) {
		s->member[0] = '\0';
		if (n >= 2 && n - 2 < sizeof(s->member)) {
			memcpy(s->member, s->token + 1, n - 2);
			s->member[n - 2] = '\0';
		}
		s->want = IDSCAN_COLON;
		/* An escaped name could be any name. */
		n = n < sizeof(s->token) ? n : sizeof(s->token);
		s->bad = s->bad || memchr(s->token, '\\', n) != NULL;
		s->response = s->response || strcmp(s->member, "result") == 0 ||
			      strcmp(s->member, "error") == 0;
	} else {
		s->want = IDSCAN_COMMA;
		if (s->id) {
			s->ids++;
			s->rid.len = 0;
			if (token_plain(s)) {
				memcpy(s->rid.text, s->token, n);
				s->rid.len = (uint16_t)n;
			}
		}
	}
	s->name = s->id = s->scalar = false;
}

static void
feed_string(struct idscan *s, uint8_t c)
{
	if (s->depth == 1)
		token_add(s, c);
	if (s->escape) {
		s->escape = false;
	} else if (c == '\\') {
		s->escape = true;
	} else if (c == '"') {
		s->string = false;
		if (s->depth == 1)
			token_end(s);
	}
}

static void
feed_open(struct idscan *s, uint8_t c)
{
	if (s->depth == 1 && s->want != IDSCAN_VALUE) {
		s->bad = true;
		return;
	}
	if (s->depth == 1 && strcmp(s->member, "id") == 0)
		s->ids = 2; /* an object or array cannot be an id */
	/*
	 * Beyond the depth that is tracked, only count, to find the way back.
	 */
	if (s->depth < VALUE_MAX_DEPTH && c == '{')
		s->objects |= 1ULL << s->depth;
	else if (s->depth < VALUE_MAX_DEPTH)
		s->objects &= ~(1ULL << s->depth);
	s->depth++;
	if (s->depth == 1)
		s->want = IDSCAN_NAME;
}

static void
feed_close(struct idscan *s, uint8_t c)
{
	bool object;

	if (s->depth == 0) {
		s->bad = true;
		return;
	}
	s->depth--;
	if (s->depth < VALUE_MAX_DEPTH) {
		object = (s->objects & 1ULL << s->depth) != 0;
		s->bad = s->bad || object != (c == '}');
	}
	if (s->depth == 1)
		s->want = IDSCAN_COMMA;
	s->over = s->depth == 0;
}

/*
 * Process punctuation between the members of the top-level object, or a value.
 */
static void
feed_member(struct idscan *s, uint8_t c)
{
	if (c == ',' && s->want == IDSCAN_COMMA) {
		s->want = IDSCAN_NAME;
	} else if (c == ':' && s->want == IDSCAN_COLON) {
		s->want = IDSCAN_VALUE;
	} else if (s->want == IDSCAN_VALUE && c != ',' && c != ':') {
		s->scalar = true;
		s->id = strcmp(s->member, "id") == 0;
		s->ntoken = 0;
		token_add(s, c);
	} else {
		s->bad = true;
	}
}

static void
feed_quote(struct idscan *s)
{
	s->string = true;
	if (s->depth != 1)
		return;
	s->bad = s->bad || s->want == IDSCAN_COLON || s->want == IDSCAN_COMMA;
	s->name = s->want == IDSCAN_NAME;
	s->id = s->want == IDSCAN_VALUE && strcmp(s->member, "id") == 0;
	s->ntoken = 0;
	token_add(s, '"');
}

static void
feed_byte(struct idscan *s, uint8_t c)
{
	bool space = is_space(c);

	if (s->string) {
		feed_string(s, c);
		return;
	}
	if (s->scalar) {
		if (!space && c != ',' && c != '}') {
			token_add(s, c);
			return;
		}
		token_end(s);
	}
	if (space)
		return;
	if (s->over || (s->depth == 0 && c != '{'))
		s->bad = true;
	else if (c == '"')
		feed_quote(s);
	else if (c == '{' || c == '[')
		feed_open(s, c);
	else if (c == '}' || c == ']')
		feed_close(s, c);
	else if (s->depth == 1)
		feed_member(s, c);
}

void
idscan_feed(struct idscan *s, struct span in)
{
	size_t n = sizeof(s->shown) - s->nshown;

	n = in.len < n ? in.len : n;
	if (n != 0)
		memcpy(s->shown + s->nshown, in.p, n);
	s->nshown += n;
	for (size_t i = 0; i < in.len && !s->bad; i++)
		feed_byte(s, in.p[i]);
}

int
idscan_end(struct idscan *s, struct jsonrpc_id *id)
{
	if (s->bad || !s->over || s->ids != 1 || s->rid.len == 0)
		return -1;
	*id = s->rid;
	return 0;
}

int
idscan_number(const struct jsonrpc_id *id, uint64_t *n)
{
	if (span_u64(span_of(id->text, id->len), INT64_MAX, n) == -1 || *n == 0)
		return -1;
	return 0;
}

int
idscan_line(struct span line, struct idscan *s, struct jsonrpc_id *id)
{
	memset(s, 0, sizeof(*s));
	idscan_feed(s, line);
	return idscan_end(s, id);
}

int
jsonrpc_find_id(struct span line, uint64_t *n)
{
	struct jsonrpc_id id;
	struct idscan s;

	if (idscan_line(line, &s, &id) == -1)
		return -1;
	return idscan_number(&id, n);
}
