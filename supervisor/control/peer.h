/* SPDX-License-Identifier: ISC */
/*
 * Decides whether the process at the other end of the control socket may
 * command the session.  The user id alone does not tell an agent from its
 * user, because a process in a sandbox has the user's own.
 */
#ifndef PEER_H
#define PEER_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

struct peer {
	pid_t pid;     /* 0: in a pid namespace that ours does not see */
	bool may;      /* answer and command */
	char why[160]; /* if not */
};

/* A process as the kernel describes it in /proc. */
struct peer_view {
	bool known;  /* NSpid and NoNewPrivs were there */
	bool nested; /* it has ids in more than one pid namespace */
	bool no_new_privs;
	int64_t filters;         /* seccomp filters in force; -1: not known */
	uint64_t user, pid, mnt; /* its namespaces; 0: not known */
};

/*
 * Checks the peer of a connected socket.  Returns 0 with the answer in `may`
 * and `why`, or -1 if it is not our user or gone: such a peer gets no service.
 */
int peer_check(int sock, struct peer *);
/* Fill in what the text of a /proc/PID/status says. */
void peer_view_status(const char *text, struct peer_view *);
/*
 * May `asker` command a session whose supervisor is `us`?  Returns true, or
 * false with the reason in `why`.
 */
bool peer_view_ok(const struct peer_view *us, const struct peer_view *asker,
    char *why, size_t cap);

#endif
