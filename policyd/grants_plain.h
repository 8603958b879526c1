/* SPDX-License-Identifier: ISC */
/*
 * May other calls of a tool pass on the strength of one that a person saw?
 * Only where the schema leaves no room for anything but a few plain values, and
 * no value can name a place, a person or a program.
 */
#ifndef GRANTS_PLAIN_H
#define GRANTS_PLAIN_H

#include <stdbool.h>

#include "common/json/value.h"

#define PLAIN_TEXT 200U /* bytes of one value */

/* Is the schema flat and closed: scalars alone, and no further members? */
bool plain_schema(const struct value *schema);
/* Are all of the values plain, under names that are? */
bool plain_arguments(const struct value *args);

#endif
