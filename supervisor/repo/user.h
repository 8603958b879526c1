/* SPDX-License-Identifier: ISC */
/*
 * Asks git for the user's own settings, as they are in force at one place:
 * conditional includes look at the place of a repository, at its branch and at
 * its remotes. git runs in a sandbox that shows the files of the user's
 * configuration, read-only, and at the place of the repository an empty one: it
 * reads nothing that an agent can write.
 */
#ifndef REPO_USER_H
#define REPO_USER_H

#include "repo/place.h"
#include "repo/settings.h"

struct repo_user_how {
	const struct repo_env *env;
	const char *home;
	const struct repo_place *place; /* NULL: there is no repository */
	/* The user's name for the place, if it leads there by a link; or NULL. */
	const char *named;
	const char *branch;              /* the one checked out, or "" */
	const struct repo_settings *own; /* the repository's; or NULL */
	/* Read the files outside of the repository that it includes, too. */
	bool further;
	/* Returns true if an agent can write where the path leads. */
	bool (*reached)(const char *path);
	/* Is told of each file that is left out. */
	void (*left)(const char *path, const char *why);
};

/*
 * List the user's settings with such keys, as repo_settings_ask() does. The
 * variables GIT_CONFIG_* of our environment count as they do for git. Returns 0,
 * or -1 with the fault set.
 */
int repo_user_ask(const struct repo_user_how *, const char *pattern,
    struct repo_settings *, struct fault *);

/* Returns true for an include of the repository that leads out of it. */
bool repo_user_further(const struct repo_place *, const struct repo_setting *);

/* repo/value.c: Add a key and its value, unless git could not read them. */
void repo_pair_put(struct buf *, const char *key, const char *value);
/* Add `name = "value"` to a configuration of git. */
void repo_value_put(struct buf *, const char *name, struct span value);
/* Begin a section, with a part in quotes if `sub` is not empty. */
void repo_section_put(struct buf *, const char *section, struct span sub);

#endif
