/* SPDX-License-Identifier: ISC */
/*
 * Decodes the text to be searched for keys as its reader would: without escapes
 * of JSON and URLs and without line breaks, and with - and _ as + and /.
 */
#ifndef KEYD_SCRUB_TEXT_H
#define KEYD_SCRUB_TEXT_H

#include "keyd/scrub.h"

#define SCRUB_BLOCK 4096U

/* Decoded characters, each with the offset at which it began. */
struct scrub_block {
	uint8_t c[SCRUB_WINDOW + SCRUB_BLOCK + 8];
	int32_t at[SCRUB_WINDOW + SCRUB_BLOCK + 8];
	size_t n;
};

/* Fold base64url to base64, in text and forms. */
static inline uint8_t
scrub_fold(uint8_t c)
{
	return c == '-' ? '+' : c == '_' ? '/' : c;
}

/*
 * Decode until the block is full; `in` begins at offset `base`. Returns the
 * number of bytes used.
 */
size_t scrub_decode(
    struct scrub_state *, struct scrub_block *, struct span in, int32_t base);

#endif
