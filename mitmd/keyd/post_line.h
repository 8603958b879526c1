/* SPDX-License-Identifier: ISC */
/*
 * Reads the front of a line for a remote MCP server, which policyd writes the
 * same way every time (policyd/compose.c): the id, the method, and in revision
 * 2026-07-28 the name that the request is about.
 */
#ifndef POST_LINE_H
#define POST_LINE_H

#include "common/ipc/proto.h"
#include "common/span.h"

#define POST_NAME 4096U /* bytes of the header, with a NUL */

struct post_line {
	struct span id;       /* as JSON; empty: the message has no answer */
	struct span method;   /* empty likewise */
	char name[POST_NAME]; /* as a header's value, or "" */
};

void post_line_read(struct span line, struct post_line *);

/*
 * Take a parameter that is wanted in a header, " NAME VALUE" with the value as
 * JSON, off the front. Writes the header's name, in lower case, and its value.
 * Returns 1, 0 at the end, or -1 if it is none, or too long.
 */
#define POST_PARAM 96U /* bytes of the name, with a NUL */
int post_line_param(
    struct span *line, char name[POST_PARAM], char value[POST_NAME]);

/* Returns true if it can be a header's value that has no space. */
bool post_line_token(struct span);
/*
 * Read what events are asked for: the id of a request, which is empty for "-",
 * a space, and an event's id, or nothing for none. Returns 0, or -1.
 */
int post_line_events(
    struct span, struct span *id, char event[PROTO_MAX_EVENT + 1]);

/*
 * Write the text as the value of a header: as it is if it is plain, else in
 * base64 as =?base64?...?=. Returns 0, or -1 if there is no room.
 */
int post_line_header(struct span text, char *dst, size_t cap);

#endif
