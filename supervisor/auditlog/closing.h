/* SPDX-License-Identifier: ISC */
/*
 * The closing record of a log that auditd can no longer write: appended by
 * icsupervisor, or by icctl after all of a session's processes were killed.
 */
#ifndef AUDITCLOSING_H
#define AUDITCLOSING_H

#include <stdbool.h>

#include "auditlog/line.h"
#include "session.h"

struct auditclosing {
	struct session *session;
	struct auditlog log;
	struct buf out;
	size_t torn; /* bytes of a torn line, which stays */
	size_t cut;  /* or was cut off to make room */
};

/*
 * Finds the end of the log. `cut`: remove a torn line, and use the disk that
 * was kept for this. Returns 0, or -1: the end cannot be read. After 0 the
 * caller adds its records and ends it.
 */
int auditclosing_begin(struct auditclosing *, struct session *, bool cut);
/* Adds a record; detail is a canonical JSON object. */
void auditclosing_add(
    struct auditclosing *, const char *event, struct span detail);
/* Writes them, all or nothing. Returns 0, or -1 with errno. */
int auditclosing_end(struct auditclosing *);

/* The number and the hash of the last whole record. -1: there is none. */
int auditfile_last(
    const struct session *, uint64_t *seq, uint8_t hash[AUDITLOG_HASH]);

#endif
