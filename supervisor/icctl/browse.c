/* SPDX-License-Identifier: ISC */
#include "icctl/browse.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/spawn.h"

static bool
browse_on(const char *variable)
{
	const char *display = getenv(variable);

	return display != NULL && display[0] != '\0';
}

bool
browse_may(void)
{
	return access(BROWSE_PROGRAM, X_OK) == 0 &&
	       (browse_on("DISPLAY") || browse_on("WAYLAND_DISPLAY"));
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
	int rv = spawn_start(&s, &sp) == -1 ? -1 : spawn_check(&sp);
	int save = errno;

	if (sp.pidfd != -1)
		close(sp.pidfd);
	errno = save;
	return rv;
}
