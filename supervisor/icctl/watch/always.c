/* SPDX-License-Identifier: ISC */
/* Runs `icctl always` below a panel, on the same terminal. */
#include "icctl/watch/panel.h"

#include <sys/wait.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "icctl/icctl.h"

void
panel_always(struct watch_panel *p, const struct icctl *ctl, const char *id,
    const struct termios *lines)
{
	char program[PATH_MAX];
	struct termios keys;
	int status;
	pid_t pid;

	if (icctl_program("icctl", program, sizeof(program)) == -1 ||
	    tcgetattr(STDIN_FILENO, &keys) == -1)
		return;
	char *const argv[] = {program, (char *)(uintptr_t) "--session",
	    (char *)(uintptr_t)ctl->dir, (char *)(uintptr_t) "always",
	    (char *)(uintptr_t)id, NULL};

	/* Earlier output comes before its own. */
	panel_end(p);
	/* Keys that were typed before are not meant for the question. */
	(void)tcflush(STDIN_FILENO, TCIFLUSH);
	(void)tcsetattr(STDIN_FILENO, TCSANOW, lines);
	if ((pid = fork()) == 0) {
		(void)execv(program, argv);
		_exit(127);
	}
	if (pid == -1)
		perror("icctl always");
	while (pid != -1 && waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &keys);
	panel_begin(p);
}
