/* SPDX-License-Identifier: ISC */
/*
 * Identifies the machine that a session belongs to. Several machines may share
 * a home directory: a lock or a link made by another one does not tell whether
 * its session still runs.
 */
#ifndef HERE_H
#define HERE_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

struct here {
	char host[65];
	char boot[40]; /* the kernel's id of this boot */
	char by[16];   /* the program that started the session */
};

/* The process that wrote such a file. */
struct here_owner {
	char host[65], boot[40], by[16];
	long pid;       /* 0: not recorded, by an older version */
	uint64_t start; /* as here_start() returns it */
};

enum here_is {
	HERE_UNKNOWN,   /* not recorded: made by an older version */
	HERE_OURS,      /* this machine, since it booted */
	HERE_STALE,     /* this machine, before it booted */
	HERE_ELSEWHERE, /* another machine */
};

/* Returns this machine; tests may change it. */
struct here *here(void);
/*
 * Returns when a process of this machine started, in clock ticks since the
 * boot, or 0 if there is none.
 */
uint64_t here_start(pid_t);
/*
 * Write "HOST BOOT PID START BY" to dirfd/name. Returns 0, or -1 with errno
 * set.
 */
int here_write(int dirfd, const char *name);
/*
 * Read the file that here_write() wrote. `host` receives the machine's name
 * unless the result is HERE_UNKNOWN.
 */
enum here_is here_read(int dirfd, const char *name, char host[65]);
/* Read all of it. Unless the result is HERE_UNKNOWN, host and boot are set. */
enum here_is here_owner(int dirfd, const char *name, struct here_owner *);
/*
 * Write the name of the file beside a link in run/ that identifies its machine.
 * Returns `dst`.
 */
const char *here_beside(const char *link, char dst[300]);

#endif
