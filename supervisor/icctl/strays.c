/* SPDX-License-Identifier: ISC */
#include "icctl/strays.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/small_file.h"

void
strays_adopt(void)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/*
 * Returns true if the process is a program that starts sandboxes, or a sandbox
 * that has executed nothing yet. Programs of a person, such as a browser in a
 * sandbox of its own, may be our children as well.
 */
static bool
strays_is_ours(pid_t pid)
{
	static const char begins[] = "bwrap\0--args\0003\0--";
	char path[64], text[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	n = small_file_read(AT_FDCWD, path, text, sizeof(text));
	return strncmp(text, "ic-", 3) == 0 ||
	       (n >= (ssize_t)sizeof(begins) &&
		   memcmp(text, begins, sizeof(begins)) == 0);
}

/* End the first one that is there. Returns false if none is. */
static bool
strays_one(void)
{
	char path[64], text[16384], *at, *end;
	pid_t pid;

	snprintf(
	    path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	if (small_file_read(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return false;
	for (at = text; (pid = (pid_t)strtol(at, &end, 10)) > 0; at = end) {
		if (!strays_is_ours(pid) || kill(pid, SIGKILL) == -1)
			continue;
		/* Its own children are ours by then. */
		while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
			;
		return true;
	}
	return false;
}

void
strays_end(void)
{
	while (strays_one())
		;
}
