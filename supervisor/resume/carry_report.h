/* SPDX-License-Identifier: ISC */
/*
 * ic-carry reads the log of earlier runs for icsupervisor and icctl, and hands
 * back the state that is carried on, as reports (base/report.h). It and
 * carry_read.c include this file.
 */
#ifndef CARRY_REPORT_H
#define CARRY_REPORT_H

#include "resume/carry.h"

#define CARRY_PROGRAM "ic-carry"

/* Its descriptors beside the standard ones. */
enum {
	CARRY_SESSION = 3, /* the session's directory */
};

/* Its standard input. */
struct carry_job {
	bool verified; /* carry_load() gets `from` and `upto` */
	bool priced;   /* and `prices` */
	struct checkpoint from, upto;
	char dir[4096]; /* for messages */
	struct prices prices;
};

/* Reports that are no member of `struct carry`; the others are letters. */
enum {
	CARRY_FAILED = '!', /* the log cannot be read, or is not intact */
	CARRY_SCARCE = '?', /* likewise, for want of memory or the like */
};

/* Give each member to `emit`. */
void carry_tell(
    const struct carry *, void (*emit)(int letter, const char *text));
/*
 * Take a member. Returns false if there is none of that letter, or the text is
 * not one of its values.
 */
bool carry_take(struct carry *, int letter, const char *text);

#endif
