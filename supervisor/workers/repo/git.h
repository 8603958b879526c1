/* SPDX-License-Identifier: ISC */
/*
 * The user's git in the sandbox: finds out what the user's own git would do in
 * the place of the workspace, and says at the start what is different inside.
 */
#ifndef WORKERS_REPO_GIT_H
#define WORKERS_REPO_GIT_H

#include "repo/names.h"
#include "repo/place.h"
#include "repo/settings.h"

/* Everything that is known about git in this place. */
struct git_known {
	struct repo_env env;
	bool found; /* there is a repository, and `place` is it */
	struct repo_place place;
	struct repo_settings user, own; /* the user's, the repository's */
	/* The author, if the repository includes files of the user's. */
	struct repo_settings person;
	char branch[REPO_NAME];         /* the one checked out; or "" */
	bool cloned;                    /* the agent gets a clone of it */
	const char
	    *url; /* the one of a clone whose repository is not here; or NULL */
	int patterns; /* the file of ignored patterns in the sandbox, or -1 */
	char *attributes; /* the user's, for all repositories; or NULL */
};

/* git_person.c: Write the author and the committer. Says if none is known. */
void git_person(const struct git_known *, struct buf *);
/*
 * git_files.c: Take the files that hold for all repositories of the user, and
 * report their texts. The attributes are kept. Returns the patterns of ignored
 * files, which the caller frees, or NULL.
 */
char *git_files(struct git_known *, struct buf *);

/* git_set.c: Have the rest of the configuration written. */
void git_set(const struct git_known *, struct buf *);

#endif
