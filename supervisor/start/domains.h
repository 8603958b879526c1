/* SPDX-License-Identifier: ISC */
/*
 * Adds hosts to the session, each with a keyd that is started for it, and
 * removes them again: for the tools of the virtual server (policyd/virtual.h),
 * and for a CONNECT that a person was asked about
 * (policyd/approval/host_holds.h). What arrives here policyd has allowed, and
 * auditd has recorded.
 */
#ifndef DOMAINS_H
#define DOMAINS_H

#include <json-c/json.h>

#include "core/sup.h"

/* Returns true if the agent may ask for hosts with tools. */
bool domains_on(void);
/* Returns which hosts a CONNECT may ask for. */
uint8_t domains_asked(void);
/* Open a host. Returns -1 if policyd cannot have asked for it. */
int domains_open(const struct msg_HOST_OPEN_GO *);
/* Close the host that was opened by this question, if it is open. */
void domains_revoked(uint64_t id);
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
