/* SPDX-License-Identifier: ISC */
/*
 * Decides whether the process at the other end of the control socket may
 * command the session. The user id does not tell the agent from the user,
 * because a process in a sandbox has the user's own id.
 */
#ifndef PEER_H
#define PEER_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

struct peer {
	pid_t pid;     /* 0: in a pid namespace that we cannot see */
	bool may;      /* may answer calls and give commands */
	char why[160]; /* the reason if it may not */
};

/* A process as the kernel describes it in /proc. */
struct peer_view {
	bool known;  /* NSpid and NoNewPrivs were present */
	bool nested; /* it has ids in more than one pid namespace */
	bool no_new_privs;
	int64_t filters;         /* seccomp filters in force; -1: unknown */
	uint64_t user, pid, mnt; /* inodes of its namespaces; 0: unknown */
};

/*
 * We are a unit of systemd: if its manager is not under no_new_privs, nobody who
 * asks may be, although we are.
 */
void peer_set_unit(void);
/*
 * Check the peer of a connected socket. Returns 0 with the result in `may` and
 * `why`, or -1 if it is another user's or gone: such a peer gets no service.
 */
int peer_check(int sock, struct peer *);
/* Fill in the fields from the text of /proc/PID/status. */
void peer_view_status(const char *text, struct peer_view *);
/*
 * Returns true if `asker` may command a session whose supervisor is `us`, or
 * false with the reason in `why`.
 */
bool peer_view_ok(const struct peer_view *us, const struct peer_view *asker,
    char *why, size_t cap);

#endif
