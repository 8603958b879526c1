/* SPDX-License-Identifier: ISC */
/*
 * Guesses which values of a configuration are secrets. Taking a harmless value
 * for a secret does no damage where this is used: the value is kept in the
 * file for secrets, or its server is trusted with less.
 */
#ifndef CONFIG_SECRET_H
#define CONFIG_SECRET_H

#include <stdbool.h>

/*
 * Returns true if a value looks like a secret, by the name of its variable or
 * option, or by its form.
 */
bool secret_like(const char *name, const char *value);
/*
 * Returns true if argument `arg` of a command, which stands behind `before`
 * ("" if it is the first), looks like a secret. `*value` is then the part of it
 * that does.
 */
bool secret_like_argument(
    const char *before, const char *arg, const char **value);

#endif
