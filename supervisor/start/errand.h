/* SPDX-License-Identifier: ISC */
/*
 * Errands of ic-repo (repo/errand.h): what it is told of the session, and the
 * reports that every errand can hand back.
 */
#ifndef START_ERRAND_H
#define START_ERRAND_H

#include "base/helper.h"
#include "repo/errand.h"

/*
 * Fill in a helper for a task, whose reports `take` gets as helper.h says; and
 * its job. errand_end() must follow in every case. Returns 0, or -1 with the
 * fault set.
 */
int errand_begin(struct helper *, const char *task,
    int (*take)(int letter, const char *text, struct fault *), struct fault *);
void errand_end(struct helper *);
/* The helper has its job: forget the texts, and let it run. */
void errand_told(void);
/* Add a text to the job, unless it is NULL. */
void errand_tell(enum errand_told, const char *text);
/* Add the hosts of config.json that have a git destination. */
void errand_destinations(void);

/*
 * Take a line for the person, a line for session.log, or a failure. Returns as
 * helper.h says.
 */
int errand_take(int letter, const char *text, struct fault *);

#endif
