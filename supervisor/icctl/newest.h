/* SPDX-License-Identifier: ISC */
/*
 * The newest session of a kind. Sessions that icctl starts itself, to compile
 * policies, are a person's in no way, and are never found.
 */
#ifndef ICCTL_NEWEST_H
#define ICCTL_NEWEST_H

#include "icctl/icctl.h"

enum newest_kind {
	NEWEST_ANY,
	NEWEST_HERE,  /* it worked on the current directory, or a clone of it */
	NEWEST_CLONE, /* it has a clone */
	NEWEST_CLONE_HERE, /* and that of the repository around us */
};

#define NEWEST_ID 256U

/*
 * Write the id of the newest session in ctl->home of that kind, which may run.
 * Returns false if there is none.
 */
bool newest_find(const struct icctl *ctl, enum newest_kind, char id[NEWEST_ID]);
/* Returns true if icctl starts this agent itself. */
bool newest_is_own(const char *agent);
/* Returns true if the session in `dir` is one that icctl started itself. */
bool newest_own(const char *dir);
/* Read a small JSON file of a session. Returns NULL if there is none. */
json_object *newest_read(const char *dir, const char *name);

#endif
