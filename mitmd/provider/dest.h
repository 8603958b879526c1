/* SPDX-License-Identifier: ISC */
/*
 * Destinations: what stands behind a provider's slot when it is no model's.
 * Such a file is written by icsupervisor from `destinations` in config.json:
 * {"name": ..., "kind": "web", "hosts": [...], ...}.  Routes and header lists
 * are the kind's own, and so is the alphabet of its paths; everything else is
 * as with any provider: both checks read the same bytes.
 */
#ifndef DEST_H
#define DEST_H

#include "provider/parse.h"

struct dest_kind {
	const char *name;
	/* Fills routes and lists; knows every member of the file. */
	int (*parse)(struct parse *, const struct value *file);
	/* As provider_match. */
	enum provider_result (*match)(const struct provider *, unsigned host,
	    struct span method, struct span path, struct span query,
	    unsigned *route);
};

extern const struct dest_kind dest_git, dest_registry, dest_web;

/* A file that has "kind". */
int dest_parse(struct parse *, const struct value *file);
/* "name", "host" or "hosts", "credential" if it is there. */
int dest_parse_common(struct parse *, const struct value *file);
/* A list of header names, of constant text. */
int dest_list(
    struct parse *, const char *const *names, struct provider_list *out);

/*
 * Bytes of RFC 3986 that mean one thing: whole segments of pchar, none of
 * dots, none empty but the last; an escape stands for no control character,
 * no slash, no backslash and no dot.  more: "" or characters besides.
 */
bool dest_is_path(struct span);
bool dest_is_query(struct span);

#endif
