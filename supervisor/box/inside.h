/* SPDX-License-Identifier: ISC */
/* The workspace's path in the sandbox. */
#ifndef BOX_INSIDE_H
#define BOX_INSIDE_H

#include "base/fault.h"

/* In every sandbox the workspace is here, whatever its other path is. */
#define INSIDE_WORKSPACE "/workspace"

/*
 * Set sup.inside, as --workspace-path says. Returns 0, or -1 with the fault set
 * if the sandbox has something else at that path.
 */
int inside_choose(struct fault *);

#endif
