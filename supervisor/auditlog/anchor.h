/* SPDX-License-Identifier: ISC */
/*
 * Where the end of each log is told to, so that a log that was cut or composed
 * anew can be recognised: the system's journal, or a file elsewhere.
 */
#ifndef AUDITANCHOR_H
#define AUDITANCHOR_H

#include "config/fault.h"
#include "session.h"

struct anchor {
	const char *where; /* NULL: nowhere */
	int fd;            /* a file to append to, or the journal's socket */
	bool journal;
};

/* `where`: NULL, "journal", or a file. -1: it cannot be used, fault says why */
int anchor_open(struct anchor *, const struct session *, const char *where,
    struct fault *);
/* One line: the record `seq` is the last, and this is its hash. */
int anchor_write(const struct anchor *, const struct session *, uint64_t seq,
    const char *hex, struct fault *);

#endif
