/* SPDX-License-Identifier: ISC */
/*
 * The text that is searched for keys, as a reader would have it: escapes of
 * JSON and URLs undone, without line breaks, - and _ as + and /.
 */
#ifndef KEYD_SCRUB_TEXT_H
#define KEYD_SCRUB_TEXT_H

#include "keyd/scrub.h"

#define SCRUB_BLOCK 4096U

/* Where decoded characters go: a block, each with the place it began at. */
struct scrub_block {
	uint8_t c[SCRUB_WINDOW + SCRUB_BLOCK + 8];
	int32_t at[SCRUB_WINDOW + SCRUB_BLOCK + 8];
	size_t n;
};

/* base64url is base64: in text and forms, - is + and _ is /. */
static inline uint8_t
scrub_fold(uint8_t c)
{
	return c == '-' ? '+' : c == '_' ? '/' : c;
}

/*
 * Decodes until the block is full; `in` begins at the place `base`. Returns
 * the bytes of `in` that were taken.
 */
size_t scrub_decode(struct scrub_state *, struct scrub_block *, struct span in,
    int32_t base);

#endif
