/* SPDX-License-Identifier: ISC */
/*
 * Decodes the bodies that an agent sends compressed, before anything inspects
 * them. Both the size and the ratio of output to input are limited, so that a
 * small body never costs much. A body is exactly one gzip member or zstd frame:
 * bytes that follow are an error, since other readers may take them for more
 * text or ignore them.
 */
#ifndef DECODE_H
#define DECODE_H

#include "common/span.h"

#define DECODE_RATIO 200U /* output bytes allowed for each input byte ... */
#define DECODE_FREE (256U << 10) /* ... and this many in addition */
#define DECODE_WINDOW 23         /* largest zstd window, as a power of two */

enum decode_coding {
	DECODE_IDENTITY,
	DECODE_GZIP,
	DECODE_ZSTD
};

enum decode_result {
	DECODE_OK,
	DECODE_BAD,   /* wrong coding, truncated, or trailing bytes */
	DECODE_LARGE, /* over the maximum or the ratio */
	DECODE_FULL,  /* put() failed */
	DECODE_NOMEM,
};

/* Map a Content-Encoding to its coding. Returns -1 if it is none of these. */
int decode_find(struct span);
/*
 * Decode all of `in` and pass it to put() in pieces, `max` bytes at most. put()
 * returns 0, or -1 to stop.
 */
enum decode_result decode_body(enum decode_coding, struct span in, uint64_t max,
    int (*put)(void *, struct span), void *arg);

#endif
