/* SPDX-License-Identifier: ISC */
/*
 * Reads the front of a line for a remote MCP server, which policyd writes the
 * same way every time (policyd/compose.c): the id, the method, and in revision
 * 2026-07-28 the name that the request is about.
 */
#ifndef POST_LINE_H
#define POST_LINE_H

#include "common/span.h"

#define POST_NAME 4096U /* bytes of the header, with a NUL */

struct post_line {
	struct span id;       /* as JSON; empty: the message has no answer */
	struct span method;   /* empty likewise */
	char name[POST_NAME]; /* as a header's value, or "" */
};

void post_line_read(struct span line, struct post_line *);

/*
 * Write the text as the value of a header: as it is if it is plain, else in
 * base64 as =?base64?...?=. Returns 0, or -1 if there is no room.
 */
int post_line_header(struct span text, char *dst, size_t cap);

#endif
