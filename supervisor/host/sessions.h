/* SPDX-License-Identifier: ISC */
/*
 * The other sessions of this user that run, found by their links in run/ and by
 * their locks, and the places that their agents can write. The files that are
 * read here were written by other icsupervisors, in directories that no agent
 * can write.
 */
#ifndef HOST_SESSIONS_H
#define HOST_SESSIONS_H

#include "base/here.h"
#include "host/places.h"

/*
 * Call `fn` for each session of this machine that runs, except the one whose
 * directory is `own` (-1: none). `run` is IRONCURTAIN_HOME/run. If `elsewhere`,
 * also for those of other machines, which may or may not run. Returns 0, or -1
 * with errno set.
 */
int sessions_each(int run, int own, bool elsewhere,
    void (*fn)(int dirfd, const char *name, const struct here_owner *, void *),
    void *arg);

/*
 * Record in the session directory which places its agent can write, for the
 * other sessions. Returns 0, or -1 with errno set.
 */
int sessions_record(int dirfd, const struct places *);
/*
 * Add the places of all other sessions. Returns 0, or -1 with errno set; no
 * run/ means no sessions.
 */
int sessions_places(struct places *, int run, int own);

#endif
