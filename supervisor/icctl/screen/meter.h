/* SPDX-License-Identifier: ISC */
/*
 * The budget and the alarms of the session, as they reach a viewer over the
 * control socket.
 */
#ifndef METER_H
#define METER_H

#include <json-c/json.h>

/* The session's first reply: how it stands. */
void meter_reply(json_object *);
/* An event of the session's; those of no concern are ignored. */
void meter_event(const char *event, json_object *);

#endif
