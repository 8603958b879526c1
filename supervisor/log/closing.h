/* SPDX-License-Identifier: ISC */
/*
 * The closing record of a log that auditd can no longer write: appended by
 * icsupervisor, or by icctl after all of a session's processes were killed.
 */
#ifndef AUDITCLOSING_H
#define AUDITCLOSING_H

#include <stdbool.h>

#include "base/session.h"
#include "log/checkpoint.h"

struct auditclosing {
	struct session *session;
	struct auditlog log;
	struct buf out;
	size_t torn; /* bytes of a torn line that stays in the log */
	size_t cut;  /* bytes of a torn line that was removed */
};

/*
 * Find the end of the log. If `cut`, remove a torn line and free the disk space
 * that is reserved for closing. Returns 0, or -1 if the end cannot be read.
 * After success the caller adds records and calls auditclosing_end().
 */
int auditclosing_begin(struct auditclosing *, struct session *, bool cut);
/* Add a record; `detail` is a canonical JSON object, or empty. */
void auditclosing_add(
    struct auditclosing *, const char *event, struct span detail);
/*
 * Write all added records, or none, and free the buffer. Returns 0, or -1 with
 * errno set.
 */
int auditclosing_end(struct auditclosing *);

/*
 * Read the log's end, behind its last whole record. Returns 0, or -1 if there
 * is none.
 */
int auditfile_last(const struct session *, struct checkpoint *);

#endif
