/* SPDX-License-Identifier: ISC */
/* The state of the login of a remote MCP server, for lists of servers. */
#ifndef MCP_LOGIN_STATE_H
#define MCP_LOGIN_STATE_H

#include "icctl/mcp/own.h"

/*
 * Returns what is known of the login of that server of `own`, an object with
 * "state" ("none", "key", "login", "expired", "elsewhere") and more; or NULL if
 * it is not a remote server.
 */
struct json_object *login_state_of(
    const struct own *own, const char *name, struct json_object *entry);
/* Write it as a sentence without a period. Returns `dst`. */
const char *login_state_text(
    struct json_object *state, const char *name, char *dst, size_t cap);

#endif
