/* SPDX-License-Identifier: ISC */
/*
 * A host program that a session runs outside of every sandbox: the notify
 * command, commands that print a credential, bubblewrap. It is resolved once,
 * before any code of the agent has run, to a descriptor whose path the agent
 * cannot change, and that descriptor is executed.
 */
#ifndef HOST_PROGRAM_H
#define HOST_PROGRAM_H

#include "base/fault.h"
#include "base/spawn.h"
#include "host/places.h"

/* A script, the script that interprets it, ..., and finally a binary. */
#define HOST_MAX_FILES 4U

struct host_program {
	struct {
		int fd;
		char *name; /* argv[0] of an interpreter */
		char *arg;  /* the single argument after #!, or NULL */
	} files[HOST_MAX_FILES];
	unsigned nfiles; /* 0: not resolved */
	bool refused;    /* the agent could change it */
};

struct host_how {
	const struct places *places;
	const char *path;     /* directories to search, without the agent's */
	const char *path_env; /* the user's own PATH, for messages */
	const char *user_home;
};

/*
 * Resolve `name`: an absolute path, a path below ~/, or a plain name to search
 * for in PATH. Returns 0, or -1 with a fault that begins with `what` if there
 * is no such program, or if the agent could change it.
 */
int host_program_find(struct host_program *, const struct host_how *,
    const char *what, const char *name, struct fault *);
void host_program_free(struct host_program *);

/*
 * Returns the name of a place that a file of the program lies in by now, or
 * NULL: an agent of a session that began later may write there.
 */
const char *host_program_reached(
    const struct host_program *, const struct places *);
/*
 * Returns the argument vector for the program's binary, which the caller gives
 * to jsonfile_strings_free(), and appends the descriptors of scripts to `s`,
 * which has argv; or NULL with errno set.
 */
char **host_program_argv(const struct host_program *, struct spawn *s);
/*
 * Start the program in /, with the variables that every host program gets,
 * unless `s` has others. `s` also has argv and descriptors; its path is
 * ignored. A script adds its own descriptors after them. Returns 0, or -1 with
 * errno set.
 */
int host_program_start(const struct host_program *, const struct places *,
    const struct spawn *s, struct spawned *);

#endif
