/* SPDX-License-Identifier: ISC */
/* Shared by `icctl diff` and `icctl pull`. */
#ifndef ICCTL_REPO_H
#define ICCTL_REPO_H

#include "icctl/icctl.h"
#include "repo/work.h"

/*
 * Find the session, which is in `word` if that is not NULL, and look at its
 * clone. Returns 0, or an exit status after the reason was printed.
 * repo_leave() must follow in both cases.
 */
int repo_enter(struct icctl *, const char *word, struct repo_work *);
void repo_leave(struct repo_work *);
/* Print why it cannot be done. Returns the exit status. */
int repo_failed(const struct fault *);
/* Returns the session's id. */
const char *repo_id(const struct icctl *);

#endif
