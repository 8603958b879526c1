/* SPDX-License-Identifier: ISC */
/*
 * Checks a value against a JSON Schema of the kind that tools have for their
 * results: a part of draft 2020-12 that refuses nothing that the whole draft
 * accepts. Both may be hostile: the work is bounded, and nothing is fetched.
 */
#ifndef SCHEMA_H
#define SCHEMA_H

#include "common/json/value.h"

#define SCHEMA_WHY 200U

/*
 * Returns 0 if the value fits, or -1 with the place and the reason in `why`,
 * printable ASCII. Checked are type, enum, const, required, properties,
 * additionalProperties, items, prefixItems, limits of numbers, lengths and
 * counts, allOf, anyOf, oneOf (as anyOf), and $ref within the schema; other
 * keywords are ignored. A pair that needs too many steps does not fit.
 */
int schema_value_check(
    const struct value *schema, const struct value *v, char why[SCHEMA_WHY]);

#endif
