/* SPDX-License-Identifier: ISC */
/*
 * A checkpoint of an audit log: up to which byte it was checked, and the chain
 * at that place. The next run checks only what follows before it starts, so
 * that a session does not resume more slowly as its log grows. A checkpoint is
 * a hint: it counts only if the log's record at that place has its hash, and
 * the records before it are checked again while the session runs (recheck.c).
 * If a run ends before that is done, its checkpoint says how far it came, and
 * the next run goes on there.
 */
#ifndef AUDITCHECKPOINT_H
#define AUDITCHECKPOINT_H

#include <stdbool.h>

#include "log/line.h"

struct checkpoint {
	uint32_t part;	 /* the file's number: parts.h */
	uint64_t offset; /* bytes; the first record not covered begins here */
	struct auditlog log; /* the chain there */
};

/* How far the records before a checkpoint were checked. */
struct checked {
	struct checkpoint upto; /* its offset is 0: not at all */
	int64_t format;		/* the log's first record has it */
	uint64_t line;		/* lines of its file before it */
};

/*
 * Returns false if there is none, or none that has this form. `done` may be
 * NULL; its offset is 0 if nothing was left to check.
 */
bool checkpoint_read(int dirfd, struct checkpoint *, struct checked *done);
/* Returns true if the record before the offset has the hash. */
bool checkpoint_fits(const struct checkpoint *, int dirfd);
/* Returns true if this checkpoint is before the other one. */
bool checkpoint_before(const struct checkpoint *, const struct checkpoint *);
/*
 * `done` is NULL, or says how far a check came that was not finished. Returns
 * 0, or -1 with errno set.
 */
int checkpoint_write(
    int dirfd, const struct checkpoint *, const struct checked *done);
void checkpoint_remove(int dirfd);

#endif
