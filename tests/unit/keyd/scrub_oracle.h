/* SPDX-License-Identifier: ISC */
/*
 * A second implementation of the scrub: it decodes the whole text at once and
 * searches for every piece of every form with memmem().
 */
#ifndef SCRUB_ORACLE_H
#define SCRUB_ORACLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mitmd/keyd/scrub.h"

static inline int
oracle_hex(const uint8_t *p, size_t n)
{
	char text[5] = {0}, *end;
	long v;

	for (size_t i = 0; i < n; i++) {
		if (strchr("0123456789abcdefABCDEF", p[i]) == NULL ||
		    p[i] == 0)
			return -1;
		text[i] = (char)p[i];
	}
	v = strtol(text, &end, 16);
	return (int)v;
}

/* Returns true if the text ends inside an escape, which is then not decoded. */
static inline bool
oracle_cut(const uint8_t *p, size_t left)
{
	size_t from = p[0] == '%' ? 1 : 2, whole = p[0] == '%' ? 3 : 6;

	if (left >= whole || (p[0] != '%' && p[0] != '\\'))
		return false;
	return left < from || (left == 1) ||
	       ((p[0] == '%' || p[1] == 'u') &&
		   oracle_hex(p + from, left - from) != -1);
}

/*
 * Returns the character at `p` and the length of its escape, or -1 for a
 * literal byte.
 */
static inline int
oracle_escape(const uint8_t *p, size_t left, size_t *took)
{
	static const char from[] = "\"\\/nrt", to[] = "\"\\/\n\r\t";
	const char *at;

	*took = 1;
	if (p[0] == '%' && left >= 3 && oracle_hex(p + 1, 2) != -1) {
		*took = 3;
		return oracle_hex(p + 1, 2);
	}
	if (p[0] != '\\' || left < 2)
		return -1;
	if (p[1] == 'u' && left >= 6 && oracle_hex(p + 2, 4) != -1) {
		*took = 6;
		return oracle_hex(p + 2, 4);
	}
	if (p[1] == 0 || (at = strchr(from, p[1])) == NULL)
		return -1;
	*took = 2;
	return to[at - from];
}

/* Decode; dst has room for `n` bytes. */
static inline size_t
oracle_decode(const uint8_t *p, size_t n, uint8_t *dst)
{
	size_t len = 0, took, breaks = 0;
	int c;

	for (size_t i = 0; i < n && !oracle_cut(p + i, n - i); i += took) {
		c = oracle_escape(p + i, n - i, &took);
		if (c == -1)
			c = p[i];
		if ((c == '\r' || c == '\n') && breaks < 2) {
			breaks++;
			continue;
		}
		breaks = 0;
		c = c == '-' ? '+' : c == '_' ? '/' : c;
		dst[len++] = c > 0xff ? 0xff : (uint8_t)c;
	}
	return len;
}

/*
 * Returns true if the text contains any piece of SCRUB_WINDOW characters of the
 * form.
 */
static inline bool
oracle_form(const uint8_t *text, size_t n, const uint8_t *form, size_t len)
{
	size_t w = len < SCRUB_WINDOW ? len : SCRUB_WINDOW;

	for (size_t i = 0; i + w <= len; i++) {
		if (memmem(text, n, form + i, w) != NULL)
			return true;
	}
	return false;
}

#endif
