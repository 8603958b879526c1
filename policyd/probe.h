/* SPDX-License-Identifier: ISC */
/*
 * Says why: turns the steps of one decision into a JSON array of objects with
 * "step" and "text", of rules also "rule", "index", "role" and "matched".
 */
#ifndef PROBE_H
#define PROBE_H

#include "policyd.h"

struct probe {
	struct policyd_env *env;
	struct buf out;
	const struct value *schema; /* NULL: not in the annotations */
	const struct work *work;
	bool told; /* its values */
	bool near; /* an allow rule missed narrowly */
	struct eval_trace trace;
};

/* The trace begins: evaluation will be told to tell. */
void probe_begin(struct probe *, struct policyd_env *);
/* What there is before rules: annotation, schema, values. */
void probe_call(struct probe *, const struct work *, bool whole);
/* The decision, and what would have to change. Closes the array. */
struct span probe_end(struct probe *, const struct work *);

#endif
