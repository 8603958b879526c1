/* SPDX-License-Identifier: ISC */
/*
 * Reading a whole audit log: whether its chain holds, where it first breaks,
 * and what part of a line a crash left. Shared by icsupervisor, which continues
 * a log, and by icctl, which verifies and closes one.
 */
#ifndef AUDITSCAN_H
#define AUDITSCAN_H

#include "auditlog/line.h"

/*
 * The value of detail.format in a run's first record: a torn line is accepted
 * only if the next record has its length in detail.torn. A log without it is
 * version 1, where any first or closing record excuses the line before it.
 */
#define AUDITSCAN_FORMAT 2

struct auditscan {
	enum auditlog_check check;
	size_t line;    /* the first bad line, counted from 1 */
	size_t records; /* number of good lines before it */
	size_t torn;    /* the last torn line that the next record acknowledges,
			   or 0 */
	bool old;       /* that record is of format 1 and gives no length */
	bool closed;    /* the last record is a closing record */
	size_t cut;     /* bytes of a torn line after the last record */
	bool tail;      /* apart from that line, the log is good */
	size_t whole;   /* bytes up to the end of the last good line */
	bool unended;   /* the last good line lacks its newline */
	uint64_t seq;   /* the next line's */
	bool seen;      /* the wanted line is there */
	uint8_t at[AUDITLOG_HASH]; /* its hash */
	uint8_t hash[AUDITLOG_HASH]; /* the last good line's */
};

void auditscan(struct span all, struct auditscan *);
/*
 * Check only what follows a checkpoint that fits the log; NULL: everything.
 * Lines and records are then counted from there.
 */
struct checkpoint;
void auditscan_from(
    struct span all, const struct checkpoint *, struct auditscan *);
/* Do the same and note the hash of the line with this sequence number. */
void auditscan_want(struct span all, uint64_t seq, struct auditscan *);
/* Returns a phrase for a person. */
const char *auditscan_why(enum auditlog_check);

#endif
