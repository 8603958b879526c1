/* SPDX-License-Identifier: ISC */
/*
 * Makes the clone that an agent works on, in one sandbox, which sees the user's
 * repository read-only, and the new directory. A git of the user's repository
 * writes a pack of one branch; one of the clone checks every object of it. The
 * two repositories share nothing: no object, no link, no configuration. Whoever
 * reads the clone later expects anything in it, since the agent writes there. A
 * long pack goes from one sandbox to another.
 */
#ifndef REPO_CLONE_H
#define REPO_CLONE_H

#include "repo/git.h"
#include "repo/record.h"

struct repo_clone {
	const struct repo_env *env;
	const char *source;      /* DIR[#REF] */
	bool changes;            /* take uncommitted work, too */
	bool dirty;              /* or say how much of it there is */
	const char *const *with; /* further files */
	size_t nwith;
	const char *ignore; /* patterns of the user's own, or NULL */
	int session;          /* the session's directory */
	const char *session_path;
	int sandbox; /* the clone's place in it, which is empty */
	void (*say)(const char *line); /* tells the user */
};

/* Returns true if the text is a URL, and no directory has this name. */
bool repo_is_url(const char *source);
/*
 * Make the clone and its record. Returns 0, or -1 with the fault set: the
 * sandbox is then empty.
 */
int repo_clone(const struct repo_clone *, struct fault *);
/*
 * clone_files.c: Tell the user how much of a repository with a working tree is
 * in no commit, and is not taken. Returns 0, or -1 with the fault set if the
 * user interrupts it.
 */
int repo_dirty(const struct repo_env *, const struct repo_view *,
    const char *dir, void (*say)(const char *), struct fault *);
/*
 * Returns true if the session has a clone already, which a start uses again.
 */
bool repo_cloned(int session, int sandbox);

/*
 * origin.c: Write the URL of a repository without user name and password.
 * Returns false if it leads nowhere from a sandbox: a path, or a form that is
 * not known.
 */
bool repo_origin(struct span url, char *dst, size_t cap);

#endif
