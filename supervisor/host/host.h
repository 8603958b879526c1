/* SPDX-License-Identifier: ISC */
/*
 * The host programs of a session: the places that the agent can write, PATH
 * without them, and the programs themselves, resolved once.
 */
#ifndef HOST_H
#define HOST_H

#include "host/command.h"

struct view;

struct host {
	struct places places;
	char *path; /* PATH without places that the agent can write; may be
		       "" */
	struct host_program git;
	struct host_command notify;
	bool desktop; /* notify is notify-send(1), which nobody configured */
};

/* Add the workspace and the session directory. Warns about entries of PATH. */
int host_begin(struct fault *);
/* Add the writable places of a server's complete view. */
int host_add_view(const struct view *, struct fault *);
/* Check PATH again once all views are known, then resolve the programs. */
int host_resolve(struct fault *);
/* Refuse sockets of the host in the workspace, unless they are allowed. */
int host_refuse_sockets(struct fault *);
/* Resolve one more program; messages call it `what`. */
int host_find(
    struct host_program *, const char *what, const char *name, struct fault *);

#endif
