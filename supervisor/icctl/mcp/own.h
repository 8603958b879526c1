/* SPDX-License-Identifier: ISC */
/*
 * The MCP servers that a person has: those of mcp-servers.json, or of
 * config.json if it has some, as sessions read them.
 */
#ifndef MCP_OWN_H
#define MCP_OWN_H

#include <json-c/json.h>

#include "base/fault.h"
#include "base/paths.h"

struct own {
	struct paths paths;
	struct json_object *file;    /* the file that has them */
	struct json_object *config;  /* config.json */
	struct json_object *servers; /* NAME: entry; part of `file` */
	const char *name;            /* the file's */
};

/* Returns 0, or -1 with the fault set; own_close() frees it in either case. */
int own_open(struct own *, struct fault *);
void own_close(struct own *);
/*
 * Returns the entry of that name, which belongs to `own`, or NULL with the
 * fault set, which names the servers there are.
 */
struct json_object *own_find(
    const struct own *, const char *name, struct fault *);
/*
 * Returns true if sessions have a server of that name without an entry: the
 * file server that IronCurtain brings along.
 */
bool own_builtin(const struct own *, const char *name);
/* Returns the names of its variables in serverCredentials, or NULL. */
struct json_object *own_secrets(const struct own *, const char *name);

#endif
