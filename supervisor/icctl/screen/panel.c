/* SPDX-License-Identifier: ISC */
/*
 * The panel: `icctl watch` on the person's terminal for as long as calls wait,
 * or another command, with nothing of the agent shown meanwhile.  It runs as a process of its own,
 * which reads keys from /dev/tty alone; this viewer neither draws, nor reads
 * keys, nor takes lines of the agent until it has ended.
 */
#include "icctl/screen/panel.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "icctl/icctl.h"
#include "icctl/screen/viewer.h"

static pid_t panel_pid;

bool
panel_could(void)
{
	return viewer.dir != NULL && viewer.may &&
	       (isatty(STDOUT_FILENO) || isatty(STDERR_FILENO));
}

bool
panel_may(void)
{
	pid_t front;
	int tty;

	/* In the background there is nobody to be asked. */
	if (!panel_could() ||
	    (tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) == -1)
		return false;
	front = tcgetpgrp(tty);
	close(tty);
	return front == getpgrp();
}

bool
panel_open(void)
{
	return panel_pid != 0;
}

static void __attribute__((noreturn)) panel_child(const char *what, int fd)
{
	char program[] = "icctl", command[] = ICCTL_PANEL;
	char *argv[] = {program, command, (char *)(uintptr_t)what,
	    (char *)(uintptr_t)viewer.dir, NULL};
	sigset_t none;

	sigemptyset(&none);
	/* It must not outlive us: the terminal is the shell's then. */
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (fd != -1)
		(void)dup2(fd, 3);
	(void)syscall(SYS_close_range, fd == -1 ? 3U : 4U, ~0U, 0);
	execve("/proc/self/exe", argv, environ);
	_exit(127);
}

void
panel_run(void)
{
	panel_command(viewer.how.screen ? "screen" : "lines", -1);
}

void
panel_command(const char *what, int fd)
{
	int pidfd, status;

	if (panel_pid != 0)
		return;
	if (viewer.how.screen)
		draw_pause();
	else
		plain_break();
	input_pause(true);
	says_wait(true);
	if ((panel_pid = fork()) == 0)
		panel_child(what, fd);
	if (panel_pid != -1 &&
	    (pidfd = (int)syscall(SYS_pidfd_open, panel_pid, 0)) != -1) {
		viewer.wait(pidfd, POLLIN);
		close(pidfd);
	}
	if (panel_pid != -1)
		(void)waitpid(panel_pid, &status, 0);
	panel_pid = 0;
	/* Keys for a call that is gone are not the agent's. */
	if (viewer.how.screen || viewer.how.input || viewer.how.talk)
		(void)tcflush(STDIN_FILENO, TCIFLUSH);
	says_wait(false);
	if (viewer.how.screen)
		draw_resume();
	input_pause(false);
}

void
panel_kill(void)
{
	int status;

	if (panel_pid == 0)
		return;
	(void)kill(panel_pid, SIGTERM);
	(void)waitpid(panel_pid, &status, 0);
	panel_pid = 0;
}
