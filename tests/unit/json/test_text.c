/* SPDX-License-Identifier: ISC */
/*
 * The scanner of JSON strings tests many bytes at a time: it must stop exactly
 * where one that tests each byte stops, wherever the text begins and ends.
 */
#include <stdlib.h>
#include <string.h>

#include "common/json/text.h"
#include "tap.h"

#define MOST 200U

static const uint8_t *
each(const uint8_t *p, const uint8_t *end)
{
	size_t n;

	while (
	    p < end && !text_is_special(*p) && (n = text_utf8_len(p, end)) != 0)
		p += n;
	return p;
}

/* Compare what is said of a short text as a whole. */
static bool
same_short(const uint8_t *p, size_t len)
{
	bool plain = true, ascii = true;

	if (len < 4 || len > TEXT_SHORT)
		return true;
	for (size_t i = 0; i < len; i++) {
		plain = plain && !text_is_special(p[i]);
		ascii = ascii && p[i] < 0x80;
	}
	return text_short_plain(p, len) == (plain && ascii) &&
	       text_short_ascii(p, len) == ascii;
}

/*
 * Copy into memory of the exact size, so that a sanitizer detects a read past
 * it.
 */
static bool
same(const uint8_t *text, size_t len)
{
	uint8_t *p = malloc(len + 1);
	bool good;

	memcpy(p, text, len);
	p = realloc(p, len == 0 ? 1 : len);
	good = text_plain_end(p, p + len) == each(p, p + len) &&
	       same_short(p, len);
	free(p);
	return good;
}

static void
test_places(void)
{
	static const char *const what[] = {"\"", "\\", "\x1f", "\x01", "\x7f",
	    "\x80", "\xff", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
	    "\xc0\xaf", "\xed\xa0\x80", "\xe2\x82"};
	uint8_t text[MOST];
	unsigned bad = 0;

	for (size_t k = 0; k < nitems(what); k++) {
		size_t n = strlen(what[k]);

		for (size_t len = n; len <= 100; len++) {
			for (size_t at = 0; at + n <= len; at++) {
				memset(text, 'a', len);
				memcpy(text + at, what[k], n);
				bad += !same(text, len);
			}
		}
		memset(text, 0, 32);
		bad += !same(text, 32);
	}
	is_int(bad, 0, "each kind of byte at each place of each length");
}

static void
test_random(void)
{
	uint8_t text[MOST];
	unsigned bad = 0;

	srandom(1);
	for (unsigned i = 0; i < 200000; i++) {
		size_t len = (size_t)random() % MOST;
		long rare = random() % 100 + 1;

		for (size_t k = 0; k < len; k++)
			text[k] = (uint8_t)(random() % rare != 0
						? ' ' + random() % 95
						: random());
		bad += !same(text, len);
	}
	is_int(bad, 0, "200,000 random texts");
}

int
main(void)
{
	test_places();
	test_random();
	return tap_done();
}
