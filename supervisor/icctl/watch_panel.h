/* SPDX-License-Identifier: ISC */
/*
 * The pending call that keys are for, on a terminal that scrolls.  An approval
 * counts only for what a person can have seen: the call is shown whole, page
 * by page where it is longer than the screen, it has stood there unchanged for
 * a second, and it has not scrolled away since.
 */
#ifndef ICCTL_WATCH_PANEL_H
#define ICCTL_WATCH_PANEL_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct watch_panel {
	char *text;      /* of the call */
	size_t len, off; /* shown up to here */
	bool complete;   /* every value with a role is in it */
	unsigned rows;   /* that its latest page takes, and below it */
	unsigned below;
	uint64_t since; /* ms: when it was drawn */
	char armed;     /* the first of two keys, or NUL */
	/* What is printed meanwhile, to be counted. */
	FILE *real;
	char *caught;
	size_t ncaught, drawn;
	bool drew;
};

/* Everything that is printed between these two is counted. */
void panel_begin(struct watch_panel *);
void panel_end(struct watch_panel *);
/* Show the hold from its beginning; `paged`: no more than fits the screen. */
void panel_draw(struct watch_panel *, json_object *hold, bool paged);
/* Show the next page, if there is one. */
void panel_page(struct watch_panel *);
/* Nothing is shown. */
void panel_clear(struct watch_panel *);
/* Is there more of it than was shown? */
bool panel_more(const struct watch_panel *);
/* Is its latest page still on the screen? */
bool panel_visible(const struct watch_panel *);
/* Has it stood there for a second? */
bool panel_stood(const struct watch_panel *);

#endif
