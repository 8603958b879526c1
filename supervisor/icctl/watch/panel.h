/* SPDX-License-Identifier: ISC */
/*
 * The pending call that keys apply to, on a terminal that scrolls. An approval
 * counts only for a call that the person can have seen: it was shown in full
 * (page by page if it is longer than the screen), has been there unchanged for
 * a second, and has not scrolled away since.
 */
#ifndef WATCH_PANEL_H
#define WATCH_PANEL_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <termios.h>

#include "base/signed.h"

struct icctl;

struct watch_panel {
	char *text;      /* the text of the call */
	size_t len, off; /* shown up to `off` */
	bool complete;   /* nothing of the call is left out of the text */
	bool full;       /* no text in it is cut */
	unsigned rows;   /* rows of its latest page, and printed below it */
	unsigned below;
	uint64_t since; /* ms, when it was drawn */
	char armed;     /* the first of two keys, or NUL */
	/* Output is caught here to be counted. */
	FILE *real;
	char *caught;
	size_t ncaught, drawn;
	bool drew;
};

/* Count everything that is printed between these two calls. */
void panel_begin(struct watch_panel *);
void panel_end(struct watch_panel *);
/*
 * Show the call from its beginning; if `paged`, only as much as fits the
 * screen. If `full`, no text is cut.
 */
void panel_draw(struct watch_panel *, json_object *hold, bool paged, bool full);
/* Show the next page, if there is one. */
void panel_page(struct watch_panel *);
/* Forget the call that was shown. */
void panel_clear(struct watch_panel *);
/*
 * always.c: Let the person make a rule of the call; `lines` are the
 * terminal's settings for typing a line.
 */
void panel_always(struct watch_panel *, const struct icctl *, const char *id,
    const struct termios *lines);
/*
 * always.c: Have the person sign the call. Returns true with the signature; the
 * caller has printed below the call then.
 */
bool panel_sign(struct watch_panel *, json_object *hold,
    char entries[SIGNED_ENTRIES + 1], const struct termios *lines);
/* always.c: Undo the last turn, after the person has seen the plan. */
void panel_undo(
    struct watch_panel *, const struct icctl *, const struct termios *lines);
/* Returns true if part of the call was not shown yet. */
bool panel_more(const struct watch_panel *);
/* Returns true if the latest page is still on the screen. */
bool panel_visible(const struct watch_panel *);
/* Returns true if the call has been on the screen for a second. */
bool panel_stood(const struct watch_panel *);

#endif
