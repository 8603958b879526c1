/* SPDX-License-Identifier: ISC */
/*
 * Names of the TypeScript IronCurtain that have another name here, or none:
 * commands, options, keys of its configuration and variables. A person who
 * uses one is told the successor.
 */
#ifndef FOUNDING_H
#define FOUNDING_H

#include <stddef.h>

/* Each returns what to do instead, without a full stop, or NULL. */
const char *founding_command(const char *name);
/* With its dashes; a value behind "=" does not count. */
const char *founding_option(const char *name);
const char *founding_key(const char *name);
/* A key that does no harm, and has no effect either. */
const char *founding_unused_key(const char *name);
/*
 * Returns the i-th variable that has no effect here, and sets *instead; NULL:
 * there is none.
 */
const char *founding_variable(size_t i, const char **instead);

#endif
