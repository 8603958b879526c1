/* SPDX-License-Identifier: ISC */
/* Files that may hold a credential. */
#ifndef HOME_SECRETIVE_H
#define HOME_SECRETIVE_H

#include "common/span.h"

/*
 * Returns the pattern that the name of a file or directory matches, without its
 * path, if such files hold credentials; or NULL.
 */
const char *secretive_name(const char *name);
/* Returns the beginning of a text in the form of a key, or NULL. */
const char *secretive_text(struct span);

#endif
