/* SPDX-License-Identifier: ISC */
/*
 * Checks a peer by what the kernel says about it: the same user in the same
 * user and pid namespaces, not under no_new_privs, and not started by this
 * session. A supervisor that is itself under no_new_privs, as in a strict
 * container, compares mounts and system call filters instead. A pidfd pins the
 * process, so that /proc does not describe its successor.
 */
#include "hub/peer.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/small_file.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static bool peer_unit;

static int
peer_read(const char *proc, char *dst, size_t cap)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/status", proc);
	return small_file_read(AT_FDCWD, path, dst, cap) > 0 ? 0 : -1;
}

static const char *
peer_field(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	if (p == NULL || (p != text && p[-1] != '\n'))
		return NULL;
	p += strlen(name);
	return p + strspn(p, " \t");
}

static int64_t
peer_number(const char *text, const char *name)
{
	const char *p = peer_field(text, name);

	return p == NULL || *p < '0' || *p > '9' ? -1 : strtoll(p, NULL, 10);
}

void
peer_view_status(const char *text, struct peer_view *v)
{
	const char *nspid = peer_field(text, "NSpid:");
	int64_t nnp = peer_number(text, "NoNewPrivs:");

	v->known = nspid != NULL && nnp != -1;
	v->no_new_privs = nnp != 0;
	v->nested = nspid == NULL || nspid[strspn(nspid, "0123456789")] != '\n';
	v->filters = peer_number(text, "Seccomp_filters:");
}

/* Returns the inode number that identifies a namespace of the process, or 0. */
static uint64_t
peer_namespace(const char *proc, const char *name)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", proc, name);
	return stat(path, &st) == -1 ? 0 : st.st_ino;
}

static int
peer_view_read(const char *proc, struct peer_view *v)
{
	char text[4096];

	if (peer_read(proc, text, sizeof(text)) == -1)
		return -1;
	peer_view_status(text, v);
	v->user = peer_namespace(proc, "user");
	v->pid = peer_namespace(proc, "pid");
	v->mnt = peer_namespace(proc, "mnt");
	return 0;
}

/* Check one rule of peer_view_ok(): if it does not hold, `text` says why. */
static bool
peer_rule(bool holds, const char *text, char *why, size_t cap)
{
	if (!holds)
		snprintf(why, cap, "%s", text);
	return holds;
}

bool
peer_view_ok(const struct peer_view *us, const struct peer_view *asker,
    char *why, size_t cap)
{
	if (!peer_rule(asker->known, "/proc does not show which process "
				     "asks", why, cap) ||
	    !peer_rule(!asker->nested,
		"the asker runs in a pid namespace of its own, as agents do",
		why, cap) ||
	    !peer_rule(us->no_new_privs || !asker->no_new_privs,
		"the asker runs under no_new_privs, as processes in sandboxes "
		"do",
		why, cap) ||
	    !peer_rule(us->user != 0 && asker->user == us->user,
		"the asker runs in another user namespace than the session's "
		"supervisor, as processes in sandboxes do",
		why, cap) ||
	    !peer_rule(us->pid != 0 && asker->pid == us->pid,
		"the asker runs in another pid namespace than the session's "
		"supervisor",
		why, cap))
		return false;
	if (!us->no_new_privs)
		return true;
	/*
	 * Everything that starts here is under no_new_privs, even the user's
	 * shell, so a sandbox is recognised by its mounts and its filters.
	 */
	return peer_rule(us->mnt != 0 && asker->mnt == us->mnt,
		   "the asker sees other mounts than the session's supervisor, "
		   "as processes in sandboxes do",
		   why, cap) &&
	       peer_rule(us->filters != -1 && asker->filters != -1 &&
			     asker->filters <= us->filters,
		   "the asker runs under more system call filters than the "
		   "session's supervisor, as processes in sandboxes do",
		   why, cap);
}

/* Walk up to the first process; bounded, because /proc may change meanwhile. */
static bool
peer_is_ours(pid_t pid, pid_t us)
{
	char text[4096], proc[24];
	const char *p;
	long up = pid;

	for (unsigned i = 0; i < 256 && up > 1; i++) {
		if (up == us)
			return true;
		snprintf(proc, sizeof(proc), "%ld", up);
		if (peer_read(proc, text, sizeof(text)) == -1 ||
		    (p = peer_field(text, "PPid:")) == NULL)
			return true;
		up = strtol(p, NULL, 10);
	}
	return up > 1;
}

/*
 * The unit icsupervisor@.service sets no_new_privs for the session alone: the
 * manager that started it, and so the user's shells, are not under it.
 */
static bool
peer_is_alone(void)
{
	struct peer_view manager;
	char text[4096], proc[16];

	if (!peer_unit)
		return false;
	snprintf(proc, sizeof(proc), "%d", (int)getppid());
	if (peer_read(proc, text, sizeof(text)) == -1)
		return false;
	peer_view_status(text, &manager);
	return manager.known && !manager.no_new_privs;
}

/* Judge the process by /proc, while a pidfd pins it. */
static int
peer_judge(struct peer *peer)
{
	struct peer_view us = {.filters = -1}, asker = {.filters = -1};
	char proc[16];

	snprintf(proc, sizeof(proc), "%d", (int)peer->pid);
	if (peer_view_read("self", &us) == -1 ||
	    peer_view_read(proc, &asker) == -1)
		return -1;
	if (us.no_new_privs && peer_is_alone())
		us.no_new_privs = false;
	peer->may = peer_view_ok(&us, &asker, peer->why, sizeof(peer->why));
	if (peer->may && peer_is_ours(peer->pid, getpid())) {
		peer->may = false;
		snprintf(peer->why, sizeof(peer->why),
		    "the asker was started by this session");
	}
	return 0;
}

void
peer_set_unit(void)
{
	peer_unit = true;
}

int
peer_check(int sock, struct peer *peer)
{
	socklen_t len = sizeof(struct ucred);
	struct ucred cred;
	int pidfd = -1, rv = -1;

	memset(peer, 0, sizeof(*peer));
	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len) == -1 ||
	    cred.uid != geteuid() || cred.pid < 0)
		return -1;
	peer->pid = cred.pid;
	if (peer->pid == 0) {
		snprintf(peer->why, sizeof(peer->why),
		    "the asker runs in another pid namespace than the "
		    "session's supervisor, which cannot see it there");
		return 0;
	}
	len = sizeof(pidfd);
	/* Before Linux 6.5: open it by number; it is pinned from here on. */
	if (getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == -1)
		pidfd = (int)syscall(SYS_pidfd_open, cred.pid, 0);
	if (pidfd == -1)
		return -1;
	/* The process must still be alive after everything was read. */
	if (peer_judge(peer) == 0 &&
	    syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0)
		rv = 0;
	close(pidfd);
	return rv;
}
