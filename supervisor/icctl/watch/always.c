/* SPDX-License-Identifier: ISC */
/* Runs `icctl always` below a panel, on the same terminal. */
#include "icctl/watch/panel.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/spawn.h"
#include "icctl/icctl.h"

void
panel_always(struct watch_panel *p, const struct icctl *ctl, const char *id,
    const struct termios *lines)
{
	char program[PATH_MAX];
	struct termios keys;

	if (icctl_program("icctl", program, sizeof(program)) == -1 ||
	    tcgetattr(STDIN_FILENO, &keys) == -1)
		return;
	const char *const argv[] = {
	    program, "--session", ctl->dir, "always", id, NULL};
	const struct spawn s = {.path = program,
	    .argv = (char *const *)(uintptr_t)argv,
	    .fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO},
	    .nfds = 3};

	/* Earlier output comes before its own. */
	panel_end(p);
	/* Keys that were typed before are not meant for the question. */
	(void)tcflush(STDIN_FILENO, TCIFLUSH);
	(void)tcsetattr(STDIN_FILENO, TCSANOW, lines);
	if (spawn_run(&s) == -1)
		perror("icctl always");
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &keys);
	panel_begin(p);
}
