/* SPDX-License-Identifier: ISC */
/* Reads a forge's list of repositories: it tells about the token that got it. */
#ifndef ASKER_LIST_H
#define ASKER_LIST_H

#include "common/buf.h"
#include "common/span.h"

#define LIST_MAX_ANSWER (4U << 20)
#define LIST_MAX_NAME 200U
#define LIST_MAX_NAMES 100U
#define LIST_MAX_SCOPES 512U

/* Returns true if the answer has all of its body, or can have none. */
bool list_complete(struct span answer);
/*
 * Append a line for the scopes, if a header names them, and one for each of the
 * first repositories: "scopes TEXT", "repository OWNER/NAME read" or "...
 * write". Returns 0, or -1 if the body is no list.
 */
int list_read(struct span answer, struct buf *out);

#endif
