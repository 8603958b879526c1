/* SPDX-License-Identifier: ISC */
/* Matches all values of a call with given roles against one condition's set. */
#ifndef EVAL_MATCH_H
#define EVAL_MATCH_H

#include "engine/eval.h"

/*
 * Returns MATCH_NO also if no value has these roles. For a rule that allows,
 * all values must match; for one that asks or denies, one is enough.
 */
enum match eval_match(
    const struct request *, const struct match_set *, uint32_t roles);

#endif
