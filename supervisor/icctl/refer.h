/* SPDX-License-Identifier: ISC */
/*
 * Names that are kept for later, in a job or a persona: of an agent, a policy,
 * a profile or a persona. They are checked when they are given, because nobody
 * may be there when they are used.
 */
#ifndef ICCTL_REFER_H
#define ICCTL_REFER_H

#include <limits.h>

#include "base/names.h"
#include "icctl/icctl.h"

/*
 * Check the value of a member of job.json or persona.json. `key` is the
 * member's name; what is none of those above is not looked at. A policy that
 * is a path becomes an absolute one, in `real`, because it is used in another
 * directory. Returns what to keep, which is `value` or `real`, or NULL after it
 * said which names there are.
 */
const char *refer_check(const struct icctl *, const char *key,
    const char *value, char real[PATH_MAX]);
/* Returns false, after it said which ones there are, if there is no persona. */
bool refer_persona(const struct icctl *, const char *name);
/* Read the names of all personas, in order; names_free() frees them. */
void refer_personas(struct names *, const struct icctl *);

#endif
