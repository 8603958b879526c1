/* SPDX-License-Identifier: ISC */
/*
 * A new policy for a running session (reload.c): its files are read and kept
 * aside until all have arrived.
 */
#ifndef RELOAD_H
#define RELOAD_H

#include "engine/engine.h"

struct policyd_env;

struct reload {
	struct engine_files files;
	uint8_t hash[PROTO_RULES_LAST + 1][32];
	bool have[PROTO_RULES_LAST + 1];
	bool failed;			/* one file was bad, so all are
					   refused */
	uint8_t kind;
	char error[LOAD_MAX_ERROR];
	struct buf warnings;
};

void reload_init(struct reload *);
void reload_free(struct reload *);
/* Take one file. reload_swap() reports its errors. */
void reload_take(struct policyd_env *, const struct msg_RULES *,
    const char *name);
/*
 * All files have arrived: put them in force, or send RULES_BAD and keep the
 * old.
 */
void reload_swap(struct policyd_env *);

#endif
