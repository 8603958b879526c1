/* SPDX-License-Identifier: ISC */
/*
 * Splits a byte stream that arrives in pieces into lines.  Each byte is
 * searched for a newline only once, however small the pieces are.
 */
#ifndef LINES_H
#define LINES_H

#include "common/buf.h"

/* The most bytes that one read takes. */
#define LINES_READ ((size_t)64 << 10)

struct lines {
	struct buf in;
	size_t pos;  /* after the last line taken */
	size_t seen; /* no newline between pos and here */
	size_t max;  /* longest line, without newline */
	size_t over; /* bytes of an over-long line already returned */
};

enum lines_got {
	LINES_MORE, /* no complete line yet */
	LINES_ONE,
	LINES_LONG,	/* part of an over-long line; more follows */
	LINES_LONG_END, /* its last part, which may be empty */
};

void lines_init(struct lines *, size_t max);
void lines_free(struct lines *);
/*
 * Returns room for LINES_READ bytes; report with lines_filled() how many were
 * used.
 */
uint8_t *lines_room(struct lines *);
void lines_filled(struct lines *, size_t n);
/*
 * Returns the next line, or part of an over-long one; it is valid until
 * lines_done() or lines_room().
 */
enum lines_got lines_next(struct lines *, struct span *);
/* Put the line just taken back, to be the next one again. */
void lines_again(struct lines *, struct span);
/* Drop the lines taken.  Call after the last lines_next() of a turn. */
void lines_done(struct lines *);
/* Returns the number of bytes of an incomplete line. */
size_t lines_rest(const struct lines *);

#endif
