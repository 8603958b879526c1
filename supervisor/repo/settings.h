/* SPDX-License-Identifier: ISC */
/*
 * Settings of git, as git itself lists them in a sandbox. Their values are texts
 * that the user or an agent wrote: whoever uses one checks it.
 */
#ifndef REPO_SETTINGS_H
#define REPO_SETTINGS_H

#include "repo/git.h"

#define REPO_MAX_SETTINGS 2000U

struct repo_setting {
	const char *origin; /* the path of its file, or "" */
	const char *key;    /* "section.SubSection.name": only the middle part
			       has capitals */
	const char *value;  /* NULL: it has none, which means true */
};

struct repo_settings {
	char *text; /* holds everything */
	struct repo_setting list[REPO_MAX_SETTINGS];
	unsigned n;
};

/*
 * Have git list the settings whose keys match an extended regular expression, in
 * the order in which it reads them. `before` are words between git and "config",
 * or NULL. Returns 0, or -1 with the fault set and nothing listed.
 */
int repo_settings_ask(struct repo_settings *, const struct repo_env *,
    const struct repo_view *, const char *before, const char *pattern,
    struct fault *);
/* Add what git has printed, with its last NUL. Returns 0, or -1. */
int repo_settings_parse(struct repo_settings *, struct span);
void repo_settings_free(struct repo_settings *);
/* Returns the one that is in force, or NULL. */
const struct repo_setting *repo_settings_last(
    const struct repo_settings *, const char *key);
/* Returns true if the setting is there and git takes it for true. */
bool repo_setting_true(const struct repo_setting *);
/*
 * Find the parts of a key "section.NAME.variable". Returns NAME, which is not
 * NUL-terminated, or one of length 0 if the key has other parts.
 */
struct span repo_setting_name(
    const char *key, const char *section, const char *variable);

#endif
