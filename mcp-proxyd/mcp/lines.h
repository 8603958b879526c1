/* SPDX-License-Identifier: ISC */
/*
 * Lines out of a byte stream that comes in pieces.  Each byte is searched for
 * a newline once, however small the pieces are.
 */
#ifndef LINES_H
#define LINES_H

#include "common/buf.h"

/* What one read takes at most. */
#define LINES_READ ((size_t)64 << 10)

struct lines {
	struct buf in;
	size_t pos;  /* behind the last line taken */
	size_t seen; /* no newline between pos and here */
	size_t max;  /* longest line, without its newline */
	size_t over; /* bytes of an over-long line that were given away */
};

enum lines_got {
	LINES_MORE, /* no whole line is there */
	LINES_ONE,
	LINES_LONG,	/* a part of one that is over-long: more comes */
	LINES_LONG_END, /* its last part, which may be empty */
};

void lines_init(struct lines *, size_t max);
void lines_free(struct lines *);
/* Room for LINES_READ bytes, which lines_filled says how much of was used. */
uint8_t *lines_room(struct lines *);
void lines_filled(struct lines *, size_t n);
/* The next line, or part of one that is over-long; it dies at lines_done or lines_room. */
enum lines_got lines_next(struct lines *, struct span *);
/* The line just taken will be the next one again. */
void lines_again(struct lines *, struct span);
/* Forgets the lines taken. After the last lines_next of a turn. */
void lines_done(struct lines *);
/* Bytes of a line whose end has not come. */
size_t lines_rest(const struct lines *);

#endif
