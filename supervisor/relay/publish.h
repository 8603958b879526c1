/* SPDX-License-Identifier: ISC */
/*
 * icsupervisor's side of published ports: their listeners, which portd gets,
 * and what is said about them. A published page runs in the user's browser,
 * which has network: publishing is a way out of the sandbox, and only the
 * command line can ask for it.
 */
#ifndef PUBLISH_H
#define PUBLISH_H

#include <json-c/json.h>

#include "base/fault.h"
#include "common/ipc/proto.h"

#define PUBLISH_PORTS_TEXT (6U * PROTO_MAX_PORTS + 1)

/* publish_open.c */
/*
 * Make the listeners, at an address that belongs to this session's id. Returns
 * 0, or -1 with the fault set.
 */
int publish_open(struct fault *);
/* Make publish.sock, to which ic-bridge connects. */
int publish_listen(struct fault *);
/* Send portd everything, before START. */
void publish_setup(void);

/* publish.c */
/* Write the sandbox's ports as ic-bridge reads them: "3000,5173". */
const char *publish_ports(char text[PUBLISH_PORTS_TEXT]);
/* Returns "http://127.83.7.9:3000/"; valid until the next call. */
const char *publish_url(unsigned i);
/* Tell the user, at the start. */
void publish_say(void);
/* portd has counted. Returns -1 if that port is not published. */
int publish_used(const struct msg_PORT_USE_SHOW *);
struct json_object *publish_json(void);
/* Another one gives the session another address. */
extern uint8_t publish_salt;
/* Returns the address of a published port, in host byte order. */
uint32_t publish_address(unsigned i);

#endif
