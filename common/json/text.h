/* SPDX-License-Identifier: ISC */
/*
 * Scanners shared by the JSON reader and the value decoder, so that both accept
 * exactly the same texts.  They take bytes from outside and never read at or
 * past `end`.  Eight bytes are tested at a time; only the lowest flagged byte
 * is exact, which is the first one because our machines are little-endian.
 */
#ifndef TEXT_H
#define TEXT_H

#include "common/span.h"

#define TEXT_ONES	0x0101010101010101ULL
#define TEXT_HIGHS	0x8080808080808080ULL

static inline uint64_t
text_word(const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

/*
 * Returns the high bit of each byte that equals `c` (which is < 0x80); see
 * above on exactness.
 */
static inline uint64_t
text_match(uint64_t w, uint8_t c)
{
	w ^= TEXT_ONES * c;
	return (w - TEXT_ONES) & ~w & TEXT_HIGHS;
}

/*
 * Returns the high bit of each byte that needs an escape: below 0x20, quote or
 * backslash.
 */
static inline uint64_t
text_special(uint64_t w)
{
	return (((w - TEXT_ONES * 0x20) & ~w) & TEXT_HIGHS) |
	    text_match(w, '"') | text_match(w, '\\');
}

static inline bool
text_is_special(uint8_t c)
{
	return c < 0x20 || c == '"' || c == '\\';
}

static inline bool
text_is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static inline bool
text_is_tail(uint8_t c, uint8_t lo, uint8_t hi)
{
	return c >= lo && c <= hi;
}

/*
 * Returns the length of the well-formed UTF-8 sequence at p < end (Unicode,
 * table 3-7), or 0 if it is overlong, a surrogate, above U+10FFFF, cut short,
 * or has no lead byte.
 */
static inline size_t
text_utf8_len(const uint8_t *p, const uint8_t *end)
{
	size_t left = (size_t)(end - p);
	uint8_t c = p[0], lo = 0x80, hi = 0xbf;

	if (c < 0x80)
		return 1;
	if (c < 0xc2 || c > 0xf4 || left < 2)
		return 0;
	if (c == 0xe0)
		lo = 0xa0;
	else if (c == 0xed)
		hi = 0x9f;
	else if (c == 0xf0)
		lo = 0x90;
	else if (c == 0xf4)
		hi = 0x8f;
	if (!text_is_tail(p[1], lo, hi))
		return 0;
	if (c < 0xe0)
		return 2;
	if (left < 3 || !text_is_tail(p[2], 0x80, 0xbf))
		return 0;
	if (c < 0xf0)
		return 3;
	if (left < 4 || !text_is_tail(p[3], 0x80, 0xbf))
		return 0;
	return 4;
}

/* Returns the code point of a well-formed sequence of `len` bytes, 1 to 4. */
static inline uint32_t
text_utf8_code(const uint8_t *p, size_t len)
{
	uint32_t c = len == 1 ? p[0] : p[0] & (0x7fU >> len);

	for (size_t i = 1; i < len; i++)
		c = c << 6 | (p[i] & 0x3fU);
	return c;
}

/* Encode a code point up to U+10FFFF as UTF-8.  Returns the number of bytes. */
static inline size_t
text_utf8_put(uint8_t dst[4], uint32_t c)
{
	size_t n = 0;

	if (c < 0x80) {
		dst[n++] = (uint8_t)c;
		return n;
	}
	if (c < 0x800) {
		dst[n++] = (uint8_t)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			dst[n++] = (uint8_t)(0xe0 | c >> 12);
		} else {
			dst[n++] = (uint8_t)(0xf0 | c >> 18);
			dst[n++] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
		}
		dst[n++] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
	}
	dst[n++] = (uint8_t)(0x80 | (c & 0x3f));
	return n;
}

typedef int8_t text_block __attribute__((vector_size(16)));
typedef uint64_t text_words __attribute__((vector_size(16)));

#define TEXT_BLOCKS	(2 * sizeof(text_block))

/*
 * Returns a block whose bytes are not 0 where one at `p` is not plain ASCII;
 * bytes that are not ASCII compare as negative.
 */
static inline text_words
text_block_bad(const uint8_t *p)
{
	text_block a;

	memcpy(&a, p, sizeof(a));
	return (text_words)((a < 0x20) | (a == '"') | (a == '\\'));
}

/* Returns true if TEXT_BLOCKS bytes at `p` are plain ASCII. */
static inline bool
text_blocks_plain(const uint8_t *p)
{
	text_words bad =
	    text_block_bad(p) | text_block_bad(p + sizeof(text_block));

	return (bad[0] | bad[1]) == 0;
}

/*
 * Returns true if TEXT_BLOCKS bytes at `p` contain neither a quote nor a
 * backslash, so that the string does not end in them.
 */
static inline bool
text_blocks_within(const uint8_t *p)
{
	text_block a, b;
	text_words bad;

	memcpy(&a, p, sizeof(a));
	memcpy(&b, p + sizeof(a), sizeof(b));
	bad = (text_words)((a == '"') | (a == '\\') | (b == '"') |
	    (b == '\\'));
	return (bad[0] | bad[1]) == 0;
}

/*
 * Returns the number of plain ASCII bytes that a text_block at `p` begins with,
 * at most all of it.
 */
static inline size_t
text_block_plain(const uint8_t *p)
{
	text_words bad = text_block_bad(p);

	if (bad[0] != 0)
		return (size_t)__builtin_ctzll(bad[0]) >> 3;
	if (bad[1] != 0)
		return sizeof(bad[0]) + ((size_t)__builtin_ctzll(bad[1]) >> 3);
	return sizeof(bad);
}

/*
 * Returns the first byte that is not plain text of a JSON string: a quote, a
 * backslash, a control character or ill-formed UTF-8; or `end`.
 */
static inline const uint8_t *
text_plain_end(const uint8_t *p, const uint8_t *end)
{
	uint64_t flags, w;
	size_t n;

	while (p < end) {
		if ((size_t)(end - p) >= sizeof(text_block)) {
			n = text_block_plain(p);
			p += n;
			if (n == sizeof(text_block)) {
				while ((size_t)(end - p) >= TEXT_BLOCKS &&
				    text_blocks_plain(p))
					p += TEXT_BLOCKS;
				continue;
			}
		} else if ((size_t)(end - p) >= sizeof(w)) {
			w = text_word(p);
			flags = text_special(w) | (w & TEXT_HIGHS);
			if (flags == 0) {
				p += sizeof(w);
				continue;
			}
			p += __builtin_ctzll(flags) >> 3;
		}
		if (text_is_special(*p))
			return p;
		/* After one non-ASCII character another one is likely. */
		do {
			if ((n = text_utf8_len(p, end)) == 0)
				return p;
			p += n;
		} while (p < end && *p >= 0x80);
	}
	return p;
}

/* Texts of up to this many bytes are looked at as a whole first. */
#define TEXT_SHORT	64U

/* Returns a word with all bytes of a text of 4 to 7, some of them twice. */
static inline uint64_t
text_half_words(const uint8_t *p, size_t len)
{
	uint32_t first, last;

	memcpy(&first, p, sizeof(first));
	memcpy(&last, p + len - sizeof(last), sizeof(last));
	return first | (uint64_t)last << 32;
}

/*
 * Returns true if a text of 4 to TEXT_SHORT bytes is ASCII and contains nothing
 * to escape.  The last word or block overlaps the one before it.
 */
static inline bool
text_short_plain(const uint8_t *p, size_t len)
{
	const uint8_t *last;
	uint64_t w, v;
	text_words bad;

	if (len >= sizeof(bad)) {
		last = p + len - sizeof(bad);
		bad = text_block_bad(last);
		for (; p < last; p += sizeof(bad))
			bad |= text_block_bad(p);
		return (bad[0] | bad[1]) == 0;
	}
	if (len < sizeof(w)) {
		w = v = text_half_words(p, len);
	} else {
		w = text_word(p);
		v = text_word(p + len - sizeof(v));
	}
	return (text_special(w) | text_special(v) |
		((w | v) & TEXT_HIGHS)) == 0;
}

/* Returns true if a text of 4 to TEXT_SHORT bytes is ASCII. */
static inline bool
text_short_ascii(const uint8_t *p, size_t len)
{
	const uint8_t *last;
	uint64_t all;

	if (len < sizeof(uint64_t))
		return (text_half_words(p, len) & TEXT_HIGHS) == 0;
	last = p + len - sizeof(uint64_t);
	all = text_word(last);
	for (; p < last; p += sizeof(uint64_t))
		all |= text_word(p);
	return (all & TEXT_HIGHS) == 0;
}

/*
 * Scan a number (RFC 8259 section 6) as far as it goes.  Returns true with
 * `*stop` after it, or false with `*stop` at the byte (or end) that breaks it.
 */
static inline bool
text_number_end(const uint8_t *p, const uint8_t *end, const uint8_t **stop)
{
	bool good = false;

	if (p < end && *p == '-')
		p++;
	if (p == end || !text_is_digit(*p))
		goto out;
	if (*p++ == '0') {
		if (p < end && text_is_digit(*p))
			goto out;
	}
	while (p < end && text_is_digit(*p))
		p++;
	if (p < end && *p == '.') {
		if (++p == end || !text_is_digit(*p))
			goto out;
		while (p < end && text_is_digit(*p))
			p++;
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		if (++p < end && (*p == '+' || *p == '-'))
			p++;
		if (p == end || !text_is_digit(*p))
			goto out;
		while (p < end && text_is_digit(*p))
			p++;
	}
	good = true;
out:
	*stop = p;
	return good;
}

#endif
