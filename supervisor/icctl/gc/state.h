/* SPDX-License-Identifier: ISC */
/*
 * Decides whether a session still lives, from what its directory records and
 * from what the system says. Pure: it asks nobody.
 */
#ifndef GC_STATE_H
#define GC_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/here.h"

enum gc_lock {
	GC_LOCK_FREE,
	GC_LOCK_TAKEN,
	GC_LOCK_CANNOT /* a file system without locks */
};

struct gc_facts {
	enum gc_lock lock;
	enum here_is owner; /* read from the file "lock" */
	/* The process that the lock or session.json names. */
	bool named, runs;     /* it is recorded; that very process runs */
	bool other_boot;      /* it was of an earlier boot of this machine */
	bool other_host;      /* session.json names another machine */
	bool json, says_runs; /* there is a session.json; its state */
	bool log;             /* there are records in the audit log */
	bool fresh;           /* the directory was made a moment ago */
};

enum gc_state {
	GC_LIVING,
	GC_STARTING,  /* it may be: too new to tell */
	GC_ELSEWHERE, /* another machine's */
	GC_UNKNOWN,   /* it cannot be told whether it lives */
	GC_CRASHED,   /* its icsupervisor was killed */
	GC_ENDED,
	GC_REFUSED /* a start that came to nothing */
};

enum gc_state gc_state(const struct gc_facts *);

/*
 * Read a span of time: a number and m, h, d or w. Returns the seconds, or -1.
 */
int64_t gc_span(const char *);

/* Returns true if an ended session is to be removed. */
struct gc_rule {
	int64_t older;  /* seconds since its end, at least; -1: not given */
	int64_t newest; /* so many of the newest stay; -1: not given */
};
/* `rank`: 0 for the session that ended last. */
bool gc_removes(const struct gc_rule *, int64_t age, unsigned rank);

#endif
