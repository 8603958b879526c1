/* SPDX-License-Identifier: ISC */
/*
 * Starts ic-snap, for icsupervisor and icctl: names its store, opens it, and
 * composes its arguments. It gets the workspace and the store as descriptors
 * and nothing else.
 */
#ifndef UNDO_RUN_H
#define UNDO_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/spawn.h"
#include "files/config.h"
#include "undo/snap.h"

/* In IRONCURTAIN_HOME; below it is a store for each workspace. */
#define UNDO_STORES "undo"
#define UNDO_ID 33U

struct undo_words {
	const char *v[SNAP_MAX_WORDS];
	char *own[SNAP_MAX_WORDS];
	unsigned n;
	bool spoilt;
};

struct undo_run {
	struct spawned sp;
	int out; /* our end of its standard output; -1: it does not run */
};

#define UNDO_RUN_INIT                                                          \
	{                                                                      \
		.sp = SPAWNED_INIT, .out = -1                                  \
	}

/* Write the id of this workspace's store. */
void undo_id(const char *workspace, char id[UNDO_ID]);
/*
 * Open the store; `make`: it is made if there is none. Returns the descriptor,
 * or -1 with the fault set and errno, which is ENOENT if there is none.
 */
int undo_store(
    const char *home, const char *workspace, bool make, struct fault *);
/* Begin with the shape; the words are copied. */
void undo_words_init(struct undo_words *, const char *shape);
void undo_word(struct undo_words *, const char *key, const char *value);
void undo_word_number(struct undo_words *, const char *key, uint64_t);
/* Add the limits and lists of config.json. */
void undo_word_limits(struct undo_words *, const struct config_undo *);
void undo_words_free(struct undo_words *);
/*
 * Start ic-snap. `tree` and `store` are directories; -1: it does not get one.
 * Returns 0, or -1 with the fault set.
 */
int undo_start(struct undo_run *, const char *libexecdir, int tree, int store,
    struct undo_words *, struct fault *);
void undo_stop(struct undo_run *);

#endif
