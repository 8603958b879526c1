/* SPDX-License-Identifier: ISC */
/*
 * A real credential on its way from where the user keeps it to keyd, as a
 * descriptor.  Only an environment variable passes through our memory, and is
 * overwritten where it stood.
 */
#ifndef CREDENTIAL_H
#define CREDENTIAL_H

#include "host/program.h"
#include "providers/providers.h"
#include "spawn.h"

struct credential {
	int fd;                 /* -1: none, or given away */
	struct spawned command; /* pid -1: none runs */
};

#define CREDENTIAL_INIT                                                        \
	{                                                                      \
		.fd = -1, .command = SPAWNED_INIT                              \
	}

struct credential_how {
	int workspace; /* O_PATH; a file in it is refused */
	const struct places *places;
	const struct host_program *command; /* for one that a command prints */
};

/* Returns true if a command is asked for it. */
bool credential_asks(const struct provider *);
bool credential_asks_config(const struct config_provider *);
/* Opens the provider's. -1 with what to do. */
int credential_open(struct credential *, const struct provider *,
    const struct credential_how *, struct fault *);
/* As config.json says, at `where` in it; not a login. */
int credential_open_config(struct credential *, const struct config_provider *,
    const char *where, const struct credential_how *, struct fault *);
/* May it be opened again whenever keyd asks for it? */
bool credential_again(const struct provider *);
/* The same of this one file, whatever the configuration says. */
int credential_open_file(
    struct credential *, const char *path, int workspace, struct fault *);
/* The same of a pipe that holds it. Takes fd, also when it fails. */
int credential_open_pipe(struct credential *, int fd, struct fault *);
/* Ends a command that still runs; closes. */
void credential_close(struct credential *);
/*
 * Overwrites, in place, the usual variables of all providers that we know:
 * whether used or not, nothing that we start inherits one.
 */
void credential_wipe(const struct paths *, const struct config *);

#endif
