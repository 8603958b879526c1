/* SPDX-License-Identifier: ISC */
/*
 * A line editor: bytes of a terminal in raw mode become a message, which may
 * have several lines.  It draws, but never reads or writes itself.
 */
#ifndef EDIT_H
#define EDIT_H

#include "common/buf.h"

#define EDIT_MAX	(1U << 20)
#define EDIT_HISTORY	100U
#define EDIT_PROMPT	2U	/* columns, also before later lines */

enum edit_got {
	EDIT_MORE,
	EDIT_DONE,	/* the text is a message */
	EDIT_CANCEL,	/* Ctrl-C */
	EDIT_END,	/* Ctrl-D, with no text */
};

struct edit {
	char *text;
	size_t len, room, at;	/* at: the cursor */
	char *old[EDIT_HISTORY]; /* earlier messages; the newest is the last */
	size_t nold, shown;	/* shown == nold: the text is new */
	bool escape;		/* an escape sequence has begun: */
	char sequence[16];
	size_t nsequence;
	bool paste;
	unsigned row;		/* the cursor's, as drawn */
};

void edit_free(struct edit *);
/* Begin an empty text. */
void edit_begin(struct edit *);
/*
 * Take one byte.  `more` says that others came with it: a newline is then a
 * part of what was pasted.
 */
enum edit_got edit_take(struct edit *, uint8_t byte, bool more);
/* Remember a message. */
void edit_remember(struct edit *, const char *text);
/*
 * Append what draws the prompt, the text and the cursor in `columns`, over what
 * was drawn before.
 */
void edit_draw(struct edit *, unsigned columns, struct buf *out);
/* Append what moves the cursor below the text. */
void edit_leave(struct edit *, unsigned columns, struct buf *out);

#endif
