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
	char branch[REPO_NAME];         /* the one checked out; or "" */
	bool cloned;                    /* the agent gets a clone of it */
	int patterns; /* the file of ignored patterns in the sandbox, or -1 */
};

/* git_person.c: Write the author and the committer. Says if none is known. */
void git_person(const struct git_known *, struct buf *);
/*
 * git_files.c: Take the files that hold for all repositories of the user, and
 * report their texts. Returns the patterns of ignored files, which the caller
 * frees, or NULL.
 */
char *git_files(const struct git_known *, struct buf *);

/* git_filter.c: Write filters, so that none changes what is committed. */
void git_filter(const struct git_known *, struct buf *);

/* git_remote.c: Write how addresses by ssh become https. */
void git_remote(const struct git_known *, struct buf *);
/* git_say.c: Name what git does outside and not in the sandbox. */
void git_say(const struct git_known *);

/*
 * git_person.c: Returns the value in force: that of the user, or of the repository, if its
 * configuration does not come along into the clone; or NULL.
 */
const char *git_value(const struct git_known *, const char *key);

#endif
