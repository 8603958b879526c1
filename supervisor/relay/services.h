/* SPDX-License-Identifier: ISC */
/*
 * icsupervisor's side of "services": looks at what listens there before the
 * agent gets it, makes the socket for their egressd, and says how they are
 * used. A service is a grant of whatever it can do.
 */
#ifndef SERVICES_H
#define SERVICES_H

#include <json-c/json.h>

#include "base/fault.h"
#include "common/ipc/proto.h"

/* services_check.c */
/*
 * Look at the services' listeners. One that no agent may have, or that belongs
 * to another user than at the first start, is refused; one that is not there is
 * off in this session. Returns 0, or -1 with the fault set.
 */
int services_check(struct fault *);
/* Tell the user what the agent gets: in full once, then in session.log. */
void services_say(void);
/* Returns true if nothing listened there at the start. */
bool services_off(unsigned i);
/* Returns a text such as "PostgreSQL, run by user postgres (110)". */
const char *services_whose(unsigned i);

/* services.c */
/* Make services.sock, to which ic-bridge connects. */
int services_listen(struct fault *);
/* Send the workers everything, before START. */
void services_setup(void);
/* auditd has counted. Returns -1 if there is no such service. */
int services_used(const struct msg_SERVICE_USE *);
struct json_object *services_json(void);
/* Returns true if the session starts a service itself. */
bool services_own_any(void);
/* The listener of a service of the session's own, below the session's directory. */
#define SERVICES_OWN_SOCKET "service.%u.sock"

#endif
