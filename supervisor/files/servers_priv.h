/* SPDX-License-Identifier: ISC */
/* Shared between the files of the parser of mcp-servers.json. */
#ifndef SERVERS_PRIV_H
#define SERVERS_PRIV_H

#include "base/jsonfile.h"
#include "files/servers.h"

struct servers_entry {
	struct jsonfile j;
	const struct servers_how *how;
	struct server_def *def;
	char where[192];
};

/*
 * servers_network.c: Parse the hosts in "sandbox.network". If it is false or
 * absent, there are none.
 */
int servers_network(struct servers_entry *, struct json_object *sandbox);

/*
 * servers_variable.c: Replace ${NAME} and ${NAME:-DEFAULT} in `text`, the value
 * at where.key, by values from the list `own` (NAME=VALUE, or NULL) or else
 * from the user's environment. Returns 0 with the result in `*out`, which the
 * caller frees, or -1 with the fault set.
 */
int servers_variables(struct servers_entry *, const char *where,
    const char *key, char *const *own, const char *text, char **out);

/* servers_shown.c: Parse "tools" and "elicitation", of any entry. */
int servers_shown(struct servers_entry *, struct json_object *);

/*
 * servers_remote.c: Parse an entry with "url". Returns 0, or -1 with the fault
 * set.
 */
int servers_remote(struct servers_entry *, struct json_object *);
void servers_remote_free(struct server_remote *);

/*
 * servers_identity.c: What the user approves with a server: its command, its
 * arguments as they are written, without secrets and before references are
 * replaced, and the names of its variables, as canonical JSON. NULL with errno
 * set on failure; the caller frees it.
 */
char *servers_identity(const struct server_def *);

#endif
