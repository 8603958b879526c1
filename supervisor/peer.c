/* SPDX-License-Identifier: ISC */
/*
 * Checks a peer by what the kernel says about it: same user, seen in one pid
 * namespace only, never under no_new_privs, not started by us.  The pidfd
 * pins the process, so that what /proc says is about it and no successor.
 */
#include "peer.h"

#include <sys/socket.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static int
peer_read(pid_t pid, char *dst, size_t cap)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return -1;
	n = read(fd, dst, cap - 1);
	close(fd);
	if (n <= 0)
		return -1;
	dst[n] = '\0';
	return 0;
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

bool
peer_status_ok(const char *text, char *why, size_t cap)
{
	const char *nspid = peer_field(text, "NSpid:");
	const char *nnp = peer_field(text, "NoNewPrivs:");

	if (nspid == NULL || nnp == NULL) {
		snprintf(why, cap, "/proc does not say who asks");
		return false;
	}
	nspid += strspn(nspid, "0123456789");
	if (*nspid != '\n') {
		snprintf(why, cap,
		    "the asker runs in a pid namespace of its "
		    "own, as agents do");
		return false;
	}
	if (nnp[0] != '0' || nnp[1] != '\n') {
		snprintf(why, cap,
		    "the asker runs under no_new_privs, as "
		    "processes in sandboxes do");
		return false;
	}
	return true;
}

/* Walks up to the first process; bounded, as /proc may change meanwhile. */
static bool
peer_is_ours(pid_t pid, pid_t us)
{
	char text[4096];
	const char *p;
	long up = pid;

	for (unsigned i = 0; i < 256 && up > 1; i++) {
		if (up == us)
			return true;
		if (peer_read((pid_t)up, text, sizeof(text)) == -1 ||
		    (p = peer_field(text, "PPid:")) == NULL)
			return true;
		up = strtol(p, NULL, 10);
	}
	return up > 1;
}

int
peer_check(int sock, struct peer *peer)
{
	socklen_t len = sizeof(struct ucred);
	struct ucred cred;
	char text[4096];
	int pidfd = -1, rv = -1;

	memset(peer, 0, sizeof(*peer));
	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len) == -1 ||
	    cred.uid != geteuid() || cred.pid <= 0)
		return -1;
	peer->pid = cred.pid;
	len = sizeof(pidfd);
	/* Before Linux 6.5: by number, pinned from here on. */
	if (getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == -1)
		pidfd = (int)syscall(SYS_pidfd_open, cred.pid, 0);
	if (pidfd == -1)
		return -1;
	if (peer_read(cred.pid, text, sizeof(text)) == -1)
		goto out;
	peer->may = peer_status_ok(text, peer->why, sizeof(peer->why));
	if (peer->may && peer_is_ours(cred.pid, getpid())) {
		peer->may = false;
		snprintf(peer->why, sizeof(peer->why),
		    "the asker was started "
		    "by this session");
	}
	/* Still the same process after all that was read. */
	if (syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == -1)
		goto out;
	rv = 0;
out:
	close(pidfd);
	return rv;
}
