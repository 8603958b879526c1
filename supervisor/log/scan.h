/* SPDX-License-Identifier: ISC */
/*
 * Reading a whole audit log: whether its chain holds, where it first breaks,
 * and what part of a line a crash left. Shared by icsupervisor, which continues
 * a log, and by icctl, which verifies and closes one.
 */
#ifndef AUDITSCAN_H
#define AUDITSCAN_H

#include "base/fault.h"
#include "log/line.h"
#include "log/parts.h"

/*
 * The value of detail.format in a run's first record: a torn line is accepted
 * only if the next record has its length in detail.torn. A log without it is
 * version 1, where any first or closing record excuses the line before it.
 */
#define AUDITSCAN_FORMAT 2

struct auditscan {
	enum auditlog_check check;
	unsigned part;  /* the number of the file that was read last: parts.h */
	char name[AUDITPARTS_NAME]; /* its name */
	size_t line;    /* the first bad line of it, counted from 1 */
	size_t records; /* number of good lines before it */
	size_t torn;    /* the last torn line that the next record acknowledges,
			   or 0 */
	bool old;       /* that record is of format 1 and gives no length */
	bool closed;    /* the last record is a closing record */
	size_t cut;     /* bytes of a torn line after the last record */
	bool tail;      /* apart from that line, the log is good */
	size_t whole;   /* bytes of it up to the end of the last good line */
	bool unended;   /* its last line lacks its newline */
	uint64_t seq;   /* the next line's */
	bool seen;      /* the wanted line is there */
	uint8_t at[AUDITLOG_HASH]; /* its hash */
	uint8_t hash[AUDITLOG_HASH]; /* the last good line's */
};

/* The place between two records at which checking begins. */
struct auditplace {
	struct auditlog log;
	int64_t format; /* the log's first record has it; 0 before that */
};

/*
 * Check a file, or its beginning, and add the result to `s`, which is all zero
 * before the first one. Advances the place. `last`: it is the newest file, whose
 * last line may be torn. `want`: if not 0, note the hash of the line with this
 * sequence number.
 */
void auditscan_file(struct span all, bool last, uint64_t want,
    struct auditplace *, struct auditscan *s);
/*
 * Check all files of a log, or only what follows a checkpoint that fits it.
 * Lines of its file, and records, are then counted from there. Returns 0, or -1
 * with the fault set if a file cannot be read.
 */
struct checkpoint;
int auditscan(int dirfd, const char *dir, const struct checkpoint *,
    uint64_t want, struct auditscan *, struct fault *);
/* Returns true if the chain holds, up to a line that a crash cut short. */
bool auditscan_good(const struct auditscan *);
/* Set the fault to the first bad line, with this advice. Returns -1. */
int auditscan_fault(const struct auditscan *, const char *dir,
    const char *advice, struct fault *);
/* Returns a phrase for a person. */
const char *auditscan_why(enum auditlog_check);

#endif
