/* SPDX-License-Identifier: ISC */
/*
 * Asks the user's systemd for a transient scope: a control group of its own,
 * which is delegated to us and goes away with its last process. icsupervisor
 * itself is moved there, because a user may only move processes between groups
 * below one that is the user's, and the session may have begun elsewhere.
 */
#ifndef CGROUP_SCOPE_H
#define CGROUP_SCOPE_H

#include <sys/types.h>

#include <stddef.h>

#define SCOPE_WORDS 32U
#define SCOPE_NAME 96U

/* The command line of busctl(1), which needs no library and no shell. */
struct scope_call {
	char name[SCOPE_NAME]; /* ironcurtain-ID.scope */
	char pid[24];
	char about[160];
	const char *words[SCOPE_WORDS];
};

/* Compose the call for a session's id and a process. Returns 0, or -1. */
int scope_compose(struct scope_call *, const char *id, pid_t);

#endif
