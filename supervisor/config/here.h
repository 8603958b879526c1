/* SPDX-License-Identifier: ISC */
/*
 * Identifies the machine that a session belongs to. Several machines may share
 * a home directory: a lock or a link made by another one does not tell whether
 * its session still runs.
 */
#ifndef HERE_H
#define HERE_H

#include <stdbool.h>

struct here {
	char host[65];
	char boot[40]; /* the kernel's id of this boot */
};

enum here_is {
	HERE_UNKNOWN,   /* not recorded: made by an older version */
	HERE_OURS,      /* this machine, since it booted */
	HERE_STALE,     /* this machine, before it booted */
	HERE_ELSEWHERE, /* another machine */
};

/* Returns this machine; tests may change it. */
struct here *here(void);
/* Write "HOST BOOT" to dirfd/name. Returns 0, or -1 with errno set. */
int here_write(int dirfd, const char *name);
/*
 * Read the file that here_write() wrote. `host` receives the machine's name
 * unless the result is HERE_UNKNOWN.
 */
enum here_is here_read(int dirfd, const char *name, char host[65]);
/*
 * Write the name of the file beside a link in run/ that identifies its machine.
 * Returns `dst`.
 */
const char *here_beside(const char *link, char dst[300]);

#endif
