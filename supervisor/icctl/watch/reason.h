/* SPDX-License-Identifier: ISC */
/*
 * The line in which a person types why a call is denied. Output may come above
 * it meanwhile, and the call may end: the keys stay this line's until Enter or
 * Esc, so that no letter of a reason is ever a command.
 */
#ifndef WATCH_REASON_H
#define WATCH_REASON_H

#include <stdbool.h>
#include <stddef.h>

#define REASON_MAX 500U /* bytes, as icctl deny --because takes */

struct watch_reason {
	char id[33]; /* the call's; "" while no reason is typed */
	char text[REASON_MAX + 1];
	size_t len;
};

enum watch_reason_end {
	REASON_MORE, /* it goes on */
	REASON_DENY, /* Enter */
	REASON_NOT,  /* Esc, or Ctrl-C */
};

void reason_begin(struct watch_reason *, const char *id);
/* Print the line again, below what came meanwhile. */
void reason_show(const struct watch_reason *);
enum watch_reason_end reason_key(struct watch_reason *, char key);

#endif
