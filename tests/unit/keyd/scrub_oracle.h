/* SPDX-License-Identifier: ISC */
/*
 * The scrub's answer by other means: the whole text is decoded at once, and
 * every piece of every form is looked for with memmem().
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

/* Is the text over within an escape? It is not read then. */
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

/* The character at p and the bytes that it takes; -1: a byte as it is. */
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

/* dst has room for n bytes. */
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

/* Is any piece of the form, of SCRUB_WINDOW characters, in the text? */
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
