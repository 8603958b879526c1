/* SPDX-License-Identifier: ISC */
/*
 * Destinations: services other than model providers that take a provider's
 * slot. icsupervisor writes their files from `destinations` in config.json:
 * {"name": ..., "kind": "web", "hosts": [...], ...}. The kind determines the
 * routes, the header lists and the alphabet of paths; everything else is as
 * with any provider: mitmd and keyd check requests against the same bytes.
 */
#ifndef DEST_H
#define DEST_H

#include "provider/parse.h"

struct dest_kind {
	const char *name;
	/* Set the routes and lists. Knows every member of the file. */
	int (*parse)(struct parse *, const struct value *file);
	/* See provider_match(). */
	enum provider_result (*match)(const struct provider *, unsigned host,
	    struct span method, struct span path, struct span query,
	    unsigned *route);
};

extern const struct dest_kind dest_forge, dest_git, dest_mcp, dest_registry,
    dest_web;

/*
 * Returns true if repositories of the git server can be fetched, without asking
 * each time, and nothing can be pushed to it.
 */
bool dest_git_reads(const struct provider *);

/* Parse a file that has "kind". */
int dest_parse(struct parse *, const struct value *file);
/*
 * Parse the members that all kinds have: "name", "host" or "hosts", and an
 * optional "credential".
 */
int dest_parse_common(struct parse *, const struct value *file);
/* Make a list of header names from constant texts. */
int dest_list(
    struct parse *, const char *const *names, struct provider_list *out);

/*
 * Returns true for paths (RFC 3986) that have only one meaning: segments of
 * pchar, none of them dots and none empty except the last; no escape of a
 * control character, slash, backslash or dot.
 */
bool dest_is_path(struct span);
bool dest_is_query(struct span);

#endif
