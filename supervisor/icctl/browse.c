/* SPDX-License-Identifier: ISC */
#include "icctl/browse.h"

#include <err.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/spawn.h"

#define BROWSE_PROGRAM "/usr/bin/xdg-open"

bool
browse_may(void)
{
	return access(BROWSE_PROGRAM, X_OK) == 0 &&
	       (getenv("DISPLAY") != NULL || getenv("WAYLAND_DISPLAY") != NULL);
}

int
browse(const char *what)
{
	static char program[] = BROWSE_PROGRAM;
	char *argv[] = {program, (char *)(uintptr_t)what, NULL};
	struct spawn s = {.path = program,
	    .argv = argv,
	    .envp = environ,
	    .fds = {-1, -1, -1},
	    .nfds = 3,
	    .session = true,
	    .tie = SPAWN_APART};
	struct spawned sp = SPAWNED_INIT;
	int rv = 0;

	if (spawn_start(&s, &sp) == -1 || spawn_check(&sp) == -1) {
		warn("%s", program);
		rv = -1;
	}
	if (sp.pidfd != -1)
		close(sp.pidfd);
	return rv;
}
