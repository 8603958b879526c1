/* SPDX-License-Identifier: ISC */
/*
 * A real credential on its way from the user's storage to keyd, as a
 * descriptor. Only an environment variable passes through our memory, and is
 * then overwritten in place.
 */
#ifndef CREDENTIAL_H
#define CREDENTIAL_H

#include "base/spawn.h"
#include "files/providers/providers.h"
#include "host/command.h"

struct credential {
	int fd;                 /* -1: none, or already passed on */
	struct spawned command; /* pid -1: none is running */
};

#define CREDENTIAL_INIT                                                        \
	{                                                                      \
		.fd = -1, .command = SPAWNED_INIT                              \
	}

struct credential_how {
	int workspace; /* O_PATH; a file below it is refused */
	const struct host_command *command; /* prints the credential */
};

/* Returns true if the credential comes from a command. */
bool credential_asks(const struct provider *);
bool credential_asks_config(const struct config_provider *);
/*
 * Open the provider's credential. Returns 0, or -1 with a fault that says what
 * to do.
 */
int credential_open(struct credential *, const struct provider *,
    const struct credential_how *, struct fault *);
/* Open what config.json names at `where`, which is not a login. */
int credential_open_config(struct credential *, const struct config_provider *,
    const char *where, const struct credential_how *, struct fault *);
/* Returns true if it may be opened again whenever keyd asks for it. */
bool credential_again(const struct provider *);
/* Open this file, whatever the configuration says. */
int credential_open_file(
    struct credential *, const char *path, int workspace, struct fault *);
/* Use a pipe that holds the credential. Takes `fd`, even on failure. */
int credential_open_pipe(struct credential *, int fd, struct fault *);
/*
 * Overwrite, in place, the usual variables of all known providers, whether they
 * are used or not, so that no child process inherits one.
 */
void credential_wipe(const struct paths *, const struct config *);

#endif
