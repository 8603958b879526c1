/* SPDX-License-Identifier: ISC */
/*
 * Copies of /etc in IRONCURTAIN_HOME/system, each named by a digest of what was
 * there: names, sizes, modes and times. A session whose /etc has not changed
 * takes the copy that is there.
 */
#ifndef SURVEY_ETC_COPY_H
#define SURVEY_ETC_COPY_H

#include <sys/types.h>

#include <stdbool.h>

#define ETC_NAME 48U

struct etc_copied {
	char name[ETC_NAME]; /* in the store */
	bool made;           /* now; the numbers are of it */
	bool cut;            /* /etc is too large, and something is missing */
	unsigned files, links, left;
};

struct etc_how {
	int store; /* directory of the copies */
	int etc;
	uid_t uid;
	gid_t gid;
	const char *version; /* the program that copies */
};

/* Find or make the copy. Returns 0, or -1 with errno set. */
int etc_copy(const struct etc_how *, struct etc_copied *);

#endif
