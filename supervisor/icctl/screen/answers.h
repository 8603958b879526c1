/* SPDX-License-Identifier: ISC */
/* In a conversation: the agent's answers, for a viewer that attached. */
#ifndef ANSWERS_H
#define ANSWERS_H

#include <json-c/json.h>

/* Request the conversation's events on this connection. */
void answers_open(int fd);
/* Show what an event of the conversation says. */
void answers_event(const char *event, json_object *);

#endif
