/* SPDX-License-Identifier: ISC */
/*
 * A subset of JSON Schema 2020-12, which icctl-session(1) lists. A schema is
 * checked before it is used: a keyword that is not known is an error, never
 * ignored.
 * Both the schema and the value are from outside; time and depth are bounded.
 */
#ifndef SCHEMA_H
#define SCHEMA_H

#include "common/json/value.h"

#define SCHEMA_PATH 256U
#define SCHEMA_TEXT 256U

/* The place as a JSON pointer ("" is the whole), and what is wrong there. */
struct schema_fail {
	char path[SCHEMA_PATH], text[SCHEMA_TEXT];
	const struct value *at; /* the value that does not fit, or NULL */
};

/* check.c: Returns 0 if this is a schema that can be used, else -1. */
int schema_check(const struct value *schema, struct schema_fail *);
/* match.c: Returns 0 if `v` fits the schema, which was checked, else -1. */
int schema_match(const struct value *schema, const struct value *v,
    struct schema_fail *);

/*
 * check.c: Returns the schema that "#" or "#/$defs/NAME" names below `root`, or
 * NULL.
 */
const struct value *schema_ref(const struct value *root, struct span ref);
/* check.c: Returns true if `v` has the type of that name. */
bool schema_is(const struct value *v, struct span type);
/*
 * check.c: Add "/NAME" to a path of `len` bytes, escaped. Returns the length,
 * which may be that of a path that was cut.
 */
size_t schema_path(char path[SCHEMA_PATH], size_t len, struct span name);

#endif
