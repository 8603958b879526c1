/* SPDX-License-Identifier: ISC */
/*
 * Breaks the addresses of images in text that an editor shows as Markdown: an
 * editor that loads them would carry data out of a sandbox without network. The
 * text may come in pieces. Where a reader of Markdown could see an image and
 * this one is not sure, there is one for it; what is broken can still be read,
 * with a mark of one character.
 */
#ifndef ACP_IMAGES_H
#define ACP_IMAGES_H

#include <stdbool.h>

#include "common/span.h"

/* A text so far. All 0: at its beginning. */
struct acp_images {
	bool image;     /* "![" was there, */
	bool here;      /* and in this paragraph */
	bool defined;   /* an address for a name was there */
	bool going;     /* this is not the beginning */
	uint8_t before; /* the last byte */
	uint8_t line;   /* enum images_line: it may begin this */
	bool blank;     /* the line has blanks only */
	bool closed;    /* the last byte is the "]" of "](" */
};

/*
 * Copy the next piece, of at most `len` bytes, to `dst`, which may be NULL and
 * has room for twice as many. Returns the length of the copy.
 */
size_t acp_images(struct acp_images *, struct span piece, uint8_t *dst);

#endif
