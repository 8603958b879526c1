/* SPDX-License-Identifier: ISC */
/*
 * MCP servers whose code an agent could write. Such a server is the agent, with
 * the server's variables, hosts and files, so it is left out, unless it has
 * none of these.
 */
#ifndef SERVER_LED_H
#define SERVER_LED_H

#include "core/sup.h"

/*
 * Returns true if the server has a variable, a secret argument, a network or an
 * entry of files, before rules add to its view.
 */
bool server_bears(const struct server_def *);
/*
 * Returns true if an agent could choose code that the server runs, and the
 * server has something that the agent has not; `why` then says what leads
 * where, and what to do. If the server runs a text, which may compose any path,
 * what agents write is withheld from its view instead.
 */
bool server_led(struct server *, char *why, size_t cap);
/*
 * Returns the directory in which the server starts in its sandbox: /workspace,
 * unless its program would find code there.
 */
const char *server_directory(const struct server *, const struct server_def *);

#endif
