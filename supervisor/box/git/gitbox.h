/* SPDX-License-Identifier: ISC */
/*
 * git in servers' sandboxes. Repositories belong to the agent and can make git
 * run programs, so that icgit replaces git in the sandbox of every server,
 * whatever its name. A second icgit runs beside the git server, in the same
 * view but read-only; policyd asks it for the URLs of remotes.
 */
#ifndef GITBOX_H
#define GITBOX_H

#include "box/box.h"
#include "files/servers.h"

/* No configured server can have this name. */
#define GITBOX_REMOTES "git.remotes"

/* Returns true for the git server and for the icgit beside it. */
bool gitbox_wants(const struct server_def *);
/* Bind icgit over git. Must precede the server's own binds. */
void gitbox_bind(struct box *, const char *libexecdir);
/* Add icgit to the session's servers if there is a git server. */
int gitbox_prepare(struct fault *);
/*
 * Everything of the user's git configuration that sandboxes see, as ic-repo
 * has found and checked it. NULL: nothing.
 */
struct gitbox_user {
	/* configuration: who makes commits; for servers, with the files below
	 */
	char *identity;
	char *settings;   /* configuration for the agent, with the same */
	char *ignore;     /* patterns of files that git ignores everywhere */
	char *attributes; /* attributes of files everywhere */
};
extern struct gitbox_user gitbox_user;

#endif
