/* SPDX-License-Identifier: ISC */
/* Opens what a link among the user's files leads to. */
#ifndef HOME_FOLLOW_H
#define HOME_FOLLOW_H

#include <stddef.h>

/*
 * Open the file or directory at the end of an absolute path whose last
 * component may be a link, or lie below one. It is refused if an agent or
 * another user can change it, or where the path leads, and if its own path
 * looks like that of a credential. Returns a descriptor for reading, which the
 * caller closes, or -1 with the reason in `why`.
 */
int home_follow(const char *path, char *why, size_t cap);

#endif
