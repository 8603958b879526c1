/* SPDX-License-Identifier: ISC */
/*
 * `icctl stop`: ends a session, waits until it has ended, and shows what it
 * leaves.
 */
#include "icctl/icctl.h"

#include <sys/socket.h>
#include <sys/syscall.h>

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "icctl/talk/talk.h"

/* The last output of an agent is shown, and the work of a clone counted. */
#define STOP_WAIT_MS 20000

/* Returns a pidfd of the session's icsupervisor, or -1. */
static int
stop_pidfd(const char *dir)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	int fd = icctl_dial(dir), pidfd = -1;

	if (fd == -1)
		return -1;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	    peer.pid > 0)
		pidfd = (int)syscall(SYS_pidfd_open, peer.pid, 0);
	close(fd);
	return pidfd;
}

/* Returns true once the process has ended, and false if that takes too long. */
static bool
stop_wait(int pidfd)
{
	struct pollfd pfd = {.fd = pidfd, .events = POLLIN};
	int n;

	if (pidfd == -1)
		return false;
	do {
		n = poll(&pfd, 1, STOP_WAIT_MS);
	} while (n == -1 && errno == EINTR);
	return n == 1;
}

/* Say whether the clone has work that was not pulled. */
static void
stop_clone(json_object *clone, const char *id)
{
	if (!json_object_object_get_ex(clone, "commits", NULL) ||
	    icctl_number(clone, "commits") != 0 ||
	    icctl_number(clone, "files") != 0) {
		printf("Its work stays in its clone: icctl diff %s shows it, "
		       "icctl pull %s gets it.\n",
		    id, id);
		return;
	}
	puts(get_true(clone, "pulled")
		 ? "Its work was pulled: nothing new is in its clone."
		 : "Nothing new is in its clone.");
}

/* Show what the session leaves. */
static void
stop_show(const char *dir, bool ended)
{
	const char *id = strrchr(dir, '/') + 1;
	char path[PATH_MAX + 16];
	json_object *row = ended ? talk_row(dir, id) : NULL, *clone = NULL;

	talk_put_later(row, false);
	snprintf(path, sizeof(path), "%s/clone.json", dir);
	if (access(path, F_OK) == 0) {
		(void)json_object_object_get_ex(row, "clone", &clone);
		stop_clone(clone, id);
	}
	json_object_put(row);
}

int
icctl_stop(struct icctl *ctl, int argc, char **argv)
{
	json_object *reply;
	char *dir;
	bool ended = false;
	int pidfd, r;

	if ((r = icctl_one_session(ctl, argc, argv)) != 0 ||
	    (r = icctl_find(ctl)) != 0)
		return r;
	/* The link in run/ goes with the session. */
	if ((dir = realpath(ctl->dir, NULL)) == NULL) {
		warn("%s", ctl->dir);
		return ICCTL_NO_SESSION;
	}
	pidfd = stop_pidfd(ctl->dir);
	reply = icctl_command(ctl, icctl_request("stop", NULL), &r);
	if (reply != NULL) {
		ended = stop_wait(pidfd);
		if (ctl->json)
			icctl_put_json(reply);
		else
			puts(ended ? "The session has ended."
				   : "The session is ending.");
		json_object_put(reply);
	}
	if (pidfd != -1)
		close(pidfd);
	if (reply != NULL && !ctl->json)
		stop_show(dir, ended);
	free(dir);
	return r;
}
