/* SPDX-License-Identifier: ISC */
/*
 * Searches answers for credentials. The patterns are pieces of SCRUB_WINDOW
 * characters of the secret part of a key: as it is, in base64 and base64url at
 * the three alignments, and in hex. The text is searched with JSON escapes and
 * percent escapes decoded and without line breaks. Other encodings are not
 * found: twice encoded, base32, HTML entities, UTF-16, reversed, compressed, or
 * split so that no piece of that length remains.
 *
 * A body is fed piece by piece. If the last SCRUB_HOLD or more characters could
 * be the beginning of a match, they are held back until that is decided; fewer
 * pass at once, since ordinary text would otherwise wait. So up to SCRUB_HOLD -
 * 1 characters of a match, and up to SCRUB_WINDOW - 1 characters of a key that
 * is never completed, can get out.
 *
 * Forms and tables are as secret as the credential: they are in secret memory
 * of the caller.
 */
#ifndef KEYD_SCRUB_H
#define KEYD_SCRUB_H

#include "common/span.h"

#define SCRUB_MIN 16U /* shorter credentials are not searched for */
#define SCRUB_MAX 4096U
#define SCRUB_PART 2048U /* only so much of a secret part is searched for */
#define SCRUB_WINDOW 20U /* or the whole form, if that is shorter */
#define SCRUB_HOLD 8U
#define SCRUB_KEYS 3U
#define SCRUB_FORMS 7U /* forms of one credential */
/* bytes of text that encode SCRUB_WINDOW characters */
#define SCRUB_HELD_MAX 512U

struct scrub_form {
	const uint8_t *p;
	size_t len;
};

struct scrub {
	struct scrub_form forms[SCRUB_KEYS * SCRUB_FORMS];
	size_t nforms;       /* 0: search for nothing */
	const uint8_t *text; /* all forms, concatenated */
	size_t len;
	size_t step;    /* look up one of this many places */
	uint16_t *head; /* by hash of four bytes: place in `text` plus 1 */
	uint16_t *next; /* by place: the next place with the same hash */
	unsigned bits;  /* bits of the hash */
	uint8_t *marks; /* one bit for each longer hash that a piece has */
	unsigned mark_bits;
};

/* State of one body; all zero at its start. */
struct scrub_state {
	uint8_t tail[SCRUB_WINDOW]; /* the last characters read */
	int32_t at[SCRUB_WINDOW];   /* offset of each, relative to the end */
	unsigned ntail;
	uint8_t escape[6]; /* an incomplete escape */
	unsigned nescape, breaks;
	uint8_t hold[2][SCRUB_HELD_MAX]; /* bytes not yet passed on */
	size_t held;
	unsigned which;
};

/*
 * Returns the secret part of a key: after the prefix that it shares with one of
 * these; the signature of a JWT; a session token of AWS without the part that
 * names its origin. If that is too short, the whole key.
 */
struct span scrub_secret(
    struct span key, const struct span *prefixes, size_t n);
/*
 * Returns the bytes of secret memory that scrub_build() needs for these secret
 * parts.
 */
size_t scrub_size(const struct span *keys, size_t n);
/*
 * Lay out forms and tables in `mem`, which is aligned for uint16_t. Returns 0,
 * or -1 with EINVAL (no key, more than SCRUB_KEYS, or a length outside
 * SCRUB_MIN and SCRUB_MAX) or ENOSPC (`cap` is less than scrub_size()).
 */
int scrub_build(struct scrub *, const struct span *keys, size_t n, uint8_t *mem,
    size_t cap);

/* Returns true if the text contains a piece. */
bool scrub_find(const struct scrub *, struct span);
/*
 * Feed the next piece of a body. Returns true if a match is complete: pass
 * nothing more. Otherwise pass on `*before` (in the state, valid until the next
 * call) and then `*pass` (in `in`).
 */
bool scrub_feed(const struct scrub *, struct scrub_state *, struct span in,
    struct span *before, struct span *pass);
/*
 * End a message, but not the text being searched. Returns the text held back.
 */
struct span scrub_flush(struct scrub_state *);
/* End the body and reset the state. Returns the text held back. */
struct span scrub_end(struct scrub_state *);

#endif
