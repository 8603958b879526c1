/* SPDX-License-Identifier: ISC */
/*
 * Rules that are to replace those in force (reload.c): read and kept aside
 * until all are there.
 */
#ifndef RELOAD_H
#define RELOAD_H

#include "engine/engine.h"

struct policyd_env;

struct reload {
	struct engine_files files;
	uint8_t hash[PROTO_RULES_LAST + 1][32];
	bool have[PROTO_RULES_LAST + 1];
	bool failed;			/* one of them was bad: all are */
	uint8_t kind;
	char error[LOAD_MAX_ERROR];
	struct buf warnings;
};

void reload_init(struct reload *);
void reload_free(struct reload *);
/* One file. What is wrong with it is told by reload_swap. */
void reload_take(struct policyd_env *, const struct msg_RULES *,
    const char *name);
/* All came: in force now, or RULES_BAD and the old ones stay. */
void reload_swap(struct policyd_env *);

#endif
