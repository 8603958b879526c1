/* SPDX-License-Identifier: ISC */
/* Has ic-carry read the log of a session's earlier runs. */
#ifndef CARRY_READ_H
#define CARRY_READ_H

#include "resume/carry.h"

struct carry_log {
	const char *libexecdir;
	int dirfd; /* the session's directory */
	const char *dir;
	/* As carry_load() has them. */
	const struct prices *prices;
	const struct checkpoint *from, *upto;
};

/* As carry_load(); after a failure nothing is carried. */
int carry_read(struct carry *, const struct carry_log *, struct fault *);
/* For icctl: read a log of which nothing is verified, without prices. */
int carry_read_all(struct carry *, int dirfd, const char *dir, struct fault *);

#endif
