/* SPDX-License-Identifier: ISC */
/*
 * Reading a whole audit log: whether its chain holds, where it breaks first,
 * and what a crash left of a line.  Shared by icsupervisor, which continues a
 * log, and by icctl, which verifies and closes one.
 */
#ifndef AUDITSCAN_H
#define AUDITSCAN_H

#include "auditlog/line.h"

/*
 * In detail.format of a run's first record: a torn line is accepted only where
 * the record behind it has its length in detail.torn. Without it: version 1,
 * where any closing or first record excuses the line before.
 */
#define AUDITSCAN_FORMAT 2

struct auditscan {
	enum auditlog_check check;
	size_t line;    /* of the first bad line, from 1 */
	size_t records; /* good lines before it */
	size_t torn;    /* the last line that a crash cut and a record owns to;
			   0: none */
	bool old;       /* that record is of format 1 and says no length */
	bool closed;    /* the last record is a closing record */
	size_t cut;     /* bytes behind that record which are none: torn */
	bool tail;      /* and nothing else is wrong */
	size_t whole;   /* bytes up to the end of the last good line */
	bool unended;   /* and that line lacks only its newline */
	uint64_t seq;   /* of the next line */
	uint8_t hash[AUDITLOG_HASH]; /* of the last good line */
};

void auditscan(struct span all, struct auditscan *);
/* A phrase for a person. */
const char *auditscan_why(enum auditlog_check);

#endif
