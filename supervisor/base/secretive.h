/* SPDX-License-Identifier: ISC */
/* Files that may hold a credential. */
#ifndef HOME_SECRETIVE_H
#define HOME_SECRETIVE_H

#include <stdbool.h>

#include "common/span.h"

/*
 * Returns the first of `n` patterns that a name matches, whatever its case, or
 * NULL.
 */
const char *secretive_match(
    const char *name, const char *const *patterns, size_t n);
/*
 * Returns the pattern that the name of a file or directory matches, without its
 * path, if such files hold credentials; or NULL.
 */
const char *secretive_name(const char *name);
/* Returns the pattern that a part of an absolute path matches, or NULL. */
const char *secretive_path(const char *path);
/* Returns the beginning of a text in the form of a key, or NULL. */
const char *secretive_text(struct span);
/*
 * secretive_setting.c: Returns the kind of setting with a password or the like
 * that a configuration file has, "password" for one, or NULL. Settings in
 * comments do not count, and neither do values that are the name of a file or
 * of a variable.
 */
const char *secretive_setting(struct span);
/*
 * secretive_public.c: Returns true if a text has a private key, in the forms of
 * PEM.
 */
bool secretive_private_key(struct span);
/*
 * Returns true if a text consists of certificates and public keys in the form
 * of PEM, whatever the name of its file is.
 */
bool secretive_public(struct span);

#endif
