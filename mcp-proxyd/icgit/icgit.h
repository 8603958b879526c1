/* SPDX-License-Identifier: ISC */
/*
 * icgit: git made harmless in repositories that an agent writes.  Under the
 * name git it stands in the place of git in the view of every git server;
 * as icgit it is the MCP server that policyd asks where a remote leads.
 *
 * Three locks, from the weakest to the strongest.  Configuration: what git
 * would run by name is overridden on the command line, after all that the
 * repository says.  Landlock: from before git reads its first byte nothing but
 * git's own programs may be executed, a shell least of all; this holds also
 * for what changes under git's feet.  The view: no network, and nothing of the
 * user's but what the server may see anyway.
 */
#ifndef ICGIT_H
#define ICGIT_H

#include "mcp/mcp_stdio.h"

/* Where icsupervisor puts things in the view of a git server. */
#define ICGIT_DIR "/opt/ironcurtain/git"
#define ICGIT_REAL ICGIT_DIR "/git"
#define ICGIT_CONFIG ICGIT_DIR "/config" /* the user's name, if configured */

#define ICGIT_MAX_ARGS 4096U
#define ICGIT_MAX_NAMES ((size_t)1 << 20)
#define ICGIT_LIST_MS 10000U

/* A command line in the making; words are borrowed. */
struct icgit_args {
	const char *v[ICGIT_MAX_ARGS + 1]; /* NULL-terminated */
	size_t n;
	bool full;
};

/* icgit/safe.c */
void icgit_add(struct icgit_args *, const char *);
/* The git that is not us, or NULL. */
const char *icgit_real(void);
/* Only git's programs may be executed from now on. -1 with errno. */
int icgit_lock(void);
/* What environment says to git is ours to say. */
int icgit_env(void);
/* "-c name=value" for all that is known by name. */
void icgit_fixed(struct icgit_args *);
/*
 * The same for names that the repository made up (filters, drivers): those in
 * names, NUL-terminated each.  -1: too many, or no name git could have.
 */
int icgit_found(struct icgit_args *, struct span names);

/* icgit/run.c: its exit status; -1 with errno ETIMEDOUT, EFBIG, ... */
int icgit_run(const struct icgit_args *, struct buf *out, unsigned ms);

/* icgit/wrap.c: git, neutralised. */
int icgit_wrap(char **argv);

/* icgit/remotes.c: the tool "remotes". */
void icgit_list(struct mcp *);
bool icgit_call(struct mcp *, const struct jsonrpc *, struct span tool,
    const struct value *args);

#endif
