/* SPDX-License-Identifier: ISC */
/*
 * The git of git servers.  Repositories are the agent's and say what git shall
 * run; in the view of the server named "git", ours stands in git's place.
 * Beside it runs icgit in the same view, read-only, which policyd asks where
 * remotes lead.
 */
#ifndef GITBOX_H
#define GITBOX_H

#include "box.h"
#include "servers.h"

/* As no server of a configuration can be called. */
#define GITBOX_REMOTES "git.remotes"

/* Does git of ours belong into this server's view? */
bool gitbox_wants(const struct server_def *);
/* Puts it there, before what is the server's own. */
void gitbox_bind(struct box *, const char *libexecdir);
/* Adds icgit to the servers of the session, if there is a git server. */
int gitbox_prepare(struct fault *);

#endif
