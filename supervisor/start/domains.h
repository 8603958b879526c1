/* SPDX-License-Identifier: ISC */
/*
 * Carries out the tools of the virtual server (policyd/virtual.h): adds web
 * hosts to the session, each with a keyd that is started for it, and removes
 * them again. A call arrives here once policyd has allowed it and auditd has
 * recorded it.
 */
#ifndef DOMAINS_H
#define DOMAINS_H

#include <json-c/json.h>

#include "core/sup.h"

/* Returns true if the agent may ask for hosts. */
bool domains_on(void);
/* Announce the virtual server to the workers that need it. */
void domains_setup(void);
/* Handle policyd's report on its state; return its row in `icctl status`. */
void domains_state(const struct msg_STATE_SHOW *);
struct json_object *domains_server_json(void);
/* Carry out a call. Returns -1 if policyd cannot have allowed it. */
int domains_call(const struct msg_VIRTUAL *);
/* Go on with a keyd that was started here and has said HELLO. */
void domains_hello(const struct child *);
/*
 * Returns the hosts of the configuration, then those added, for `icctl status`.
 */
struct json_object *domains_json(void);

#endif
