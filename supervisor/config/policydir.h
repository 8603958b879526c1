/* SPDX-License-Identifier: ISC */
/* Which directory the policy files of a session or a question come from. */
#ifndef POLICYDIR_H
#define POLICYDIR_H

#include "config/fault.h"

/*
 * what: NULL: home/policy, else home/generated, else the shipped default;
 * "default"; a name: home/policies/NAME, else the shipped one of that name;
 * with a slash: that directory.  Fresh memory; NULL with *fault.
 */
char *policydir_find(
    const char *home, const char *shipped, const char *what, struct fault *);

#endif
