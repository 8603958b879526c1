/* SPDX-License-Identifier: ISC */
/*
 * The same attempts as those of the break-out test, in the sandbox of an MCP
 * server, for `icctl doctor --attack`. Only box/breakout.c and
 * box/breakout_server.c include this.
 */
#ifndef BREAKOUT_SERVER_H
#define BREAKOUT_SERVER_H

#include "base/fault.h"
#include "docker/bridge/attempts.h"

/*
 * Make the attempts of `ask` in a sandbox like that of a server of others,
 * with the view of the session's first server. Blocks. Returns 0, or -1 with
 * the fault set.
 */
int breakout_server(const struct attempt_ask *ask,
    struct attempt_record records[ATTEMPT_COUNT], struct fault *);

#endif
