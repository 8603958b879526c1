/* SPDX-License-Identifier: ISC */
/*
 * session.json of an earlier run, as `icctl resume` needs it. It says what ran;
 * it never says what is allowed.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* The form of session.json; a file without it is of an earlier version. */
#define RECORD_FORMAT 2

struct record {
	char agent[65], adapter[65];
	char state[16];
	char host[65], boot[40];
	char workspace[4097];
	uint64_t dev, ino; /* the workspace's */
	char conversation[65]; /* the name of the agent's own, or "" */
	char quota[32]; /* when it returns, as in RFC 3339, or "" */
	bool talked; /* the agent has begun that conversation */
	int64_t status;
	char why[1025];
};

/*
 * Read session.json. Returns 0, or -1 with the fault set; errno is ENOENT if
 * there is none.
 */
int record_read(struct record *, int dirfd, const char *dir, struct fault *);
/*
 * Returns true if this may be the name of a conversation, which becomes an
 * argument of the agent: letters, digits, '.', '_' and '-', at most 64, not
 * beginning with '-' or '.'.
 */
bool record_name_ok(const char *);

#endif
