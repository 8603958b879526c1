/* SPDX-License-Identifier: ISC */
/*
 * Copies the files that a Dockerfile of a workspace may use. An agent may have
 * written them, and may be exchanging them meanwhile: no symbolic link is
 * followed, and what is copied is what is shown, hashed and built.
 */
#ifndef ICCTL_IMAGE_CONTEXT_H
#define ICCTL_IMAGE_CONTEXT_H

#include "base/fault.h"
#include "common/buf.h"

#define CONTEXT_FILES 4096U
#define CONTEXT_BYTES ((uint64_t)256 << 20)
#define CONTEXT_DEPTH 32U

/*
 * Open a file or directory of the workspace, beneath it and through no link.
 * Returns the descriptor, or -1 with errno set.
 */
int context_open(int workspace, const char *path, uint64_t flags);
/*
 * Copy the directory `from` to the directory `to`, which is empty. Adds a line
 * for each file to `lines`, in an order that never changes: its hash and its
 * name. Returns 0, or -1 with the fault set.
 */
int context_copy(int from, int to, struct buf *lines, struct fault *);

#endif
