/* SPDX-License-Identifier: ISC */
/*
 * A program of the host that a session runs outside of every sandbox: the
 * notify command, commands that print a credential, bubblewrap.  It is resolved
 * once, before anything of the agent has run, to a descriptor whose path the
 * agent cannot change, and that descriptor is what is executed.
 */
#ifndef HOST_PROGRAM_H
#define HOST_PROGRAM_H

#include "config/fault.h"
#include "host/places.h"
#include "spawn.h"

/* A script, the script that interprets it, ..., and a binary at last. */
#define HOST_MAX_FILES 4U

struct host_program {
	struct {
		int fd;
		char *name; /* argv[0] of an interpreter */
		char *arg;  /* the one argument after #!, or NULL */
	} files[HOST_MAX_FILES];
	unsigned nfiles; /* 0: not resolved */
	bool refused;    /* the agent could change it */
};

struct host_how {
	const struct places *places;
	const char *path;     /* directories to search, cleaned */
	const char *path_env; /* the same, as the user has them, for messages */
	const char *user_home;
};

/*
 * Resolves `name`: an absolute path, one below ~/, or a plain name to be found
 * in PATH.  -1 with a fault that begins with `what` if there is no such
 * program, or the agent could change it.
 */
int host_program_find(struct host_program *, const struct host_how *,
    const char *what, const char *name, struct fault *);
void host_program_free(struct host_program *);

/*
 * Starts it in / with a cleaned copy of our environment, unless the caller has
 * set another one.  `s` holds what else the caller wants: argv, descriptors;
 * path is not used.  A script adds descriptors of its own behind them.
 */
int host_program_start(const struct host_program *, const struct places *,
    const struct spawn *s, struct spawned *);

#endif
