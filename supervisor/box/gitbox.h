/* SPDX-License-Identifier: ISC */
/*
 * The git of servers.  Repositories are the agent's and say what git shall
 * run; in every sandbox, whatever its server is called, ours stands in git's
 * place.  Beside the git server runs icgit in the same view, read-only, which
 * policyd asks where remotes lead.
 */
#ifndef GITBOX_H
#define GITBOX_H

#include "box/box.h"
#include "config/servers.h"

/* As no server of a configuration can be called. */
#define GITBOX_REMOTES "git.remotes"

/* Is it the git server, or icgit beside it? */
bool gitbox_wants(const struct server_def *);
/* Puts it there, before what is the server's own. */
void gitbox_bind(struct box *, const char *libexecdir);
/* Adds icgit to the servers of the session, if there is a git server. */
int gitbox_prepare(struct fault *);
/*
 * The user's name and e-mail address as git configuration, or "" if they are
 * not both set.  Nothing else of the user's own git configuration is shown to
 * an agent or a server.
 */
const char *gitbox_identity(void);

#endif
