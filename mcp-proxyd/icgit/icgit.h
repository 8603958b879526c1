/* SPDX-License-Identifier: ISC */
/*
 * icgit: git made harmless in repositories that an agent writes.  Under the
 * name git it takes the place of git in the view of every git server; as icgit
 * it is the MCP server that policyd asks for the URLs of a remote.
 *
 * There are three barriers, from the weakest to the strongest.  Configuration:
 * programs that git would run by name are overridden on the command line, after
 * everything that the repository says.  Landlock: from before git reads its
 * first byte, only git's own programs may be executed, and in particular no
 * shell; this holds even if files change while git runs.  The view: no network,
 * and none of the user's files except those that the server may see anyway.
 */
#ifndef ICGIT_H
#define ICGIT_H

#include "icgit/place.h"
#include "mcp/mcp_stdio.h"

#define ICGIT_MAX_ARGS 4096U
#define ICGIT_MAX_NAMES ((size_t)1 << 20)
#define ICGIT_LIST_MS 10000U

/* A command line being built; words are borrowed. */
struct icgit_args {
	const char *v[ICGIT_MAX_ARGS + 1]; /* NULL-terminated */
	size_t n;
	bool full;
};

/* icgit/safe.c */
void icgit_add(struct icgit_args *, const char *);
/* Returns the path of the real git, or NULL. */
const char *icgit_real(void);
/*
 * Allow only git's programs to be executed from now on.  Returns -1 with errno
 * set.
 */
int icgit_lock(void);
/*
 * Set every environment variable that git obeys.  Returns 0, or -1 with errno
 * set.
 */
int icgit_env(void);
/* Add "-c name=value" for every variable whose name is known. */
void icgit_fixed(struct icgit_args *);
/*
 * Add overrides for names that the repository chose (filters, drivers).
 * `names` contains all configured names, each ending in a NUL.  Returns -1 if
 * there are too many.
 */
int icgit_found(struct icgit_args *, struct span names);

/*
 * Override this variable, for which git reads the environment's ICGIT_`value`.
 * "-c" would end the name at its first "=", --config-env ends it at its last.
 * Returns -1 if it is too long.
 */
int icgit_override(struct icgit_args *, struct span name, const char *value);

/* icgit/filter.c: files whose filters are not here */
/* The value that makes git say that a filter is not here. */
#define ICGIT_REFUSES "refuses"
/* Returns true if the subcommand takes files into the repository. */
bool icgit_takes(char **args);
/*
 * Add filters that fail, for each name in `configured`, as in icgit_found(),
 * and in the attributes where `first`, git's words before its subcommand, lead
 * to. Returns 0, or -1 with errno set.
 */
int icgit_filters(struct icgit_args *, const struct icgit_args *first,
    struct span configured);

/*
 * icgit/run.c: run git and collect its output.  Returns its exit status, or -1
 * with errno ETIMEDOUT, EFBIG, ...
 */
int icgit_run(const struct icgit_args *, struct buf *out, unsigned ms);

/*
 * icgit/wrap.c: run git, made harmless. If `locked`, this process has called
 * icgit_lock() before.
 */
int icgit_wrap(char **argv, bool locked);

/*
 * icgit/names.c: the names of a configuration, for those gits that this process
 * starts one after the other in the same place. Configurations that include
 * others may change unseen meanwhile, as they may while git runs: Landlock and
 * the view hold then.
 */
/*
 * Keep the names that `globals`, git's words before its subcommand, lead to,
 * after icgit_names_kept() has returned false for them.
 */
void icgit_names_keep(const struct icgit_args *globals, struct span names);
/* Returns true if they are kept, and the configuration is as it was. */
bool icgit_names_kept(const struct icgit_args *globals, struct span *names);
/*
 * icgit/wrap.c: ask git for the names that the next command will need, unless
 * they are kept.
 */
void icgit_ahead(char **argv);

/* icgit/remotes.c: the tool "remotes". */
void icgit_list(struct mcp *);
bool icgit_call(struct mcp *, const struct jsonrpc *, struct span tool,
    const struct value *args);

#endif
