/* SPDX-License-Identifier: ISC */
/*
 * The tool calls of a conversation as events: those that auditd reports once
 * they are recorded, and those of tools that the agent has itself.
 */
#ifndef TALK_CALLS_H
#define TALK_CALLS_H

#include "common/ipc/proto.h"

/* Tell of a call to an MCP server and of its end. Return -1 if impossible. */
int talk_call(const struct msg_CALL_SHOW *);
int talk_call_end(const struct msg_RESULT_SHOW *);
/*
 * Tell of a tool that the agent says it uses. A tool of an MCP server is left
 * out, because auditd reports its calls.
 */
void talk_call_own(struct span tool);

#endif
