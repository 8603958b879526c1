/* SPDX-License-Identifier: ISC */
/*
 * The JSON-RPC lines that MCP servers get.  Every byte is written here from
 * decoded values; each line ends with its newline.
 */
#ifndef COMPOSE_H
#define COMPOSE_H

#include "common/json/value.h"

#define COMPOSE_PROTOCOL "2025-11-25"

/* Where things lie in a composed call (proto.h, RELEASE). */
struct composed {
	uint32_t line_len;
	uint32_t args_off, args_len;
	uint32_t log_off, log_len;
	bool redacted;
};

/* Appends to the buffer. -1: the buffer has failed (ENOBUFS, ENOMEM). */
int compose_call(struct buf *, uint64_t id, struct span tool,
    const struct value *args, bool progress, struct composed *);
/* Only the arguments: a call that is not forwarded. */
int compose_args(struct buf *, const struct value *args, struct composed *);

int compose_initialize(struct buf *);
int compose_initialized(struct buf *);
/* id "t<seq>"; cursor empty: the first page. */
int compose_tools_list(struct buf *, uint32_t seq, struct span cursor);
/* The answer to a ping, and to anything else a server asks. */
int compose_pong(struct buf *, bool string, struct span rid);
int compose_unknown(struct buf *, bool string, struct span rid);
/* Where do these remotes of the repository lead? */
int compose_remotes(struct buf *, uint32_t seq, struct span path,
    const struct span *remotes, unsigned n);
int compose_cancelled(struct buf *, uint64_t id);

#endif
