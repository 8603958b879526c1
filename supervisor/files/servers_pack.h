/* SPDX-License-Identifier: ISC */
/*
 * The MCP servers as bytes, from ic-reader to icsupervisor: the rows of `struct
 * servers`, and behind them, for each server that has them, its destinations
 * and the rows of its `struct server_remote`.
 */
#ifndef SERVERS_PACK_H
#define SERVERS_PACK_H

#include "base/pack.h"
#include "files/servers.h"

#define SERVERS_ROWS 4U
#define SERVERS_EGRESS_ROWS 3U
#define SERVERS_REMOTE_ROWS 4U

extern const struct pack_row servers_rows[SERVERS_ROWS];
extern const struct pack_row servers_egress_rows[SERVERS_EGRESS_ROWS];
extern const struct pack_row servers_remote_rows[SERVERS_REMOTE_ROWS];

/* servers_put.c: Add them. Returns 0, or -1 if they do not fit. */
int servers_put(struct buf *, const struct servers *);
/* Take what servers_put() has written. Returns 0, or -1 with nothing taken. */
int servers_take(struct servers *, struct span);

#endif
