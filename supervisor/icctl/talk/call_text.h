/* SPDX-License-Identifier: ISC */
/* A tool call in a conversation, as one line. */
#ifndef ICCTL_CALL_TEXT_H
#define ICCTL_CALL_TEXT_H

#include <json-c/json.h>

#define CALL_TEXT 1024U
#define CALL_MARK "* uses "

/*
 * Write the line for an event "tool_call", without its mark: server, tool,
 * decision and reason. It is not made printable. Returns `dst`, which has
 * CALL_TEXT bytes.
 */
const char *call_text(json_object *, char *dst);

#endif
