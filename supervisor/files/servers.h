/* SPDX-License-Identifier: ISC */
/*
 * mcp-servers.json: the MCP servers and what each may see. The format is that
 * of the TypeScript IronCurtain; settings that cannot be honoured here are
 * errors.
 */
#ifndef SERVERS_H
#define SERVERS_H

#include <json-c/json.h>

#include "base/fault.h"
#include "base/paths.h"
#include "common/ipc/proto.h"
#include "common/net/egress_list.h"
#include "files/config.h"

/* The name of the built-in file server. */
#define SERVERS_FILES "filesystem"

/* A server on another machine: the provider that it becomes. */
struct server_remote {
	struct config_provider as; /* its name, upstream, credential, CA */
	bool public; /* its addresses must be; else they may be private */
	bool login;  /* without a key: `icctl mcp login` may make a login */
	struct json_object *file; /* members of its provider file */
};

struct server_def {
	char *name;
	char *command;     /* or its URL */
	char **args;       /* NULL-terminated, may be empty; or its headers */
	char **env;        /* NAME=VALUE */
	char *entry;       /* servers_identity(); NULL if it is built in */
	char **allow_read; /* absolute host paths */
	char **allow_write;
	char **deny_read;
	char **deny_write;
	struct egress_list *egress; /* NULL: no network at all */
	char *domains;  /* the allowed names, one per line, for policyd's domain
			   gate; or NULL */
	size_t nplain;  /* variables of the entry itself; serverCredentials
			   follow */
	bool workspace; /* sees /workspace */
	bool sandboxed;
	bool git;          /* a git server: called "git", or declared as one */
	bool internal;     /* not from the file: gitbox.h */
	bool shell;        /* may be an interpreter with its program's text */
	char *copy;        /* directory with the copy of its program, or NULL */
	char copy_sum[65]; /* the copy's digest, in hexadecimal digits */
	struct server_remote *remote; /* NULL: it is started here */
	char **tools; /* patterns of those that the agent sees; NULL: all */
	bool silent;  /* it cannot ask the person anything */
	bool secret; /* has what looks like a credential, or refers to one */
};

struct servers {
	char *file; /* path that they were read from; NULL: built in */
	struct server_def defs[PROTO_MAX_SERVERS];
	unsigned n;
	bool no_files; /* "filesystem": false: without the built-in one */
};

/* Input of the parser apart from the file. */
struct servers_how {
	const char *file; /* for messages and relative paths */
	const char *user_home;
	const char *const *unsandboxed; /* --allow-unsandboxed */
	size_t nunsandboxed;
	bool checking;           /* act as if `unsandboxed` had every server */
	struct json_object *env; /* serverCredentials, or NULL */
	/* NAME=VALUE of the user's variables; NULL: those of this process */
	const char *const *variables;
};

/*
 * Parse the object that maps names to entries. Returns 0, or -1 with the fault
 * set.
 */
int servers_parse(struct servers *, const struct servers_how *,
    struct json_object *, struct fault *);
/* Parse the text of such a file. */
typedef int servers_parse_fn(struct servers *, const struct servers_how *,
    struct span text, struct fault *);
servers_parse_fn servers_text;
/* servers_ask.c: Have ic-reader parse it; `checking` is not for it. */
servers_parse_fn servers_ask;
/*
 * Find a session's servers: in config.json, in the file that it names, or in
 * mcp-servers.json; then add the built-in one. Returns 0, or -1 with the fault
 * set. Without a file there is the built-in one alone.
 */
int servers_find(struct servers *, struct servers_how *, servers_parse_fn *,
    const struct config *, const struct paths *, struct fault *);
/*
 * Add IronCurtain's own file server, icfs on the workspace, unless the file has
 * a server of its name or does not want it.
 */
int servers_builtin(struct servers *, struct fault *);
void servers_free(struct servers *);

/*
 * servers_variable.c: Returns the length of the name of a variable at the
 * beginning of `s`, or 0.
 */
size_t servers_variable_name(const char *s);

#endif
