/* SPDX-License-Identifier: ISC */
/*
 * A call that waits during a turn is shown and answered on the terminal of
 * `icctl send`, by the panel of `icctl start`: a process of its own, which
 * reads keys from /dev/tty alone. Nothing of the agent is printed while it is
 * open.
 */
#include "icctl/talk/held.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool
held_may(const struct icctl *ctl)
{
	pid_t front;
	int tty;

	/* In the background there is nobody to be asked. */
	if (ctl->json || !isatty(STDOUT_FILENO) ||
	    (tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) == -1)
		return false;
	front = tcgetpgrp(tty);
	close(tty);
	return front == getpgrp();
}

static void __attribute__((noreturn))
held_child(const struct icctl *ctl)
{
	char program[] = "icctl", command[] = ICCTL_PANEL, lines[] = "lines";
	char *argv[] = {program, command, lines, (char *)(uintptr_t)ctl->dir,
	    NULL};

	/* It must not outlive us: the terminal is the shell's then. */
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	(void)signal(SIGINT, SIG_DFL);
	(void)syscall(SYS_close_range, 3U, ~0U, 0);
	execve("/proc/self/exe", argv, environ);
	_exit(127);
}

/* Take events that came meanwhile. Returns false if there will be no more. */
static bool
held_take(int fd, struct icctl_rest *rest, json_object *later)
{
	json_object *o = icctl_receive(fd, rest);

	if (o == NULL)
		return false;
	json_object_array_add(later, o);
	return true;
}

void
held_run(struct icctl *ctl, int fd, struct icctl_rest *rest, json_object *later)
{
	struct pollfd p[2] = {{.fd = -1, .events = POLLIN},
	    {.fd = fd, .events = POLLIN}};
	pid_t pid;

	if ((pid = fork()) == 0)
		held_child(ctl);
	if (pid == -1)
		return;
	p[0].fd = (int)syscall(SYS_pidfd_open, pid, 0);
	while (p[0].fd != -1) {
		if (poll(p, 2, -1) == -1) {
			if (errno == EINTR)
				continue;
			break;
		}
		if (p[0].revents != 0)
			break;
		if (p[1].revents != 0 && !held_take(fd, rest, later))
			p[1].fd = -1;
	}
	if (p[0].fd != -1)
		close(p[0].fd);
	while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		;
}

bool
held_ended(json_object *later, const char *id)
{
	json_object *o;

	for (size_t i = 0; i < json_object_array_length(later); i++) {
		o = json_object_array_get_idx(later, i);
		if (strcmp(icctl_text(o, "event"), "escalation_end") == 0 &&
		    strcmp(icctl_text(o, "id"), id) == 0)
			return true;
	}
	return false;
}
