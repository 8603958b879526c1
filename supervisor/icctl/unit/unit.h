/* SPDX-License-Identifier: ISC */
/* `icctl start --systemd`: the session is a unit of the user's systemd. */
#ifndef ICCTL_UNIT_H
#define ICCTL_UNIT_H

#include "base/spawn.h"
#include "icctl/icctl.h"

/* An exit status, and all that systemctl(1) said. */
#define SYSTEMCTL_SAID 16384U

struct systemctl {
	struct spawned run;
	int fd; /* its output */
	char said[SYSTEMCTL_SAID];
	size_t len;
};

/*
 * systemctl.c: Start `systemctl --user` with these arguments, the last of which
 * is NULL, in an environment that holds no key. Returns 0, or -1 with errno
 * set.
 */
int systemctl_begin(struct systemctl *, const char *const *args);
/* Read what it says, once. Returns false at the end. */
bool systemctl_read(struct systemctl *);
/* Wait for its end. Returns its exit status; 127 if there is no such program.
 */
int systemctl_end(struct systemctl *);
/*
 * Do all three. After ten seconds without a word it is killed. Returns its exit
 * status, or -1 with errno set.
 */
int systemctl_run(struct systemctl *, const char *const *args);
/*
 * Find the line NAME=VALUE in what it said. Returns false if there is none.
 */
bool systemctl_value(
    const struct systemctl *, const char *name, char *dst, size_t cap);
/* Returns what it said, as one printable line. */
const char *systemctl_line(const struct systemctl *, char *dst, size_t cap);

/*
 * start.c: Find out if a manager runs that has the unit and the same
 * IRONCURTAIN_HOME. `program` is our icsupervisor. Returns 0, or an exit status
 * after it printed the reason.
 */
int unit_check(const struct icctl *, const char *program);
/*
 * Start the unit of the session in ctl->dir, offer it the start with these
 * arguments, in which args[1] and args[2] are free, and wait until it takes
 * messages. Returns the exit status.
 */
int unit_start(struct icctl *, const char **args);

#endif
