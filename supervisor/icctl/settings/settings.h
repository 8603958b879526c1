/* SPDX-License-Identifier: ISC */
/*
 * Internals of `icctl config`, which shows and changes config.json. file.c: the
 * file, which is never replaced by one that a session would refuse; key.c: a
 * key as a person writes it; settings.c: the commands; edit.c: an editor.
 */
#ifndef ICCTL_SETTINGS_H
#define ICCTL_SETTINGS_H

#include <json-c/json.h>
#include <stdbool.h>

#include "base/fault.h"
#include "icctl/icctl.h"

#define SETTINGS_DEPTH 16U

/* config.json and its directory, which is locked against other writers. */
struct settings {
	char path[4200];
	int lock;
	json_object *root; /* an empty one if there is no file */
};

/* A key: "limits.homeMb", or "/agent/my.agent/path" for names with a dot. */
struct settings_key {
	char *text; /* the names, divided by NUL */
	const char *names[SETTINGS_DEPTH];
	unsigned n;
};

/* file.c */
/* Read the file. Returns 0, or -1 with the fault set. */
int settings_open(
    const struct icctl *, struct settings *, bool lock, struct fault *);
void settings_close(struct settings *);
/*
 * Check a text as the start of a session does, with each profile in it.
 * Returns 0, or -1 with the fault set.
 */
int settings_check(const struct settings *, const char *text, struct fault *);
/* Check the tree and replace the file. Returns 0, or -1 with the fault set. */
int settings_write(const struct settings *, struct fault *);
/* Returns the tree as text, which the tree owns. */
const char *settings_text(json_object *root);

/* key.c */
/* Returns 0, or -1 with the fault set. */
int key_parse(struct settings_key *, const char *text, struct fault *);
void key_free(struct settings_key *);
/* Returns true if there is such a value, which may be NULL for null. */
bool key_get(json_object *root, const struct settings_key *, json_object **);
/*
 * Set it, with the objects above it, and take `value`. Returns 0, or -1 with
 * the fault set.
 */
int key_set(json_object *root, const struct settings_key *, json_object *value,
    struct fault *);
/* Remove it, and the objects above it that are empty then. */
void key_unset(json_object *root, const struct settings_key *);
/*
 * Returns true if a value at this place is a secret of a server, which is not
 * shown.
 */
bool key_is_secret(const struct settings_key *);

/*
 * known.c: Check that the policy that a value names is there, and that the
 * agent of a key is no misspelt one; `*later` is set if there is no such agent
 * yet. Returns 0, or -1 with the fault set.
 */
int settings_known(const struct icctl *, const struct settings_key *,
    const char *value, bool *later, struct fault *);

/* edit.c: Returns the exit status. */
int settings_edit(const struct icctl *);

/*
 * amelia_command.c: Take a profile, the one called `name` if it is not NULL, of
 * the file into config.json. Returns the exit status.
 */
int settings_import_amelia(
    const struct icctl *, const char *file, const char *name);

#endif
