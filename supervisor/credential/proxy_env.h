/* SPDX-License-Identifier: ISC */
/*
 * The corporate proxy's user name and password in the environment's URL, for
 * the two programs that pass them on: icsupervisor and `icctl mcp login`.
 */
#ifndef PROXY_ENV_H
#define PROXY_ENV_H

#include "credential/proxy.h"

/* Make a pipe of them. Returns 0, or -1 with the fault set. */
int proxy_pipe(struct proxy *, struct fault *);
/*
 * Remove passwords from https_proxy, HTTP_PROXY, npm_config_proxy and so on:
 * children would inherit them.
 */
void proxy_wipe(void);

#endif
