/* SPDX-License-Identifier: ISC */
/*
 * Directories in a person's home where managers of toolchains and people keep
 * programs. "agentView" in config.json shows them to the agent.
 */
#ifndef FILES_TOOLCHAINS_H
#define FILES_TOOLCHAINS_H

#include <stdbool.h>
#include <stddef.h>

struct toolchain {
	const char *name; /* "nvm" */
	const char *dir;  /* below the home */
	/* The variable that names the directory to the manager, or NULL. */
	const char *variable;
	/* A place below the home that it needs as well; or NULL. */
	const char *also;
	/* A file of the home in which it finds a version; or NULL. */
	const char *choice;
};

/* Returns the nth, or NULL. */
const struct toolchain *toolchain_nth(size_t n);
/*
 * Write the path of its directory: what its variable says in the environment,
 * else below the home. Returns 0, or -1 if it is too long.
 */
int toolchain_path(
    const struct toolchain *, const char *user_home, char *dst, size_t cap);
/*
 * Do the same if that directory is there, and no link. Returns 0, or -1.
 */
int toolchain_found(
    const struct toolchain *, const char *user_home, char *dst, size_t cap);
/*
 * Write the directory that is to be shown for `path`, a directory in PATH, the
 * manager's if it belongs to one, which is returned; else itself.
 */
const struct toolchain *toolchain_of(
    const char *path, const char *user_home, char *dst, size_t cap);
/*
 * Returns true if the directory is the home, has it, or is one in which many
 * programs keep their files: too much to be shown for one of them.
 */
bool toolchain_wide(const char *dir, const char *user_home);

#endif
