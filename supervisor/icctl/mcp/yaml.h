/* SPDX-License-Identifier: ISC */
/*
 * Parses the part of YAML 1.2 in which compose files are written into a value
 * tree: block and flow mappings and sequences, plain and quoted scalars,
 * comments, anchors and aliases of values, and merge keys (<<). An alias is a
 * copy, and the pool limits what all copies take. Tags, directives and several
 * documents are errors, since what they say can be written out. A block text (|
 * or >) becomes an empty array: it is there, and nobody takes it for something
 * else. A repeated key is an error.
 */
#ifndef YAML_H
#define YAML_H

#include "common/json/value.h"

struct yaml_fail {
	unsigned line;    /* counted from 1 */
	const char *what; /* constant text */
};

/*
 * Returns the root object, whose texts are in the pool, or NULL with `*fail`
 * filled in.
 */
const struct value *yaml_read(
    struct value_pool *, struct span text, struct yaml_fail *fail);

#endif
