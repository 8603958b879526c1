/* SPDX-License-Identifier: ISC */
/*
 * A sandbox in which one git runs after the other, for one view. Its directories
 * are those that the view has when the first git runs. A repository may do
 * there what it could in a sandbox for each git: the view is the same, and
 * nothing of what it answers is believed.
 */
#ifndef REPO_BATCH_H
#define REPO_BATCH_H

#include "repo/git.h"

struct repo_batch;

/* Returns NULL with errno set. */
struct repo_batch *repo_batch_new(void);
/* End its sandbox. */
void repo_batch_free(struct repo_batch *);
/*
 * As repo_git(), in the sandbox of the view's batch, which is started if there
 * is none. After a failure the next call starts another one.
 */
int repo_batch_git(const struct repo_env *, const struct repo_view *,
    const char *const *words, struct span in, struct buf *out, struct fault *);

#endif
