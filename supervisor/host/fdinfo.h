/* SPDX-License-Identifier: ISC */
/*
 * Counts what the open files of a process hold, as /proc/PID/fdinfo shows it.
 */
#ifndef HOST_FDINFO_H
#define HOST_FDINFO_H

#include <stdint.h>

#define FDINFO_FILES 200000U /* looked at by one search */

struct fdinfo {
	unsigned files;   /* looked at until now */
	uint64_t until;	  /* clock_mono_us() at which to stop; 0: never */
	uint64_t flying;  /* descriptors that wait in its sockets */
	uint64_t watches; /* descriptors in its epoll sets */
	uint64_t enough;  /* counts no more watches than this, and one more */
};

/* Add what a process holds. `proc` is its directory in /proc. */
void fdinfo_add(struct fdinfo *, int proc);

#endif
