/* SPDX-License-Identifier: ISC */
/*
 * Rows of the HTTP/1.1 tables, and memory of an exact size, so that a sanitizer
 * detects a read past its end.
 */
#ifndef HTTP1_ROWS_H
#define HTTP1_ROWS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct row {
	const char *text;
	size_t len;
	const char *want;
	char kind; /* R; N: answers a HEAD; T: chunks of a response */
};

#define ROW(t, w, k)                                                           \
	{                                                                      \
		(t), sizeof(t) - 1, (w), (k)                                   \
	}
#define R(t, w) ROW(t, w, 'R')
#define N(t, w) ROW(t, w, 'N')
#define T(t, w) ROW(t, w, 'T')

#define COUNT(a) nitems(a)

/* Returns a copy in memory of exactly that size. */
static inline uint8_t *
exact(const void *p, size_t len)
{
	uint8_t *copy;

	if ((copy = malloc(len == 0 ? 1 : len)) == NULL)
		abort();
	if (len != 0)
		memcpy(copy, p, len);
	return copy;
}

#endif
