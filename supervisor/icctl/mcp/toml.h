/* SPDX-License-Identifier: ISC */
/*
 * Reads TOML 1.0 into a value tree, as far as configuration of other programs
 * uses it: tables, arrays of tables, dotted and quoted keys, all four kinds of
 * strings, numbers, booleans, arrays and inline tables.  Dates become strings.
 * A key that is given twice is refused.
 */
#ifndef TOML_H
#define TOML_H

#include "common/json/value.h"

struct toml_fail {
	unsigned line;    /* counted from 1 */
	const char *what; /* constant text */
};

/*
 * Returns the root object, whose texts live in the pool or point into `text`,
 * or NULL with *fail filled.
 */
const struct value *toml_read(
    struct value_pool *, struct span text, struct toml_fail *fail);

#endif
