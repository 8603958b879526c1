/* SPDX-License-Identifier: ISC */
/*
 * Watching for credentials on their way out: raw, base64 and base64url at
 * their three alignments, hex, and as a URL or JSON string would write it.
 * The forms are the credential too: they lie in secret memory of the caller.
 *
 * A body is fed piece by piece; the state between two pieces is which form
 * the end could be the beginning of, and how long.  Of such an end at least
 * SCRUB_HOLD bytes long nothing is passed until it is decided; shorter ones
 * pass at once, as ordinary text would otherwise wait.  So no more than
 * SCRUB_HOLD - 1 bytes of a form ever get out.
 */
#ifndef KEYD_SCRUB_H
#define KEYD_SCRUB_H

#include "common/span.h"

#define SCRUB_MIN	16U	/* shorter credentials are not searched for */
#define SCRUB_MAX	4096U
#define SCRUB_HOLD	8U
#define SCRUB_KEYS	3U
#define SCRUB_FORMS	15U	/* of one credential */
#define SCRUB_TABLE	4096U

struct scrub_form {
	const uint8_t *p;
	size_t len;
};

struct scrub {
	struct scrub_form forms[SCRUB_KEYS * SCRUB_FORMS];
	size_t nforms;		/* 0: nothing is searched for */
	size_t window;		/* leading bytes of each form in `shift` */
	size_t longest;
	uint8_t *shift;		/* SCRUB_TABLE, by hash of four bytes */
	uint8_t *first;		/* 256: may a form begin with this byte */
	uint8_t *seam;		/* 2 * longest */
};

/* Of one body; all zero at its start. */
struct scrub_state {
	uint16_t form;
	uint16_t len;		/* of the form's beginning seen */
	uint16_t held;		/* its last bytes, not passed on yet */
};

/* Bytes of secret memory that scrub_build needs for these credentials. */
size_t scrub_size(const struct span *keys, size_t n);
/*
 * Lays forms and tables out in mem. -1 EINVAL: more than SCRUB_KEYS, none, or
 * one outside SCRUB_MIN and SCRUB_MAX; ENOSPC: cap is short of scrub_size.
 */
int scrub_build(struct scrub *, const struct span *keys, size_t n,
    uint8_t *mem, size_t cap);

/* Does any form lie in it? */
bool scrub_find(const struct scrub *, struct span);
/*
 * The next piece of a body. true: a form is complete, pass nothing more.
 * Else to be passed on: *before (in secret memory), then *pass (in `in`).
 */
bool scrub_feed(const struct scrub *, struct scrub_state *, struct span in,
    struct span *before, struct span *pass);
/* The body is over: what was held. */
struct span scrub_end(const struct scrub *, struct scrub_state *);

#endif
