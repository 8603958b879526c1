/* SPDX-License-Identifier: ISC */
/*
 * Finds out how events.jsonl ended when a session died: a line that was cut, a
 * turn without its end, calls that waited.
 */
#ifndef TALK_CUT_H
#define TALK_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

#define TALK_CUT_HOLDS 64U

struct talk_cut {
	uint64_t whole; /* bytes up to the last whole line */
	uint32_t last;  /* the number of the last turn, or 0 */
	bool open;      /* it has no turn_end */
	bool usage, result; /* it has these already */
	/* Calls that waited in it: copies of the events "escalation". */
	struct json_object *holds[TALK_CUT_HOLDS];
	unsigned nholds;
};

/* Read the file's text. The caller releases the result. */
void talk_cut_read(struct talk_cut *, struct span text);
void talk_cut_free(struct talk_cut *);

#endif
