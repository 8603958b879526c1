/* SPDX-License-Identifier: ISC */
/*
 * Converts an MCP server's entry in another program's configuration to an entry
 * of mcp-servers.json. Nothing is dropped silently: every member that is not
 * taken over, and every value that is moved, leaves a note for the person.
 */
#ifndef MCP_ENTRY_H
#define MCP_ENTRY_H

#include <json-c/json.h>
#include <stdbool.h>

struct guards;

#define MCP_NAME_MAX 32U

struct mcp_entry {
	char name[MCP_NAME_MAX + 1];
	struct json_object *entry;     /* command, args, env, sandbox; or url,
					  headers */
	struct json_object *secrets;   /* NAME: value, for serverCredentials */
	struct json_object *variables; /* names that ${NAME} refers to */
	struct json_object *notes;     /* sentences */
	struct json_object *make;      /* directories to create */
	struct json_object *move;      /* FILE: the place of its copy, for files
					  that no server may be shown in their
					  directory */
	struct json_object *where;     /* a remote server's secret, as in
					  serverCredentials, or NULL */
	char *keep, *keep_in;          /* that secret, and the file for it, or
					  NULL */
	char *package;                 /* npm package to install, or NULL */
	char *refused;                 /* the reason why it cannot be imported,
					  or NULL */
};

struct mcp_entry_how {
	struct json_object *recipes; /* the shipped recipes.json */
	const char *user_home;
	const char *home;      /* IRONCURTAIN_HOME */
	const char *data_home; /* ~/.local/share */
	/* The objects that no server may see, or NULL: none is checked. */
	const struct guards *guards;
	struct json_object *keys; /* guarded.h, or NULL */
	/* A text: relative names of scripts begin here if the entry does not
	   say where; or NULL. */
	struct json_object *cwd;
	bool added; /* by the person, not found with another program */
};

/* Convert one entry. Always fills `*out`, which mcp_entry_free() releases. */
void mcp_entry_convert(struct mcp_entry *out, const struct mcp_entry_how *,
    const char *name, struct json_object *theirs);
void mcp_entry_free(struct mcp_entry *);

#endif
