/* SPDX-License-Identifier: ISC */
/*
 * A sandbox in which one git runs after the other. Its directories are those of
 * one view, as it is when a git runs and there is no sandbox; gits of other
 * views may use it, in a working directory of their own. A repository may do
 * there what it could in a sandbox for each git: nothing of what it answers is
 * believed.
 */
#ifndef REPO_BATCH_H
#define REPO_BATCH_H

#include "repo/git.h"

struct repo_batch;

/* Returns one for this view, which is borrowed, or NULL with errno set. */
struct repo_batch *repo_batch_new(const struct repo_view *);
/* End its sandbox. */
void repo_batch_free(struct repo_batch *);
/*
 * As repo_git(), in the sandbox of the view's batch, which is started if there
 * is none. After a failure the next call starts another one.
 */
int repo_batch_git(const struct repo_env *, const struct repo_view *,
    const char *const *words, struct span in, struct buf *out, struct fault *);
/*
 * As repo_batch_git(), of the second view and git of a flow; if that has a
 * first one, too, it writes into the other, and the status is that of the one
 * that failed. Nothing is counted on the way.
 */
int repo_batch_flow(const struct repo_env *, const struct repo_flow *,
    struct buf *out, struct fault *);

#endif
