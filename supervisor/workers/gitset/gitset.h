/* SPDX-License-Identifier: ISC */
/*
 * Parts of ic-gitset (repo/gitset.h): what it was told, and what it writes of
 * the user's git for the sandbox.
 */
#ifndef WORKERS_GITSET_H
#define WORKERS_GITSET_H

#include "repo/settings.h"

#define SET_MAX_LIST 512U

struct set_list {
	const char *list[SET_MAX_LIST];
	size_t n;
};

struct set {
	bool found;  /* there is a repository */
	bool cloned; /* the agent gets a clone of it */
	bool bwrap;  /* the sandbox has the programs of the host */
	const char *home, *inside;
	const char *lfs;        /* git-lfs in the sandbox; NULL: none */
	const char *attributes; /* lines of all files of attributes */
	struct set_list destinations, shown;
	/* The origin is "/etc" for settings that the sandbox itself has. */
	struct repo_settings user, own;
};
extern struct set set;

/* set.c: Report a line for the person. */
void set_warn(const char *, ...) __attribute__((format(printf, 1, 2)));
/* Returns true if config.json has a git destination with this host. */
bool set_listed(struct span host);
/* Returns true if the sandbox has the path of the host. */
bool set_shown(const char *path);

/* set_words.c */
void set_words(struct buf *);
/*
 * set_alias.c: Write the user's aliases that are words of git, and in the place
 * of each other one what it is. Names the latter.
 */
void set_aliases(struct buf *);
/* set_filter.c: Write filters, so that none changes what is committed. */
void set_filter(struct buf *);
/* set_remote.c: Write how addresses by ssh become https. */
void set_remote(struct buf *);
/* set_say.c: Name what git does outside and not in the sandbox. */
void set_say(void);

#endif
