/* SPDX-License-Identifier: ISC */
/*
 * Texts by which config.json and a project's file take from the policy:
 * "tool SERVER/TOOL", "write PATH" or "read PATH". A path is relative to the
 * workspace, and everything below it is meant, too.
 */
#ifndef COMMON_NARROW_H
#define COMMON_NARROW_H

#include "common/span.h"

#define NARROW_MAX 64U         /* in each list of a person */
#define NARROW_PROJECT_MAX 16U /* in each list of a project's file */
#define NARROW_ALL (NARROW_MAX + NARROW_PROJECT_MAX)
#define NARROW_TEXT 500U

enum narrow_kind {
	NARROW_TOOL,
	NARROW_READ,
	NARROW_WRITE
};

struct narrow {
	bool ask; /* or deny */
	enum narrow_kind kind;
	struct span server, tool; /* tool: * is any text */
	struct span path;         /* without a slash at its ends, or empty */
};

/* The forms that a person can write, for a message about any other text. */
#define NARROW_FORMS                                                           \
	"\"tool SERVER/TOOL\", \"write PATH\" or \"read PATH\", with a path "  \
	"below the workspace, of which * is no part except in a final /**"

/*
 * Parse "deny TEXT" or "ask TEXT", which the result points into. Returns 0, or
 * -1.
 */
int narrow_read(struct span text, struct narrow *);
/* Parse such a TEXT. */
int narrow_parse(struct span text, struct narrow *);

#endif
