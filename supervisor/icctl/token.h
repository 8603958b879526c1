/* SPDX-License-Identifier: ISC */
/* The login of a remote MCP server in words; see token.c. */
#ifndef ICCTL_TOKEN_H
#define ICCTL_TOKEN_H

#include <json-c/json.h>

/*
 * Write how long the token of a server's row lasts, and why it was not renewed;
 * "" if it has none. Not escaped. Returns `dst`.
 */
const char *icctl_token(json_object *row, char *dst, size_t cap);

#endif
