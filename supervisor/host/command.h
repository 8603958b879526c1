/* SPDX-License-Identifier: ISC */
/*
 * A command of the user's that a session runs on the host: the notify command,
 * and those that print a credential. It must run no code that an agent wrote,
 * whatever its arguments, variables and files lead to. So it runs in a mount
 * namespace without the agents' files (host/hidden.h); where that cannot be,
 * its arguments and variables are judged instead (host/reach.h).
 */
#ifndef HOST_COMMAND_H
#define HOST_COMMAND_H

#include "base/fault.h"
#include "files/config.h"
#include "host/program.h"

struct host_command {
	struct host_program program;
	struct config_command def; /* borrowed */
	bool hidden;               /* runs in a mount namespace */
	bool failed;               /* its first failure was reported */
};

/*
 * Resolve the command; messages call it `what`. Returns 0, or -1 with the
 * fault set; program.refused then says whether an agent could change what it
 * runs.
 */
int host_command_find(struct host_command *, const char *what,
    const struct config_command *, struct fault *);
/*
 * Resolve the notify command, or else the desktop's. Returns 0, also if there
 * is none, or -1 with the fault set if an agent could change what it runs.
 */
int host_command_notify(struct fault *);
/*
 * Start it with the argv and the descriptors of the spawn. Returns 0, or -1
 * with a fault that begins with `what`.
 */
int host_command_start(const struct host_command *, const char *what,
    const struct spawn *, struct spawned *, struct fault *);
/*
 * Write what to say of its first failure after its status: the variables that
 * it did not get and the line that gives it one, for the entry `where` of
 * config.json. Returns `dst`, which is "" if there is nothing to say, or not
 * for the first time.
 */
const char *host_command_lost(
    struct host_command *, const char *where, char *dst, size_t cap);
/*
 * Refuse an interpreter with its program's text among the words of a program
 * that runs without such a namespace, unless `shell`. Returns 0, or -1 with a
 * fault that begins with `what`.
 */
int host_command_inline(const struct host_program *, char *const *words,
    bool shell, const char *what, struct fault *);
/*
 * Set `*now` to the places that agents of this and of all other sessions can
 * write now. Returns 0, or -1 with the fault set.
 */
int host_places_now(struct places *now, struct fault *);

#endif
