/* SPDX-License-Identifier: ISC */
#include "keyd/post_line.h"

#include <string.h>

#include "common/http/base64.h"

#define FRONT "=?base64?"
#define TAIL "?="
/*
 * Bytes of a name: policyd lets no address of a resource through that has more
 * than 2048, and read_string() wants room for a character.
 */
#define NAME_RAW 2051U

/* Take a text of ours off the front. Returns false if it is not there. */
static bool
line_skip(struct span *s, const char *text)
{
	struct span t = span_str(text);

	if (!span_starts(*s, t))
		return false;
	*s = span_of(s->p + t.len, s->len - t.len);
	return true;
}

/* Take everything up to this byte off the front, and the byte. */
static bool
line_until(struct span *s, uint8_t end, struct span *taken)
{
	const uint8_t *at = s->len != 0 ? memchr(s->p, end, s->len) : NULL;

	if (at == NULL)
		return false;
	*taken = span_of(s->p, (size_t)(at - s->p));
	*s = span_of(at + 1, s->len - taken->len - 1);
	return true;
}

/* Returns true for a text that a header can have as it is. */
static bool
is_plain(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] < 0x20 || s.p[i] > 0x7e)
			return false;
	return s.len != 0 && s.p[0] != ' ' && s.p[s.len - 1] != ' ' &&
	       !(span_starts(s, SPAN(FRONT)) && s.len >= 2 &&
		   memcmp(s.p + s.len - 2, TAIL, 2) == 0);
}

int
post_line_header(struct span s, char *dst, size_t cap)
{
	size_t n = (s.len + 2) / 3 * 4;

	if (is_plain(s))
		return span_copy(s, dst, cap);
	if (n > cap || cap - n < sizeof(FRONT) + sizeof(TAIL))
		return -1;
	memcpy(dst, FRONT, sizeof(FRONT) - 1);
	dst += sizeof(FRONT) - 1;
	base64_put((uint8_t *)dst, s);
	memcpy(dst + n, TAIL, sizeof(TAIL));
	return 0;
}

/* Write the character as UTF-8. Returns its length. */
static size_t
put_char(uint8_t *dst, unsigned c)
{
	if (c < 0x80) {
		dst[0] = (uint8_t)c;
		return 1;
	}
	if (c < 0x800) {
		dst[0] = (uint8_t)(0xc0 | c >> 6);
		dst[1] = (uint8_t)(0x80 | (c & 0x3f));
		return 2;
	}
	dst[0] = (uint8_t)(0xe0 | c >> 12);
	dst[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
	dst[2] = (uint8_t)(0x80 | (c & 0x3f));
	return 3;
}

/*
 * Read an escape behind its backslash. Returns the character, or 0 for one that
 * the writer does not use.
 */
static unsigned
read_escape(struct span *s)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	static const char digits[] = "0123456789abcdef";
	const char *at;
	unsigned c = 0;

	if (s->len == 0)
		return 0;
	at = s->p[0] != '\0' ? strchr(from, s->p[0]) : NULL;
	if (at != NULL) {
		*s = span_of(s->p + 1, s->len - 1);
		return (unsigned char)to[at - from];
	}
	if (s->p[0] != 'u' || s->len < 5)
		return 0;
	for (unsigned i = 1; i <= 4; i++) {
		int d =
		    s->p[i] >= 'A' && s->p[i] <= 'F' ? s->p[i] + 0x20 : s->p[i];

		at = d != '\0' ? strchr(digits, d) : NULL;
		if (at == NULL)
			return 0;
		c = c << 4 | (unsigned)(at - digits);
	}
	*s = span_of(s->p + 5, s->len - 5);
	return c >= 0xd800 && c <= 0xdfff ? 0 : c;
}

/* Read a JSON string behind its quote. Returns its length, or 0. */
static size_t
read_string(struct span s, uint8_t raw[NAME_RAW])
{
	size_t n = 0;
	unsigned c;

	while (s.len != 0 && s.p[0] != '"') {
		if (n + 3 > NAME_RAW)
			return 0;
		c = s.p[0];
		s = span_of(s.p + 1, s.len - 1);
		if (c != '\\')
			raw[n++] = (uint8_t)c;
		else if ((c = read_escape(&s)) != 0)
			n += put_char(raw + n, c);
		else
			return 0;
	}
	return s.len != 0 ? n : 0;
}

/* Read the name of a header behind its prefix. Returns 0, or -1. */
static int
read_param_name(struct span s, char name[POST_PARAM])
{
	static const char prefix[] = "mcp-param-";
	size_t n = sizeof(prefix) - 1;

	if (s.len == 0 || s.len >= POST_PARAM - n)
		return -1;
	memcpy(name, prefix, n);
	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.p[i];

		if (c <= 0x20 || c > 0x7e || c == ':')
			return -1;
		name[n++] = (char)(c >= 'A' && c <= 'Z' ? c + 0x20 : c);
	}
	name[n] = '\0';
	return 0;
}

/* Find the end of a JSON string behind its quote. Returns false without one. */
static bool
skip_string(struct span s, size_t *len)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == '"') {
			*len = i + 1;
			return true;
		}
		if (s.p[i] == '\\')
			i++;
	}
	return false;
}

int
post_line_param(struct span *s, char name[POST_PARAM], char value[POST_NAME])
{
	uint8_t raw[NAME_RAW];
	struct span part;
	size_t n;

	if (s->len == 0)
		return 0;
	if (!line_skip(s, " ") || !line_until(s, ' ', &part) ||
	    read_param_name(part, name) == -1)
		return -1;
	if (line_skip(s, "\"\"")) {
		value[0] = '\0';
		return 1;
	}
	if (line_skip(s, "\"")) {
		if (!skip_string(*s, &n) ||
		    (part.len = read_string(*s, raw)) == 0)
			return -1;
		*s = span_of(s->p + n, s->len - n);
		return post_line_header(span_of(raw, part.len), value,
			   POST_NAME) == -1
			   ? -1
			   : 1;
	}
	for (n = 0; n < s->len && s->p[n] != ' '; n++)
		continue;
	part = span_of(s->p, n);
	*s = span_of(s->p + n, s->len - n);
	return !is_plain(part) || span_copy(part, value, POST_NAME) == -1 ? -1
									  : 1;
}

bool
post_line_token(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] <= 0x20 || s.p[i] > 0x7e)
			return false;
	return true;
}

int
post_line_events(
    struct span s, struct span *id, char event[PROTO_MAX_EVENT + 1])
{
	if (!line_until(&s, ' ', id) || id->len > 64 || !post_line_token(s))
		return -1;
	if (span_is(*id, "-"))
		id->len = 0;
	return span_copy(s, event, PROTO_MAX_EVENT + 1);
}

void
post_line_read(struct span s, struct post_line *l)
{
	uint8_t raw[NAME_RAW];
	struct span id, method;
	size_t n;

	l->id = l->method = SPAN("");
	l->name[0] = '\0';
	if (!line_skip(&s, "{\"id\":") || !line_until(&s, ',', &id) ||
	    id.len == 0 || id.len > 64 ||
	    !line_skip(&s, "\"jsonrpc\":\"2.0\",\"method\":\"") ||
	    !line_until(&s, '"', &method))
		return;
	l->id = id;
	l->method = method;
	if (!line_skip(&s, ",\"params\":{\"") ||
	    (!line_skip(&s, "name\":\"") && !line_skip(&s, "uri\":\"")))
		return;
	if ((n = read_string(s, raw)) == 0 ||
	    post_line_header(span_of(raw, n), l->name, sizeof(l->name)) == -1)
		l->name[0] = '\0';
}
