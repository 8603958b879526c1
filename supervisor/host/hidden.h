/* SPDX-License-Identifier: ISC */
/*
 * Starts a program of the host in a mount namespace, made by bubblewrap, that
 * shows everything but the places that agents can write: each is an empty
 * read-only directory there. Whatever the program's arguments, variables and
 * files say, it finds nothing of an agent's. It gets no rights by set-user-ID
 * programs in it.
 */
#ifndef HOST_HIDDEN_H
#define HOST_HIDDEN_H

#include "base/spawn.h"
#include "host/places.h"
#include "host/program.h"

struct hidden {
	const struct host_program *bwrap;
	const char *bridge; /* the path of ic-bridge, which executes it */
	const struct places *places;
	char *const *env; /* the program's */
};

/*
 * Start the program with the argv and the descriptors of the spawn; what it
 * says of program and environment is ignored. Returns 0, or -1 with errno set.
 */
int hidden_start(const struct hidden *, const struct host_program *,
    const struct spawn *, struct spawned *);

#endif
