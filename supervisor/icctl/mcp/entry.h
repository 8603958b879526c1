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

#define MCP_NAME_MAX 32U

struct mcp_entry {
	char name[MCP_NAME_MAX + 1];
	struct json_object *entry;     /* command, args, env, sandbox */
	struct json_object *secrets;   /* NAME: value, for serverCredentials */
	struct json_object *variables; /* names that ${NAME} refers to */
	struct json_object *notes;     /* sentences */
	struct json_object *make;      /* directories to create */
	char *package;                 /* npm package to install, or NULL */
	char *refused;                 /* the reason why it cannot be imported,
					  or NULL */
};

struct mcp_entry_how {
	struct json_object *recipes; /* the shipped recipes.json */
	const char *user_home;
	const char *data_home; /* ~/.local/share */
};

/*
 * Returns the object of `root` that maps names to servers, for the
 * configurations of Claude Desktop, Claude Code, Cursor, VS Code, Gemini CLI,
 * OpenCode, Codex and for a bare mcp-servers.json; NULL if there is none.
 */
struct json_object *mcp_servers_of(struct json_object *root);
/* Convert one entry. Always fills `*out`, which mcp_entry_free() releases. */
void mcp_entry_convert(struct mcp_entry *out, const struct mcp_entry_how *,
    const char *name, struct json_object *theirs);
void mcp_entry_free(struct mcp_entry *);

#endif
