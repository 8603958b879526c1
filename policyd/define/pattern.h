/* SPDX-License-Identifier: ISC */
/*
 * Checks that a regular expression of a JSON Schema compiles, as ECMA-262
 * (2018, and its Annex B) has it.  Nothing is matched here: clients of MCP and
 * model providers compile patterns, and refuse a whole list of tools for one
 * that does not.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include "common/span.h"

/*
 * Returns NULL if the pattern compiles, else what is wrong with it, to follow
 * "its pattern ".  If `unicode`, the flag "u" is set, which forbids escapes
 * without a meaning and lone brackets.
 */
const char *pattern_check(struct span, bool unicode);

#endif
