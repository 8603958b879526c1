/* SPDX-License-Identifier: ISC */
/*
 * Strings of the JSON reader: found, checked and, if they contain escapes,
 * decoded into the pool.  Reads are bounded by the end of the text, writes by
 * the length of what was read.
 */
#include "common/json/reader.h"

#include "common/json/text.h"

/*
 * Read four hex digits.  Returns -1 with the failure recorded for the escape at
 * `esc`.
 */
static int
read_hex4(struct json_reader *r, const uint8_t *esc, const uint8_t *p)
{
	int n = 0;

	for (unsigned i = 0; i < 4; i++, p++) {
		if (p == r->end)
			return json_reader_fail(r, JSON_TRUNCATED, p);
		if (text_is_digit(*p))
			n = n * 16 + (*p - '0');
		else if ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'f')
			n = n * 16 + ((*p | 0x20) - 'a' + 10);
		else
			return json_reader_fail(r, JSON_SYNTAX, esc);
	}
	return n;
}

/* Handle a lone surrogate, in the escape at `esc`. */
static int
lone_surrogate(struct json_reader *r, const uint8_t *esc)
{
	if (r->repair)
		return 0xfffd;
	return json_reader_fail(r, JSON_UTF8, esc);
}

/* Read \uXXXX, or a surrogate pair, at r->p.  Returns the code point, or -1. */
static int
read_unicode(struct json_reader *r)
{
	const uint8_t *esc = r->p;
	int high, low;

	if ((high = read_hex4(r, esc, esc + 2)) == -1)
		return -1;
	r->p = esc + 6;
	if (high < 0xd800 || high > 0xdfff)
		return high;
	if (high > 0xdbff)
		return lone_surrogate(r, esc);
	for (unsigned i = 0; i < 2; i++) {
		if (r->p + i == r->end)
			return json_reader_fail(r, JSON_TRUNCATED, r->end);
		if (r->p[i] != "\\u"[i])
			return lone_surrogate(r, esc);
	}
	if ((low = read_hex4(r, r->p, r->p + 2)) == -1)
		return -1;
	if (low < 0xdc00 || low > 0xdfff)
		return lone_surrogate(r, esc);
	r->p += 6;
	return 0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00);
}

/* Decode the escape at r->p to `*to`, and advance both. */
static int
read_escape(struct json_reader *r, uint8_t **to)
{
	/* Pairs: the letter and its meaning. */
	static const char plain[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	int c;

	if (r->end - r->p < 2)
		return json_reader_fail(r, JSON_TRUNCATED, r->end);
	if (r->p[1] == 'u') {
		if ((c = read_unicode(r)) == -1)
			return -1;
		*to += text_utf8_put(*to, (uint32_t)c);
		return 0;
	}
	for (const char *s = plain; *s != '\0'; s += 2) {
		if (r->p[1] == (uint8_t)*s) {
			*(*to)++ = (uint8_t)s[1];
			r->p += 2;
			return 0;
		}
	}
	return json_reader_fail(r, JSON_SYNTAX, r->p);
}

/* Returns the closing quote of a string that continues at `p`, or `end`. */
static const uint8_t *
find_quote(const uint8_t *start, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *q, *back;

	while ((q = memchr(p, '"', (size_t)(end - p))) != NULL) {
		/* Linear, because every run of backslashes is counted once. */
		for (back = q; back > start && back[-1] == '\\';)
			back--;
		if ((q - back) % 2 == 0)
			return q;
		p = q + 1;
	}
	return end;
}

/*
 * Decode a string from `start` on; its first escape is at `stop`.  Decoded text
 * is never longer than its source.  The word before it contains the offset of
 * the string, for json_reader_offset().
 */
static int
read_escaped(struct json_reader *r, const uint8_t *start, const uint8_t *stop,
    struct span *out)
{
	size_t had, offset = (size_t)(start - r->base) - 1, n;
	uint8_t *mem, *to;

	had = (size_t)(find_quote(start, stop, r->end) - start);
	had += sizeof(offset);
	if ((mem = value_pool_alloc(r->pool, had)) == NULL)
		return json_reader_fail(r, JSON_LIMIT, start - 1);
	memcpy(mem, &offset, sizeof(offset));
	to = mem + sizeof(offset);
	r->p = start;
	for (;;) {
		n = (size_t)(stop - r->p);
		memcpy(to, r->p, n);
		to += n;
		r->p = stop;
		if (r->p == r->end || *r->p != '\\')
			break;
		if (read_escape(r, &to) == -1)
			return -1;
		stop = text_plain_end(r->p, r->end);
	}
	if (r->p == r->end || *r->p != '"')
		return json_reader_unexpected(r);
	r->p++;
	n = (size_t)(to - mem);
	value_pool_trim(r->pool, mem, had, n);
	*out = span_of(mem + sizeof(offset), n - sizeof(offset));
	return 0;
}

int
json_reader_string(struct json_reader *r, struct span *out)
{
	const uint8_t *start = r->p + 1, *stop;

	stop = text_plain_end(start, r->end);
	if (stop < r->end && *stop == '"') {
		*out = span_of(start, (size_t)(stop - start));
		r->p = stop + 1;
	} else if (stop < r->end && *stop == '\\') {
		if (read_escaped(r, start, stop, out) == -1)
			return -1;
	} else {
		r->p = stop;
		return json_reader_unexpected(r);
	}
	if (out->len > VALUE_MAX_STRING)
		return json_reader_fail(r, JSON_LIMIT, start - 1);
	return json_reader_count(r, sizeof(uint32_t) + out->len, start - 1);
}

size_t
json_reader_offset(const struct json_reader *r, struct span text)
{
	size_t offset;

	if (text.p > r->base && text.p < r->end)
		return (size_t)(text.p - r->base) - 1;
	memcpy(&offset, text.p - sizeof(offset), sizeof(offset));
	return offset;
}
