/* SPDX-License-Identifier: ISC */
/*
 * The answer to a batch request of git-lfs (git-lfs, "Batch API"): where
 * each object can be fetched. A server puts credentials into it, for others and
 * its own: Gitea repeats the one of the request. What the client gets is
 * composed anew, of names, sizes, addresses and times.
 */
#ifndef LFS_BATCH_H
#define LFS_BATCH_H

#include "common/buf.h"

#define LFS_MAX_OBJECTS 1000U
#define LFS_MAX_HREF 4096U
#define LFS_MAX_SAID 200U /* bytes of the server's reason */

/*
 * Compose the client's answer. An object that the server would rather be sent,
 * or that is not behind https, gets a reason in its place. Returns 0, or -1
 * with `*why`, a constant text.
 */
int lfs_batch(struct span answer, struct buf *out, const char **why);

#endif
