/* SPDX-License-Identifier: ISC */
/*
 * What the virtual server does (policyd/virtual.h): web hosts are added to the
 * session, each with a keyd of its own that is started then, and closed again.
 * A call comes here when policyd has let it go and auditd has written it down.
 */
#ifndef DOMAINS_H
#define DOMAINS_H

#include <json-c/json.h>

#include "sup.h"

/* Is it on? */
bool domains_on(void);
/* The server's row, to those whom it concerns. */
void domains_setup(void);
/* What policyd says of it; and as `icctl status` lists it. */
void domains_state(const struct msg_STATE_SHOW *);
struct json_object *domains_server_json(void);
/* -1: there can be no such call. */
int domains_call(const struct msg_VIRTUAL *);
/* A keyd that was started here is confined. */
void domains_hello(const struct child *);
/* Hosts of the configuration, then those that were added: `icctl status`. */
struct json_object *domains_json(void);

#endif
