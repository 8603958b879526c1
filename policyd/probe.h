/* SPDX-License-Identifier: ISC */
/*
 * Explains a decision: writes its steps as a JSON array of objects with "step"
 * and "text", and for rules also "rule", "index", "role" and "matched".
 */
#ifndef PROBE_H
#define PROBE_H

#include "policyd.h"

struct probe {
	struct policyd_env *env;
	struct buf out;
	const struct value *schema; /* NULL: the annotations have none */
	const struct work *work;
	bool told; /* the values were written */
	bool near; /* an allow rule was missed narrowly */
	struct eval_trace trace;
};

/* Begin the array and set the trace that evaluation will call. */
void probe_begin(struct probe *, struct policyd_env *);
/* Write the steps before the rules: annotation, schema, values. */
void probe_call(struct probe *, const struct work *, bool whole);
/* Write the decision and what would have to change, and close the array. */
struct span probe_end(struct probe *, const struct work *);

#endif
