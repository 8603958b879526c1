/* SPDX-License-Identifier: ISC */
/*
 * The forms in which other programs write MCP servers: where their entries are
 * in a file, and how command, arguments and variables are put.
 */
#ifndef MCP_FORMS_H
#define MCP_FORMS_H

#include <json-c/json.h>

/*
 * Returns an object that maps names to servers, which the caller owns, for the
 * configurations of Claude Desktop, Claude Code (those of each project, too),
 * Cursor, VS Code, Gemini CLI, OpenCode, Codex, Zed, Continue and Amp, and for
 * a bare mcp-servers.json; NULL if the file has none. A name that occurs twice
 * is taken once if the entries are the same, and otherwise gets a number.
 */
struct json_object *mcp_servers_of(struct json_object *root);
/*
 * Returns the entry with its command as a text, its arguments as a list and its
 * variables as an object of texts, which the caller owns; NULL if it is no
 * object.
 */
struct json_object *forms_entry(struct json_object *theirs);

#endif
