/* SPDX-License-Identifier: ISC */
/*
 * One condition of a rule: do all values with these roles match the set?
 */
#ifndef EVAL_MATCH_H
#define EVAL_MATCH_H

#include "eval.h"

/* UNKNOWN: what a name of a git remote stands for is not known. */
enum match {
	MATCH_NO,
	MATCH_YES,
	MATCH_UNKNOWN
};

/* NO also when there is no such value. */
enum match eval_match(
    const struct call_args *, const struct match_set *, uint32_t roles);

#endif
