/* SPDX-License-Identifier: ISC */
/* Files of the user's that the agent gets in its home. */
#ifndef HOME_FILES_H
#define HOME_FILES_H

#include "base/fault.h"

/*
 * Copy what the adapter's "homeFiles" names, if it exists, from the user's home
 * to the agent's. Links are followed where home_follow() allows it. Other links,
 * files that may hold a credential and files that are too large are left out,
 * with a warning. Returns 0, or -1 with the fault set.
 */
int home_take_files(struct fault *);

#endif
