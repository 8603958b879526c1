/* SPDX-License-Identifier: ISC */
/*
 * Watching for credentials on their way out.  Searched for are pieces of
 * SCRUB_WINDOW characters of the secret part of a key, as it is, in base64
 * and base64url at the three alignments, and in hex; the text is read with
 * JSON escapes and percent escapes undone and without line breaks.  Not found
 * is what is encoded otherwise: twice, in base32, in HTML entities, in UTF-16,
 * reversed, compressed, or spread so that no piece of that length is left.
 *
 * A body is fed piece by piece.  Of an end that could be the beginning of a
 * piece nothing is passed until it is decided, from SCRUB_HOLD characters on;
 * shorter ends pass at once, as ordinary text would otherwise wait.  So up to
 * SCRUB_HOLD - 1 characters of what is found, and up to SCRUB_WINDOW - 1 of
 * what is not, get out.
 *
 * Forms and tables are the credential too: they lie in secret memory of the
 * caller.
 */
#ifndef KEYD_SCRUB_H
#define KEYD_SCRUB_H

#include "common/span.h"

#define SCRUB_MIN	16U	/* shorter credentials are not searched for */
#define SCRUB_MAX	4096U
#define SCRUB_PART	2048U	/* of a secret part, so much is searched for */
#define SCRUB_WINDOW	20U	/* or the whole form, where that is shorter */
#define SCRUB_HOLD	8U
#define SCRUB_KEYS	3U
#define SCRUB_FORMS	7U	/* of one credential */
#define SCRUB_HELD_MAX	512U	/* bytes of text that SCRUB_WINDOW may take */

struct scrub_form {
	const uint8_t *p;
	size_t len;
};

struct scrub {
	struct scrub_form forms[SCRUB_KEYS * SCRUB_FORMS];
	size_t nforms;		/* 0: nothing is searched for */
	const uint8_t *text;	/* all forms, one after the other */
	size_t len;
	size_t step;		/* one of so many places is looked at */
	uint16_t *head;		/* by hash of four bytes: 1 + place in text */
	uint16_t *next;		/* of the place: the next with that hash */
	unsigned bits;		/* of the hash */
};

/* Of one body; all zero at its start. */
struct scrub_state {
	uint8_t tail[SCRUB_WINDOW];	/* characters that were read last */
	int32_t at[SCRUB_WINDOW];	/* where each began, from the end */
	unsigned ntail;
	uint8_t escape[6];		/* one that is not complete */
	unsigned nescape, breaks;
	uint8_t hold[2][SCRUB_HELD_MAX];	/* not passed on yet */
	size_t held;
	unsigned which;
};

/*
 * The part of a key that is secret: behind the prefix that it has in common
 * with one of these; of a JWT its signature; of a session token of AWS what
 * does not say where it is from.  The whole key where that is too short.
 */
struct span scrub_secret(struct span key, const struct span *prefixes,
    size_t n);
/* Bytes of secret memory that scrub_build needs for these secret parts. */
size_t scrub_size(const struct span *keys, size_t n);
/*
 * Lays forms and tables out in mem, which is aligned for uint16_t. -1 EINVAL:
 * more than SCRUB_KEYS, none, or one outside SCRUB_MIN and SCRUB_MAX; ENOSPC:
 * cap is short of scrub_size.
 */
int scrub_build(struct scrub *, const struct span *keys, size_t n,
    uint8_t *mem, size_t cap);

/* Does any piece lie in it? */
bool scrub_find(const struct scrub *, struct span);
/*
 * The next piece of a body. true: a piece of a key is complete, pass nothing
 * more. Else to be passed on: *before (in the state, until the next call),
 * then *pass (in `in`).
 */
bool scrub_feed(const struct scrub *, struct scrub_state *, struct span in,
    struct span *before, struct span *pass);
/* A message is over, the connection is not: the text that was held. */
struct span scrub_flush(struct scrub_state *);
/* The body is over: the text that was held. The state is as at the start. */
struct span scrub_end(struct scrub_state *);

#endif
