/* SPDX-License-Identifier: ISC */
/*
 * The connection to icsupervisor, in the frames of common/bridge_frames.h.  It
 * is made before anything of the agent runs, so that only this process has it:
 * icsupervisor accepts no other.  While it is there, the session is.
 */
#include "bridge.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attempts.h"
#include "common/bridge_frames.h"

static void
frame_send(int fd, enum bridge_kind kind, void *data, uint32_t len)
{
	uint8_t header[BRIDGE_HEADER];

	bridge_header_put(header, kind, len);
	if (!unix_whole(fd, header, sizeof(header), false) ||
	    !unix_whole(fd, data, len, false))
		_exit(BRIDGE_EXIT_SESSION);
}

/* Wait for the one frame that may come now. */
static void
frame_await(int fd, enum bridge_kind kind, void *data, uint32_t len)
{
	uint8_t header[BRIDGE_HEADER], want[BRIDGE_HEADER];

	bridge_header_put(want, kind, len);
	if (!unix_whole(fd, header, sizeof(header), true) ||
	    memcmp(header, want, sizeof(want)) != 0 ||
	    !unix_whole(fd, data, len, true))
		_exit(BRIDGE_EXIT_SESSION);
}

static pid_t
probe_start(int in, int out, const struct bridge_limits *limits)
{
	char from[16], to[16];
	pid_t pid;

	snprintf(from, sizeof(from), "%d", in);
	snprintf(to, sizeof(to), "%d", out);
	if ((pid = fork()) == -1)
		bridge_die("fork");
	if (pid == 0) {
		if (fcntl(in, F_SETFD, 0) == -1 || fcntl(out, F_SETFD, 0) == -1)
			bridge_die("probe");
		limits_apply(limits);
		execl("/proc/self/exe", "ic-bridge", "probe", from, to, NULL);
		bridge_die("probe");
	}
	close(in);
	close(out);
	return pid;
}

/* Make the break-out test in a process of its own, as the agent will be. */
static void
probe_make(int fd, const struct bridge_limits *limits)
{
	static uint8_t report[BRIDGE_MAX_REPORT];
	struct attempt_ask ask;
	int asks[2], says[2], status;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	frame_await(fd, BRIDGE_PROBE, &ask, sizeof(ask));
	if (pipe2(asks, O_CLOEXEC) == -1 || pipe2(says, O_CLOEXEC) == -1)
		bridge_die("probe");
	pid = probe_start(asks[0], says[1], limits);
	/* It has ended if it cannot be asked; icsupervisor sees no report. */
	(void)unix_whole(asks[1], &ask, sizeof(ask), false);
	close(asks[1]);
	while (len < sizeof(report)) {
		n = read(says[0], report + len, sizeof(report) - len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	close(says[0]);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	frame_send(fd, BRIDGE_PROBED, report, (uint32_t)len);
}

int
bridge_session_open(const char *path, const struct bridge_limits *limits)
{
	uint8_t version[BRIDGE_HELLO_DATA];
	int fd;

	if ((fd = unix_connect(path, 0)) == -1)
		bridge_die(path);
	bridge_put32(version, BRIDGE_VERSION);
	frame_send(fd, BRIDGE_HELLO, version, sizeof(version));
	probe_make(fd, limits);
	/* Nothing of the agent runs before icsupervisor has judged. */
	frame_await(fd, BRIDGE_GO, NULL, 0);
	return fd;
}
