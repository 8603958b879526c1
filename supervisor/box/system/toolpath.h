/* SPDX-License-Identifier: ISC */
/* PATH of the agent, and the toolchains of the user's home that it sees. */
#ifndef SYSTEM_TOOLPATH_H
#define SYSTEM_TOOLPATH_H

#include <stddef.h>

#include "base/fault.h"
#include "box/locate.h"

#define TOOLPATH_HOME "/home/agent"
/*
 * Programs that an agent installs for all projects lie here. pnpm has a
 * variable for it, and node-proxy.cjs tells npm.
 */
#define TOOLPATH_PNPM TOOLPATH_HOME "/.local/share/pnpm"
#define TOOLPATH_GLOBAL                                                        \
	TOOLPATH_HOME "/.npm-global/bin:" TOOLPATH_PNPM ":" TOOLPATH_HOME      \
		      "/.local/share/pnpm/bin"

/*
 * Compose PATH=...: our own programs, the user's directories that the sandbox
 * sees, in the user's order, then the system's, and those of the agent's
 * program, which may be NULL. Warns, by name, of directories in the user's PATH
 * that the sandbox does not see. Returns NULL with errno set on failure.
 */
char *toolpath(const struct program *);
/*
 * Append variables that lead managers of toolchains to what is shown to
 * env[*n], of which there are at most `max`. Returns 0, or -1 with the fault
 * set.
 */
int toolpath_environment(char **env, size_t *n, size_t max, struct fault *);

#endif
