/* SPDX-License-Identifier: ISC */
/*
 * Runs a short-lived program of ours that reads what this process should not:
 * it gets reports (report.h) that say what to do as its standard input, hands
 * back reports on its standard output, and ends. Every report is checked by
 * the caller's `take`, and what is not one ends the helper.
 */
#ifndef BASE_HELPER_H
#define BASE_HELPER_H

#include <stdint.h>

#include "base/fault.h"
#include "base/spawn.h"
#include "common/buf.h"

#define HELPER_MAX_FDS 20U

struct helper {
	const char *libexecdir, *name;
	const char *task;      /* its argument */
	const struct buf *job; /* its standard input */
	char *const *envp;
	int fds[HELPER_MAX_FDS]; /* its descriptors from 3 on; borrowed */
	unsigned nfds;
	/*
	 * Take a report. Returns 0, or -1 with the fault set: with the reason
	 * that a report gives, or because there is no such report.
	 */
	int (*take)(int letter, const char *text, struct fault *);
	/* helper_run(): the user wants to end this; NULL: never. */
	bool (*stopped)(void);

	/* helper_start() sets these. */
	struct spawned sp;
	int out; /* our end of its standard output, which never blocks */
	struct buf in;
};

/* Start it. Returns 0, or -1 with the fault set and nothing left. */
int helper_start(struct helper *, struct fault *);
/*
 * Take what it has reported. Returns 1 after the last report, 0 if there may be
 * more, or -1 with the fault set.
 */
int helper_read(struct helper *, struct fault *);
/* Kill it if it runs, and free everything. */
void helper_stop(struct helper *);
/*
 * Take its reports until the last one, for at most `ms` milliseconds, and stop
 * it. Returns 0, or -1 with the fault set.
 */
int helper_wait(struct helper *, uint64_t ms, struct fault *);
/* Start it, and wait for it. */
int helper_run(struct helper *, uint64_t ms, struct fault *);

#endif
