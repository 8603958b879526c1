/* SPDX-License-Identifier: ISC */
/* Runs `icctl always` on the terminal, in place of the screen. */
#include "icctl/overview/priv.h"

#include <sys/wait.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

void
draw_away(struct overview *o)
{
	struct overview_row row = rows_chosen(o);
	char program[PATH_MAX];
	int status, c;
	pid_t pid;

	if (o->view != VIEW_CHOSEN || row.hold == NULL) {
		overview_say(o, "choose a call that waits first (n)");
		return;
	}
	if (icctl_program("icctl", program, sizeof(program)) == -1) {
		overview_say(o, "icctl cannot be found");
		return;
	}
	char *const argv[] = {program, (char *)(uintptr_t) "--session",
	    row.session->dir, (char *)(uintptr_t) "always", row.hold->id, NULL};

	(void)def_prog_mode();
	(void)endwin();
	/* Keys that were typed before are not meant for the question. */
	(void)tcflush(STDIN_FILENO, TCIFLUSH);
	if ((pid = fork()) == 0) {
		(void)execv(program, argv);
		_exit(127);
	}
	if (pid == -1)
		printf("icctl always: %s\n", strerror(errno));
	while (pid != -1 && waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	fputs("\n-- Enter goes back --", stdout);
	(void)fflush(stdout);
	while ((c = getchar()) != '\n' && c != '\r' && c != EOF)
		continue;
	(void)reset_prog_mode();
	(void)clearok(curscr, TRUE);
	overview_say(o, "%s", "");
}
