/* SPDX-License-Identifier: ISC */
/*
 * Parses TOML 1.0 into a value tree, as far as other programs' configuration
 * uses it: tables, arrays of tables, dotted and quoted keys, all four kinds of
 * strings, numbers, booleans, arrays and inline tables. Dates become strings. A
 * repeated key is an error.
 */
#ifndef TOML_H
#define TOML_H

#include "common/json/value.h"

struct toml_fail {
	unsigned line;    /* counted from 1 */
	const char *what; /* constant text */
};

/*
 * Returns the root object, whose texts are in the pool or point into `text`, or
 * NULL with `*fail` filled in.
 */
const struct value *toml_read(
    struct value_pool *, struct span text, struct toml_fail *fail);

#endif
