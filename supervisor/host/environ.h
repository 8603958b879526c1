/* SPDX-License-Identifier: ISC */
/*
 * The environment of host programs that a session runs. PATH and
 * LD_LIBRARY_PATH are only the best known of the variables by which a program
 * finds code, and programs split and quote their values in ways of their own.
 * So a program gets few variables, and those that its entry in the
 * configuration lists.
 */
#ifndef HOST_ENVIRON_H
#define HOST_ENVIRON_H

#include "base/fault.h"
#include "host/places.h"

/*
 * Returns the elements of a list like PATH, in their order, without those that
 * are relative, empty, or lead through a place that an agent can write. The
 * caller frees the list; NULL with errno set. If `told` is not NULL, it is
 * called for each absolute element that is left out.
 */
char *host_list_clean(const struct places *, const char *list,
    void (*told)(const char *element, const char *place));

struct environ_how {
	const struct places *places;
	const char *user_home;
	char *const *listed; /* names of further variables, or NULL */
};

/*
 * Returns the variables of `from` that a host program gets, PATH cleaned as
 * above, without those that lead into such a place. The caller calls
 * jsonfile_strings_free(). Returns NULL with errno set.
 */
char **host_environ(const struct environ_how *, char *const *from);
/*
 * Check that no listed variable leads into such a place. Returns 0, or -1 with
 * a fault that begins with `what`.
 */
int host_environ_check(const struct environ_how *, char *const *from,
    const char *what, struct fault *);
/*
 * Write the names of variables in `from` that the program does not get and may
 * need, "VAULT_ADDR, VAULT_TOKEN": those of programs that keep secrets first;
 * if `all`, then also others that are not known to matter only to terminals and
 * desktops. Returns how many there are.
 */
unsigned host_environ_lost(const struct environ_how *, char *const *from,
    bool all, char *dst, size_t cap);

#endif
