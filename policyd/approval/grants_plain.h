/* SPDX-License-Identifier: ISC */
/*
 * Decides whether one approval may cover other calls of a tool. That requires a
 * schema with nothing but a few plain values, and values that cannot name a
 * place, a person or a program.
 */
#ifndef GRANTS_PLAIN_H
#define GRANTS_PLAIN_H

#include <stdbool.h>

#include "common/json/value.h"

#define PLAIN_TEXT 200U /* maximum length of a value */

/*
 * Returns true if the schema is flat and closed: scalars and no other members.
 */
bool plain_schema(const struct value *schema);
/* Returns true if all values and their names are plain. */
bool plain_arguments(const struct value *args);

#endif
