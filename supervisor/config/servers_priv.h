/* SPDX-License-Identifier: ISC */
/* Between the parts of the reader of mcp-servers.json. */
#ifndef SERVERS_PRIV_H
#define SERVERS_PRIV_H

#include "config/jsonfile.h"
#include "config/servers.h"

struct servers_entry {
	struct jsonfile j;
	const struct servers_how *how;
	struct server_def *def;
	char where[192];
};

/* servers_network.c: the hosts in "sandbox.network"; false or none: none. */
int servers_network(struct servers_entry *, struct json_object *sandbox);

/*
 * servers_variable.c: replace ${NAME} and ${NAME:-DEFAULT} in `text`, which
 * stands at where.key, by values from the list `own` (NAME=VALUE, or NULL) and
 * then from the user's environment.  Sets *out to fresh memory and returns 0,
 * or returns -1 with the fault.
 */
int servers_variables(struct servers_entry *, const char *where,
    const char *key, char *const *own, const char *text, char **out);

#endif
