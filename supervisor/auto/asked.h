/* SPDX-License-Identifier: ISC */
/*
 * Decides whether a message asks for a change of a thing, in words: an order of
 * its own, with its verb at the beginning of a clause and the thing where what is
 * changed stands. Only plain English of a small form is understood; everything
 * else, and every message that has a negation, a condition or a question, leaves
 * the change to the person. No memory, no state.
 */
#ifndef ASKED_H
#define ASKED_H

#include <stdbool.h>

#include "common/span.h"

#define ASKED_MAX_WORDS 200U

enum asked {
	ASKED_READ,	/* no change */
	ASKED_WRITE,
	ASKED_DELETE,
	ASKED_COMMIT,
	ASKED_SEND,
};

/*
 * Returns what the role of a thing demands of a message: a change, if there is
 * no such role.
 */
enum asked asked_of_role(struct span role);
/* Returns true if a word of the message is a name of the thing. */
typedef bool asked_names_fn(void *arg, struct span word);
/*
 * Returns NULL if the message asks for it, or the reason why it does not, for
 * people.
 */
const char *asked_check(
    struct span message, enum asked, asked_names_fn *, void *arg);
/*
 * runs_later.c: Returns true if a file of this path is run or obeyed later by a
 * program: a start file of a shell, a hook, a script, a build or CI file, or
 * anything in a directory for such files or with a hidden name.
 */
bool asked_runs_later(struct span path);

#endif
