/* SPDX-License-Identifier: ISC */
/*
 * Buffers and spans: the hard maximum, the state after a failure, and that a
 * full buffer stays cheap when it is drained and filled byte by byte.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/buf.h"
#include "tap.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static bool
holds(const struct buf *b, const char *want)
{
	return span_is(buf_span(b), want);
}

static void
test_adding(void)
{
	struct buf b;

	buf_init(&b, 1000);
	ok(buf_span(&b).len == 0, "empty at birth");
	buf_add(&b, NULL, 0);
	is_int(buf_check(&b), 0, "nothing added");
	buf_adds(&b, "ab");
	is_int(buf_check(&b), 0, "a string");
	buf_addc(&b, 'c');
	is_int(buf_check(&b), 0, "a byte");
	buf_addspan(&b, SPAN("de"));
	is_int(buf_check(&b), 0, "a span");
	buf_addspan(&b, span_of(NULL, 0));
	is_int(buf_check(&b), 0, "an empty span");
	buf_printf(&b, "%s-%d", "f", 7);
	is_int(buf_check(&b), 0, "a format");
	buf_printf(&b, "%s", "");
	is_int(buf_check(&b), 0, "an empty format");
	buf_addhex(&b, "\x00\xff\x1a", 3);
	is_int(buf_check(&b), 0, "hex");
	buf_addu64(&b, 0);
	is_int(buf_check(&b), 0, "zero");
	buf_addu64(&b, UINT64_MAX);
	is_int(buf_check(&b), 0, "the largest number");
	ok(holds(&b, "abcdef-700ff1a018446744073709551615"), "all in order");
	buf_drain(&b, 6);
	ok(holds(&b, "-700ff1a018446744073709551615"), "drained");
	buf_reset(&b, 1000);
	ok(b.len == 0 && b.cap != 0, "reset keeps the memory");
	buf_adds(&b, "x");
	buf_reset(&b, 10);
	ok(b.len == 0 && b.cap == 0 && b.max == 1000, "unless it is too much");
	buf_adds(&b, "y");
	errno = 42;
	buf_free(&b);
	ok(errno == 42 && b.p == NULL && b.max == 1000, "freed, errno kept");
	buf_adds(&b, "again");
	is_int(buf_check(&b), 0, "and usable as before");
	buf_free(&b);
	buf_free(&b);
}

static void
test_maximum(void)
{
	char why[64];
	struct buf b;

	for (size_t max = 0; max < 600; max++) {
		buf_init(&b, max);
		for (size_t i = 0; i < max; i++)
			buf_addc(&b, 'x');
		if (b.failed)
			ok(false, "%zu", max);
		errno = 0;
		buf_addc(&b, 'x');
		if (errno != ENOBUFS || !b.failed || b.len != max)
			ok(false, "one more than %zu", max);
		buf_free(&b);
	}
	buf_init(&b, 10);
	ok(buf_room(&b, 11) == NULL && b.failed, "no room for 11 of 10");
	errno = 0;
	buf_add(&b, "x", 1);
	ok(buf_check(&b) == -1 && errno == ENOBUFS, "failed for good");
	is_str(buf_why(&b, "the queue", why, sizeof(why)),
	    "the queue is full (10 bytes)", "the text says what is full");
	buf_printf(&b, "x");
	ok(b.failed && b.len == 0, "formats too");
	buf_reset(&b, 100);
	buf_add(&b, "0123456789", 10);
	is_int(buf_check(&b), 0, "until it is reset");
	buf_add(&b, "", 0);
	is_int(buf_check(&b), 0, "nothing fits a full one");
	ok(buf_room(&b, SIZE_MAX) == NULL, "nor a size that would wrap");
	buf_reset(&b, 100);
	buf_addhex(&b, "abcdef", 6);
	is_int(buf_check(&b), -1, "hex over the maximum");
	buf_reset(&b, 100);
	buf_printf(&b, "%s", "0123456789");
	is_int(buf_check(&b), 0, "a format that just fits");
	is_int(b.len, 10, "whole");
	buf_printf(&b, "a");
	is_int(buf_check(&b), -1, "one that does not");
	ok(holds(&b, "0123456789"), "leaves what was there");
	buf_free(&b);
	buf_init(&b, 256);
	buf_printf(&b, "%0256d", 1);
	is_int(buf_check(&b), 0, "a format as large as the memory");
	ok(b.len == 256 && b.p[255] == '1' && b.p[0] == '0', "whole");
	buf_free(&b);
#ifndef IC_SANITIZED	/* ASan would end the program instead */
	buf_init(&b, SIZE_MAX);
	errno = 0;
	ok(buf_room(&b, SIZE_MAX / 2) == NULL && errno == ENOMEM, "no memory");
	is_str(buf_why(&b, "the queue", why, sizeof(why)),
	    "no memory for the queue", "the text says so");
	buf_free(&b);
	buf_init(&b, 0);
	buf_addc(&b, 'x');
	is_str(buf_why(&b, "it", why, sizeof(why)), "it is full (0 bytes)",
	    "a new one has forgotten that");
#endif
	buf_init(&b, 100);
	buf_addhex(&b, "", SIZE_MAX / 2 + 1);
	ok(b.failed, "hex that would wrap");
	buf_free(&b);
}

/*
 * Random steps against a simple model: the same bytes, never over the maximum.
 */
static void
test_model(void)
{
	static uint8_t model[5000];
	uint32_t seed = 1, n;
	unsigned wrong = 0;
	size_t len = 0;
	struct buf b;

	buf_init(&b, sizeof(model));
	for (unsigned i = 0; i < 200000; i++) {
		seed = seed * 1664525 + 1013904223;
		n = (seed >> 8) % 400;
		if ((seed >> 28) < 9) {
			if (n > sizeof(model) - len)
				n = (uint32_t)(sizeof(model) - len);
			memset(model + len, (int)(i & 0xff), n);
			buf_add(&b, model + len, n);
			wrong += b.failed;
			len += n;
		} else {
			if (n > len)
				n = (uint32_t)len;
			memmove(model, model + n, len - n);
			len -= n;
			buf_drain(&b, n);
		}
		wrong += !span_eq(buf_span(&b), span_of(model, len));
		wrong += b.off + b.len > b.cap || b.cap > sizeof(model) * 5 / 4;
	}
	is_int(wrong, 0, "200,000 random steps");
	buf_free(&b);
}

/*
 * Drain and fill a full buffer by single bytes, and count how often its
 * contents move.  Each move shows as an offset that falls.
 */
static void
test_full(void)
{
	unsigned moves = 0, max = 100000;
	struct buf b;
	size_t off;

	buf_init(&b, max);
	memset(buf_room(&b, max), 'x', max);
	buf_grow(&b, max);
	for (unsigned i = 0; i < 10 * max; i++) {
		buf_drain(&b, 1);
		off = b.off;
		buf_addc(&b, 'y');
		moves += b.off < off;
	}
	ok(moves > 10 && moves <= 80, "a full buffer moved %u times in "
	    "1,000,000 additions", moves);
	buf_free(&b);
}

static void
test_span(void)
{
	static const struct {
		const char *text;
		uint64_t max, want;
		int r;
	} numbers[] = {
	    {"0", 0, 0, 0}, {"7", 7, 7, 0}, {"8", 7, 0, -1}, {"10", 10, 10, 0},
	    {"11", 10, 0, -1}, {"18446744073709551615", UINT64_MAX, UINT64_MAX, 0},
	    {"18446744073709551616", UINT64_MAX, 0, -1}, {"", 9, 0, -1},
	    {"99999999999999999999999", UINT64_MAX, 0, -1}, {"00", 9, 0, -1},
	    {"01", 9, 0, -1}, {"+1", 9, 0, -1}, {"-1", 9, 0, -1}, {" 1", 9, 0, -1},
	    {"1 ", 9, 0, -1}, {"1a", 99, 0, -1}, {"0x1", 99, 0, -1},
	    {"9223372036854775808", INT64_MAX, 0, -1}, {"1", 0, 0, -1},
	};
	uint64_t n;
	char dst[4], *dup;

	for (size_t i = 0; i < COUNT(numbers); i++) {
		n = 0;
		ok(span_u64(span_str(numbers[i].text), numbers[i].max, &n) ==
		    numbers[i].r && n == numbers[i].want, "span_u64 of '%s'",
		    numbers[i].text);
	}
	ok(span_ieq(SPAN("HoSt-9"), SPAN("hOsT-9")) && !span_ieq(SPAN("a"),
	    SPAN("ab")) && !span_ieq(SPAN("@["), SPAN("`{")) &&
	    !span_ieq(SPAN("\xc3\x89"), SPAN("\xc3\xa9")), "span_ieq");
	ok(span_cmp(SPAN("a"), SPAN("ab")) < 0 && span_cmp(SPAN("b"), SPAN("ab"))
	    > 0 && span_cmp(SPAN(""), SPAN("")) == 0 && span_cmp(SPAN("\x7f"),
	    SPAN("\x80")) < 0, "span_cmp by unsigned bytes");
	is_int(span_copy(SPAN("abc"), dst, sizeof(dst)), 0, "copied");
	is_str(dst, "abc", "with a NUL");
	errno = 0;
	ok(span_copy(SPAN("abcd"), dst, sizeof(dst)) == -1 &&
	    errno == ENAMETOOLONG, "too long");
	errno = 0;
	ok(span_copy(SPAN("a\0"), dst, sizeof(dst)) == -1 && errno == EINVAL,
	    "a NUL within");
	is_str(dst, "abc", "unchanged");
	is_int(span_copy(SPAN(""), dst, 0), -1, "no room at all");
	dup = span_dup(SPAN("abc"));
	is_str(dup, "abc", "span_dup");
	free(dup);
	errno = 0;
	ok(span_dup(SPAN("a\0b")) == NULL && errno == EINVAL, "NUL in a dup");
	dup = span_dup(span_of(NULL, 0));
	is_str(dup, "", "span_dup of nothing");
	free(dup);
}

static void
test_lines(void)
{
	static const char *const want[] = {"a", "", "bc"};
	struct span rest = SPAN("a\n\nbc"), line;
	char hex[7];
	size_t n = 0;

	while (span_line(&rest, &line))
		ok(n < nitems(want) && span_is(line, want[n++]), "a line");
	is_int(n, nitems(want), "each line");
	ok(line.p + line.len == rest.p, "the last one has no newline");
	rest = SPAN("a\n");
	ok(span_line(&rest, &line) && span_is(line, "a") &&
		line.p + line.len != rest.p && !span_line(&rest, &line),
	    "nothing follows a newline at the end");
	is_str(hex_string("\x00\xa9\xff", 3, hex), "00a9ff", "hex digits");
	is_str(hex_string(NULL, 0, hex), "", "none");
}

int
main(void)
{
	test_adding();
	test_maximum();
	test_model();
	test_full();
	test_span();
	test_lines();
	return tap_done();
}
