/* SPDX-License-Identifier: ISC */
/* Finds the directory of the policy files for a session or for icctl. */
#ifndef POLICYDIR_H
#define POLICYDIR_H

#include "config/fault.h"

/*
 * Find a policy. `what` is NULL (home/policy, else home/generated, else the
 * shipped default), "default", a name (home/policies/NAME, else the shipped
 * policy of that name), or a directory with a slash in it. The caller frees the
 * result. Returns NULL with the fault set.
 */
char *policydir_find(
    const char *home, const char *shipped, const char *what, struct fault *);

#endif
