/* SPDX-License-Identifier: ISC */
/*
 * MCP servers that run without a sandbox, because the user said so on the
 * command line.
 */
#ifndef SERVER_PLAIN_H
#define SERVER_PLAIN_H

#include "core/sup.h"

/* Find their programs, and refuse what an agent could change. */
int server_plain_prepare(struct fault *);
/* Start one with these descriptors; the caller waits for exec. */
int server_plain_spawn(struct server *, const int stdio[3], struct fault *);

#endif
