/* SPDX-License-Identifier: ISC */
/*
 * What a session knows of the host's programs: the places that the agent can
 * write, PATH without them, and the programs themselves, resolved once.
 */
#ifndef HOST_H
#define HOST_H

#include "host/program.h"

struct view;

struct host {
	struct places places;
	char *path; /* PATH without what the agent can write; may be "" */
	struct host_program notify, git;
};

/* Knows the workspace and the session directory. Warns about PATH. */
int host_begin(struct fault *);
/* A server's view is complete: adds what it holds writable. */
int host_add_view(const struct view *, struct fault *);
/* All views are known: judges PATH again, then resolves the programs. */
int host_resolve(struct fault *);
/* Refuses sockets of the host in the workspace, unless they are allowed. */
int host_refuse_sockets(struct fault *);
/* Resolves one more, for `what` in messages. */
int host_find(
    struct host_program *, const char *what, const char *name, struct fault *);

#endif
