/* SPDX-License-Identifier: ISC */
/*
 * Asks, before an entry is written, whether a session would start with it: by
 * `icsupervisor --check`, with the files as they would be.
 */
#ifndef MCP_IMPORT_CHECK_H
#define MCP_IMPORT_CHECK_H

#include <stdbool.h>

#include "base/paths.h"
#include "icctl/mcp/entry.h"

struct import_check {
	const struct paths *paths;
	/* The files as they would be, without the values of new secrets. */
	struct json_object *config, *servers;
	bool base; /* the files of before have been checked by themselves */
};

/* Begin with the user's files. Returns 0, or -1 with the fault set. */
int import_check_open(struct import_check *, const struct paths *,
    struct json_object *servers, struct json_object *config, struct fault *);
/*
 * Ask what a session would say of the files as they are. Returns a list of
 * {"name", "program" or else "why"}, which the caller owns, or NULL with the
 * fault set if no session starts with them.
 */
struct json_object *import_check_all(
    const struct import_check *, struct fault *);
/*
 * Set e->refused if no session would start with the entry, and add a note if
 * the session would start without the server. If none starts with the user's
 * files as they are, warn once, and check the entry by itself.
 */
void import_check(struct import_check *, struct mcp_entry *);
/* Take an entry back that was accepted. */
void import_check_without(struct import_check *, const struct mcp_entry *);
void import_check_close(struct import_check *);

#endif
