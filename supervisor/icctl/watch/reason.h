/* SPDX-License-Identifier: ISC */
/*
 * The line in which a person types why a call is denied, or what a server's
 * question is answered. Output may come above
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
	bool answer;	/* to a question */
	char form[200]; /* then how it is written */
};

enum watch_reason_end {
	REASON_MORE, /* it goes on */
	REASON_DONE, /* Enter */
	REASON_NOT,  /* Esc, or Ctrl-C */
};

void reason_begin(struct watch_reason *, const char *id);
/* Begin with the answer to a question, which is written so. */
void reason_answer(
    struct watch_reason *, const char *id, const char *form);
/* Print the line again, below what came meanwhile. */
void reason_show(const struct watch_reason *);
enum watch_reason_end reason_key(struct watch_reason *, char key);

#endif
