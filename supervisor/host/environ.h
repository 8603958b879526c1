/* SPDX-License-Identifier: ISC */
/*
 * The environment of host programs that a session runs, without anything that
 * would let the agent choose code for them.
 */
#ifndef HOST_ENVIRON_H
#define HOST_ENVIRON_H

#include "host/places.h"

/*
 * Returns the elements of a list like PATH, in their order, without those that
 * are relative, empty, or lead through a place that the agent can write. The
 * caller frees the list; NULL with errno set. If `told` is not NULL, it is
 * called for each absolute element that is left out.
 */
char *host_list_clean(const struct places *, const char *list,
    void (*told)(const char *element, const char *place));

/*
 * Returns a copy of the environment without PWD and OLDPWD. Lists in it are
 * cleaned as above, and a variable that names a path in such a place in any
 * other form is left out. The caller calls jsonfile_strings_free(). Returns
 * NULL with errno set.
 */
char **host_environ(const struct places *, char *const *from);

#endif
