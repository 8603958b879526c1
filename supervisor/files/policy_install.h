/* SPDX-License-Identifier: ISC */
/*
 * Puts the files of a policy in place as a set: all of them or none, whatever
 * fails, and wherever the process is killed. Beside them, "in-force" is a copy
 * of the files that were there, as long as others are being moved; who reads the
 * policy reads that copy (policydir_base()). It appears by one rename and goes
 * by one.
 */
#ifndef POLICY_INSTALL_H
#define POLICY_INSTALL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

struct policy_move {
	const char *name; /* below both directories; servers/S/... is possible */
	bool remove;	  /* instead of moving it */
};

/*
 * Move files from the directory `from` to `dir`, and remove others there.
 * Returns 0, or -1 with the fault set, and the policy is as before.
 */
int policy_install(const char *dir, const char *from,
    const struct policy_move *, size_t n, struct fault *);
/*
 * Put the files back that were there before an installation that did not end.
 * Returns 0, or -1 with the fault set; "in-force" is then still what is read.
 */
int policy_install_recover(const char *dir, struct fault *);

#endif
