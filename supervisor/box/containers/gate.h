/* SPDX-License-Identifier: ISC */
/*
 * gated, as icsupervisor sees it: its token, its listeners, and the connections
 * that it has proven, each of which goes to the owner of one of the session's
 * sockets.
 */
#ifndef GATE_H
#define GATE_H

#include <netinet/in.h>

#include "common/ipc/proto.h"

/*
 * Make the token and the listeners, at the address (in host byte order).
 * `checked` gets the connections to GATE_CHECK. Returns 0, or -1 with errno set.
 */
int gate_listen(uint32_t address, void (*checked)(int fd));
/* The token: GATE_TOKEN bytes. */
struct span gate_token(void);
/* Returns the name of the way's socket in the sandbox, or NULL. */
const char *gate_name(enum gate_way);
/* Returns the listener's port, or 0 if there is none. */
uint16_t gate_port(enum gate_way);
/* Send gated what it needs. */
void gate_setup(void);
/* handlers.c: what gated says. Takes the descriptor. */
void gate_opened(enum gate_way, int fd);
void gate_refused(const struct msg_GATE_REFUSED *);
/* Returns the state for `status`, or NULL without a gate. */
struct json_object *gate_json(void);

#endif
