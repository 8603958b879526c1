/* SPDX-License-Identifier: ISC */
/*
 * The agent's processes have process numbers of their own, so ic-bridge, which
 * is among them, passes SIGTERM on to all of them at once: none can be missed
 * because it was just being made. Whatever is left after five seconds dies
 * with the sandbox.
 */
#include "box/timeup.h"

#include <sys/syscall.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "box/bridge.h"
#include "box/sandbox.h"
#include "core/sup.h"

#define TIMEUP_MS 5000U

static struct {
	struct loop_timer timer;
	char why[512]; /* "": there is time left */
} timeup_env;

static void
timeup_end(struct loop_timer *t)
{
	end_request(SUP_EXIT_TIME, NULL, "%s", timeup_env.why);
}

/*
 * Open ic-bridge, which is process 1 of the sandbox. Returns a pidfd, or -1
 * with errno set.
 */
static int
timeup_bridge(void)
{
	pid_t pid = sandbox.first;
	int fd;

	if (pid == 0) {
		errno = ESRCH;
		return -1;
	}
	if ((fd = (int)syscall(SYS_pidfd_open, pid, 0)) == -1)
		return -1;
	/* While its connection is there, it has not been reaped. */
	if (bridge_peer() == pid)
		return fd;
	close(fd);
	errno = ESRCH;
	return -1;
}

void
timeup_begin(const char *why)
{
	int fd;

	if (timeup_env.why[0] != '\0' || sup.ending)
		return;
	snprintf(timeup_env.why, sizeof(timeup_env.why), "%s", why);
	if (sup.opt.runtime != RUNTIME_NONE && sup.agent.pidfd == -1) {
		timeup_end(NULL);
		return;
	}
	/* Agents outside of a sandbox read the reason before it ends. */
	loop_timer_set(
	    &sup.loop, &timeup_env.timer, TIMEUP_MS, timeup_end, NULL);
	if (sup.opt.runtime == RUNTIME_NONE)
		return;
	fd = timeup_bridge();
	if (fd == -1 ||
	    syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) == -1)
		sup_note("the agent is not told to end: %s", strerror(errno));
	if (fd != -1)
		close(fd);
}

const char *
timeup_why(void)
{
	return timeup_env.why[0] != '\0' ? timeup_env.why : NULL;
}
