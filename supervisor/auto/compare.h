/* SPDX-License-Identifier: ISC */
/*
 * Has ic-mention compare a call with the person's message (mention.h). The
 * values of a call are the agent's words: ic-mention is started for one call,
 * is confined before it reads them, and ends. icsupervisor and it include this
 * file.
 */
#ifndef COMPARE_H
#define COMPARE_H

#include "auto/mention.h"
#include "base/fault.h"
#include "common/ipc/proto.h"

#define COMPARE_PROGRAM "ic-mention"
#define COMPARE_JOB 65536U /* bytes of all that it is told */

enum compare_report {
	/* to ic-mention: the message and the home, then each thing */
	COMPARE_SAID = 's',
	COMPARE_HOME = 'h',
	COMPARE_ROLE = 'r', /* begins a thing */
	COMPARE_VALUE = 'v',
	COMPARE_HOST = 'p',
	COMPARE_PROGRAM_THERE = 'x',
	/* from it: one of these */
	COMPARE_WHY = 'w',  /* why a person must decide */
	COMPARE_NAMED = 'n' /* a line about each thing */
};

/*
 * The comparison is over. `why` is NULL if the message names everything, with a
 * line about each thing in `lines`; or the reason why a person must decide.
 * Both are valid during the call.
 */
typedef void compare_fn(const char *why, const char *lines);

/*
 * Begin to compare, with one comparison at a time; nothing is kept of the
 * things. Returns 0, or -1 with the fault set.
 */
int compare_begin(struct span said, const struct mention_thing *, size_t n,
    compare_fn *over, struct fault *);
/* Abandon the comparison, if there is one. */
void compare_end(void);

#endif
