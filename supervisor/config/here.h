/* SPDX-License-Identifier: ISC */
/*
 * Which machine a session belongs to.  A home directory may be shared by
 * several: a lock or a link that another one made says nothing here about
 * whether its session runs.
 */
#ifndef HERE_H
#define HERE_H

#include <stdbool.h>

struct here {
	char host[65];
	char boot[40]; /* the kernel's id of this boot */
};

enum here_is {
	HERE_UNKNOWN,   /* nothing says it: made by an older version */
	HERE_OURS,      /* this machine, since it was started */
	HERE_STALE,     /* this machine, before it was started again */
	HERE_ELSEWHERE, /* another machine */
};

/* This machine; may be changed by tests. */
struct here *here(void);
/* Writes "HOST BOOT" into dirfd/name. Returns 0, or -1 with errno set. */
int here_write(int dirfd, const char *name);
/*
 * Reads what here_write wrote.  `host` receives the other machine's name, if it
 * is another one.
 */
enum here_is here_read(int dirfd, const char *name, char host[65]);
/* The name of the file beside a link in run/ that says whose it is. */
const char *here_beside(const char *link, char dst[300]);

#endif
