/* SPDX-License-Identifier: ISC */
/*
 * mcp-servers.json: which MCP servers there are and what each may see.  The
 * founding system's form, of which what we cannot keep is refused.
 */
#ifndef SERVERS_H
#define SERVERS_H

#include <json-c/json.h>

#include "common/ipc/proto.h"
#include "common/net/egress_list.h"
#include "config/config.h"
#include "config/fault.h"
#include "config/paths.h"

/* The name of the built-in file server. */
#define SERVERS_FILES "filesystem"

struct server_def {
	char *name;
	char *command;
	char **args;       /* NULL-terminated, may be empty */
	char **env;        /* NAME=VALUE */
	char **allow_read; /* absolute host paths */
	char **allow_write;
	char **deny_read;
	char **deny_write;
	struct egress_list *egress; /* NULL: no network at all */
	char *domains; /* of it, as policyd's gate takes them; or NULL */
	bool workspace; /* sees /workspace */
	bool sandboxed;
	bool git;      /* a git server: named so, or called one */
	bool internal; /* not of the file: gitbox.h */
	bool secret; /* has a credential, or a reference to the environment */
};

struct servers {
	char *file; /* where they were read; NULL: built in */
	struct server_def defs[PROTO_MAX_SERVERS];
	unsigned n;
	bool no_files; /* "filesystem": false: without the built-in one */
};

/* What the parser goes by besides the file. */
struct servers_how {
	const char *file; /* for messages and relative paths */
	const char *user_home;
	const char *const *unsandboxed; /* --allow-unsandboxed */
	size_t nunsandboxed;
	bool checking; /* as if it named every server */
	struct json_object *env; /* serverCredentials, or NULL */
};

/* Takes the object that maps names to entries. */
int servers_parse(struct servers *, const struct servers_how *,
    struct json_object *, struct fault *);
/* Reads a file. A missing one is an error only if `must`; else 0 servers. */
int servers_load(
    struct servers *, const struct servers_how *, bool must, struct fault *);
/* Those of a session: of config.json, its file, mcp-servers.json, built in. */
int servers_find(struct servers *, struct servers_how *, const struct config *,
    const struct paths *, struct fault *);
/*
 * Add our own file server, icfs on the workspace, unless the file has a server
 * of its name or does not want it.
 */
int servers_builtin(struct servers *, struct fault *);
void servers_free(struct servers *);

#endif
