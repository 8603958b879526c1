/* SPDX-License-Identifier: ISC */
/* icgit in the place of git, in one sandbox. */
#ifndef GITBIND_H
#define GITBIND_H

#include "box/box.h"
#include "mcp-proxyd/icgit/place.h"

/* The path of icgit in the sandbox. */
#define GITBIND_PROGRAM ICGIT_PROGRAM

/*
 * Bind icgit over git. Must precede the sandbox's own binds. `identity` is git
 * configuration, or "".
 */
void gitbind(struct box *, const char *libexecdir, const char *identity);

#endif
