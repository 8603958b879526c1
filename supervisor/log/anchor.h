/* SPDX-License-Identifier: ISC */
/*
 * Reports the end of each audit log to a place outside the session's directory
 * (the system's journal, or a file), so that a log that was truncated or
 * rewritten later can be recognised.
 */
#ifndef AUDITANCHOR_H
#define AUDITANCHOR_H

#include "base/fault.h"
#include "base/session.h"

struct anchor {
	const char *where; /* "journal" or a file; NULL if there is none */
	int fd;            /* the file, open for appending, or a socket to the
			      journal */
	bool journal;
};

/*
 * Open the anchor. `where` is NULL (no anchor), "journal", or a file's path,
 * and must outlive the anchor. Returns 0, or -1 with the fault set.
 */
int anchor_open(struct anchor *, const struct session *, const char *where,
    struct fault *);
/*
 * Write one line: the log's last record is number `seq` and has this hash.
 * Returns 0 (also without an anchor), or -1 with the fault set.
 */
int anchor_write(const struct anchor *, const struct session *, uint64_t seq,
    const char *hex, struct fault *);

#endif
