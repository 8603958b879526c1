/* SPDX-License-Identifier: ISC */
/*
 * Decodes a provider's text for the search, a byte or a run of bytes at a time,
 * so that every split of the text gives the same result. Owns no memory.
 */
#include "keyd/scrub_text.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define BREAKS_MAX 2U /* consecutive line breaks that are skipped */
/* bytes of a character with the line breaks before it, all escaped */
#define SCRUB_LONGEST (6U * (BREAKS_MAX + 1U))

static void
emit(struct scrub_state *st, struct scrub_block *b, uint8_t c, int32_t at)
{
	b->c[b->n] = scrub_fold(c);
	b->at[b->n++] = at;
	st->breaks = 0;
}

/* Append a character, decoded or literal. */
static void
take(struct scrub_state *st, struct scrub_block *b, unsigned c, int32_t at)
{
	if ((c == '\r' || c == '\n') && st->breaks < BREAKS_MAX) {
		st->breaks++;
		return;
	}
	emit(st, b, c < 0x100 ? (uint8_t)c : 0xff, at);
}

static int
hex_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static unsigned
hex_number(const uint8_t *p, unsigned n)
{
	unsigned v = 0;

	for (unsigned i = 0; i < n; i++)
		v = v << 4 | (unsigned)hex_value(p[i]);
	return v;
}

/*
 * Returns the character for the one after a backslash; 0: not a complete
 * escape.
 */
static unsigned
short_escape(uint8_t c)
{
	switch (c) {
	case '"':
	case '\\':
	case '/':
		return c;
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	default:
		return 0;
	}
}

/*
 * Add a byte, at `at`, to an escape. Returns false if it is not an escape: then
 * its bytes were taken as text, and this byte was not used.
 */
static bool
escape_more(
    struct scrub_state *st, struct scrub_block *b, uint8_t c, int32_t at)
{
	unsigned n = st->nescape, whole = st->escape[0] == '%' ? 3 : 6, v;
	int32_t start = at - (int32_t)n;

	if (n == 1 && whole == 6 && c != 'u') {
		if ((v = short_escape(c)) == 0)
			goto text;
		st->nescape = 0;
		take(st, b, v, start);
		return true;
	}
	if (!(n == 1 && whole == 6) && hex_value(c) == -1)
		goto text;
	st->escape[n++] = c;
	st->nescape = n;
	if (n < whole)
		return true;
	st->nescape = 0;
	v = whole == 3 ? hex_number(st->escape + 1, 2)
		       : hex_number(st->escape + 2, 4);
	take(st, b, v, start);
	return true;
text:
	st->nescape = 0;
	for (unsigned i = 0; i < n; i++)
		emit(st, b, st->escape[i], start + (int32_t)i);
	return false;
}

/*
 * Literal bytes, folded; 0: NUL, line breaks, and bytes that may begin an
 * escape.
 */
/* clang-format off */
static const uint8_t plain_bytes[256] = {
    0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x00, 0x0b, 0x0c, 0x00, 0x0e, 0x0f,
    0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
    0x20, 0x21, 0x22, 0x23, 0x24, 0x00, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2b, 0x2e, 0x2f,
    0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f,
    0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f,
    0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x5b, 0x00, 0x5d, 0x5e, 0x2f,
    0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f,
    0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f,
    0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f,
    0x90, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f,
    0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf,
    0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf,
    0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf,
    0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf,
    0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xeb, 0xec, 0xed, 0xee, 0xef,
    0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff,
};
/* clang-format on */

/* Sixteen bytes at a time; compilers turn this into SSE2 or NEON. */
typedef uint8_t plain_lane __attribute__((vector_size(16)));
#define LANE4(c) c, c, c, c
#define LANE(c) ((plain_lane){LANE4(c), LANE4(c), LANE4(c), LANE4(c)})
#define IS(v, c) ((plain_lane)((v) == LANE(c)))

/*
 * Copy and fold sixteen bytes. Returns true if all of them are literal;
 * otherwise the copy is useless.
 */
static inline bool
decode_lane(uint8_t *to, const uint8_t *from)
{
	plain_lane v, bad;
	uint64_t some[2];

	memcpy(&v, from, sizeof(v));
	bad = IS(v, 0) | IS(v, '\n') | IS(v, '\r') | IS(v, '%') | IS(v, '\\');
	v ^= (IS(v, '-') & LANE('-' ^ '+')) | (IS(v, '_') & LANE('_' ^ '/'));
	memcpy(to, &v, sizeof(v));
	memcpy(some, &bad, sizeof(some));
	return (some[0] | some[1]) == 0;
}

#ifdef __x86_64__
#define WIDE_STEP 64U

/*
 * A byte's class is what the entries of its two halves have in common. Those
 * that are not literal have a bit of WIDE_BAD; the classes 1 and 2 are folded.
 */
#define WIDE_FOLD_MINUS 1
#define WIDE_FOLD_LINE 2
#define WIDE_CONTROL 4 /* NUL, \n, \r */
#define WIDE_PERCENT 8
#define WIDE_ESCAPE 16
#define WIDE_BAD (WIDE_CONTROL | WIDE_PERCENT | WIDE_ESCAPE)

#define WIDE_TABLE(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

/* Copy and fold 32 bytes. Returns their classes. */
__attribute__((target("avx2"))) static inline __m256i
wide_lane(uint8_t *to, const uint8_t *from)
{
	const __m256i low = WIDE_TABLE(WIDE_CONTROL, 0, 0, 0, 0, WIDE_PERCENT,
			  0, 0, 0, 0, WIDE_CONTROL, 0, WIDE_ESCAPE,
			  WIDE_CONTROL | WIDE_FOLD_MINUS, 0, WIDE_FOLD_LINE),
		      high = WIDE_TABLE(WIDE_CONTROL, 0,
			  WIDE_PERCENT | WIDE_FOLD_MINUS, 0, 0,
			  WIDE_ESCAPE | WIDE_FOLD_LINE, 0, 0, 0, 0, 0, 0, 0, 0,
			  0, 0),
		      fold = WIDE_TABLE(0, '-' ^ '+', '_' ^ '/', 0, 0, 0, 0, 0,
			  0, 0, 0, 0, 0, 0, 0, 0);
	__m256i v = _mm256_loadu_si256((const __m256i *)(const void *)from),
		top = _mm256_and_si256(
		    _mm256_srli_epi16(v, 4), _mm256_set1_epi8(15)),
		class;

	/* A shuffle takes the lower half as index, and gives 0 from 0x80 on. */
	class = _mm256_and_si256(
	    _mm256_shuffle_epi8(low, v), _mm256_shuffle_epi8(high, top));
	_mm256_storeu_si256((__m256i *)(void *)to,
	    _mm256_xor_si256(v, _mm256_shuffle_epi8(fold, class)));
	return class;
}

/*
 * The same for up to `n` bytes, as many steps as fit. Returns the number of
 * bytes before the first one that is not literal.
 */
__attribute__((target("avx2"))) static size_t
wide_steps(uint8_t *to, const uint8_t *from, size_t n)
{
	const __m256i wrong = _mm256_set1_epi8(WIDE_BAD),
		      none = _mm256_setzero_si256();
	uint64_t good;
	size_t i;

	for (i = 0; n - i >= WIDE_STEP; i += WIDE_STEP) {
		__m256i low = wide_lane(to + i, from + i),
			high = wide_lane(to + i + 32, from + i + 32),
			any = _mm256_or_si256(low, high);

		if (_mm256_testz_si256(any, wrong))
			continue;
		low = _mm256_cmpeq_epi8(_mm256_and_si256(low, wrong), none);
		high = _mm256_cmpeq_epi8(_mm256_and_si256(high, wrong), none);
		good = (uint32_t)_mm256_movemask_epi8(low) |
		       (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
		return i + (size_t)__builtin_ctzll(~good);
	}
	return i;
}

static size_t
decode_wide(uint8_t *to, const uint8_t *from, size_t n)
{
	return __builtin_cpu_supports("avx2") ? wide_steps(to, from, n) : 0;
}
#else
static size_t
decode_wide(uint8_t *to, const uint8_t *from, size_t n)
{
	return 0;
}
#endif

/* Returns the length of the run of literal bytes, which are copied. */
static size_t
decode_run(uint8_t *to, const uint8_t *from, size_t max)
{
	size_t n = decode_wide(to, from, max);

	if (n < max && plain_bytes[from[n]] == 0)
		return n;
	for (; max - n >= 16; n += 16) {
		if (!decode_lane(to + n, from + n))
			break;
	}
	for (; n < max; n++) {
		if ((to[n] = plain_bytes[from[n]]) == 0)
			break;
	}
	return n;
}

/*
 * Decode a run of literal bytes. Only the offsets of the last SCRUB_WINDOW
 * characters of a block and of the input are ever used. None are stored if at
 * least that many characters will follow the run in both; a character takes at
 * most SCRUB_LONGEST bytes.
 */
static size_t
decode_plain(
    struct scrub_state *st, struct scrub_block *b, struct span in, int32_t base)
{
	size_t room = SCRUB_WINDOW + SCRUB_BLOCK - b->n, n, i;

	n = decode_run(b->c + b->n, in.p, room < in.len ? room : in.len);
	i = n > SCRUB_WINDOW ? n - SCRUB_WINDOW : 0;
	if (room - n >= SCRUB_WINDOW &&
	    in.len - n >= (SCRUB_WINDOW + 1U) * SCRUB_LONGEST)
		i = n;
	for (; i < n; i++)
		b->at[b->n + i] = base + (int32_t)i;
	b->n += n;
	if (n != 0)
		st->breaks = 0;
	return n;
}

size_t
scrub_decode(
    struct scrub_state *st, struct scrub_block *b, struct span in, int32_t base)
{
	size_t i = 0;

	while (i < in.len && b->n < SCRUB_WINDOW + SCRUB_BLOCK) {
		uint8_t c = in.p[i];

		if (st->nescape == 0 && plain_bytes[c] != 0) {
			i += decode_plain(st, b, span_of(in.p + i, in.len - i),
			    base + (int32_t)i);
		} else if (st->nescape != 0) {
			i += escape_more(st, b, c, base + (int32_t)i);
		} else if (c == '\\' || c == '%') {
			st->escape[0] = c;
			st->nescape = 1;
			i++;
		} else if (c == '\r' || c == '\n') {
			take(st, b, c, base + (int32_t)i);
			i++;
		} else {
			emit(st, b, c, base + (int32_t)i);
			i++;
		}
	}
	return i;
}
