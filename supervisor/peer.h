/* SPDX-License-Identifier: ISC */
/*
 * Who is at the other end of the control socket.  The user id does not tell
 * an agent from its user: a process in a box has the user's own.
 */
#ifndef PEER_H
#define PEER_H

#include <sys/types.h>

#include <stdbool.h>

struct peer {
	pid_t pid;
	bool may;      /* answer and command */
	char why[160]; /* if not */
};

/* -1: not our user, or already gone: no service at all. */
int peer_check(int sock, struct peer *);
/* Of a /proc/PID/status text. false with why. */
bool peer_status_ok(const char *text, char *why, size_t cap);

#endif
