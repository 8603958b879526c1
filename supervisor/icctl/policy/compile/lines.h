/* SPDX-License-Identifier: ISC */
/* How two texts differ, line by line. */
#ifndef COMPILE_LINES_H
#define COMPILE_LINES_H

#include "common/span.h"

/*
 * Print the lines that `old` and `new` do not have in common, with + and -, and
 * those between them. Returns the number of differing lines.
 */
unsigned lines_print(struct span old, struct span new);

#endif
