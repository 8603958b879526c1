/* SPDX-License-Identifier: ISC */
/*
 * The connection that ic-bridge makes to icsupervisor, in the frames of
 * common/bridge_frames.h. There is exactly one: the socket is gone once it is
 * accepted, which is before anything of the agent runs. Whatever comes over it
 * comes out of the sandbox, and is checked by whoever asked for it.
 */
#ifndef BOX_BRIDGE_H
#define BOX_BRIDGE_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "common/bridge_frames.h"

struct bridge_calls {
	/*
	 * The frame that was asked for; HELLO has been checked already. Returns
	 * 0, or -1 if its content breaks the protocol.
	 */
	int (*frame)(enum bridge_kind, const uint8_t *data, size_t len);
	/*
	 * The connection is gone. `why` says how it broke the protocol, or is
	 * NULL if it was closed.
	 */
	void (*gone)(const char *why);
};

/*
 * Listen on bridge.sock in this directory; -1: it comes by bridge_take().
 * Returns 0, or -1 with the fault set.
 */
int bridge_open(int sockets, const struct bridge_calls *, struct fault *);
/* Send a frame, also before there is a connection. */
int bridge_send(enum bridge_kind, const void *data, size_t len);
/*
 * Take over the connection, which gated got. There is no way to tell from it
 * which process connected.
 */
void bridge_take(int fd);
void bridge_peer_set(pid_t);
/* Returns the process that connected, or -1. */
pid_t bridge_peer(void);
/* Close everything and remove the socket. */
void bridge_close(void);

#endif
