/* SPDX-License-Identifier: ISC */
/*
 * One condition of a rule: do all values with these roles match the set?
 */
#ifndef EVAL_MATCH_H
#define EVAL_MATCH_H

#include "engine/eval.h"

/*
 * MATCH_NO also when there is no such value.  For a rule that allows, all
 * values must match; for one that asks or denies, one is enough.
 */
enum match eval_match(
    const struct request *, const struct match_set *, uint32_t roles);

#endif
