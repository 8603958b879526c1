/* SPDX-License-Identifier: ISC */
/*
 * Bodies that an agent sends compressed, decoded before anything looks at
 * them.  Bounded twice: in size, and in the ratio of output to input, so that
 * a small body never costs much.  Exactly one gzip member or zstd frame makes
 * a body; what follows it is an error, since another reader may take it for
 * more of the text, or for nothing.
 */
#ifndef DECODE_H
#define DECODE_H

#include "common/span.h"

#define DECODE_RATIO 200U        /* output bytes for each byte of input ... */
#define DECODE_FREE (256U << 10) /* ... beyond so many */
#define DECODE_WINDOW 23         /* log2: what zstd may ask for */

enum decode_coding {
	DECODE_IDENTITY,
	DECODE_GZIP,
	DECODE_ZSTD
};

enum decode_result {
	DECODE_OK,
	DECODE_BAD,   /* not of that coding, cut short, or something follows */
	DECODE_LARGE, /* over the maximum or the ratio */
	DECODE_FULL,  /* put failed */
	DECODE_NOMEM,
};

/* Of a Content-Encoding: the coding, or -1 when it is none of these. */
int decode_find(struct span);
/* All of in, in pieces, to put (0, or -1 to stop); max bytes in all. */
enum decode_result decode_body(enum decode_coding, struct span in, uint64_t max,
    int (*put)(void *, struct span), void *arg);

#endif
