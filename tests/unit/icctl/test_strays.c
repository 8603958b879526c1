/* SPDX-License-Identifier: ISC */
/*
 * A killed icsupervisor, and a bubblewrap that dies with it between making its
 * child and the word that the child waits for. Both are played by this program:
 * argv[0] says which part it has.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <err.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "icctl/strays.h"
#include "tap.h"

#define TOLD 5 /* pids are written to this descriptor */

static void __attribute__((noreturn)) play_forever(void)
{
	for (;;)
		(void)pause();
}

/* bubblewrap: make a child, and never let it go on. */
static void __attribute__((noreturn)) play_bwrap(void)
{
	long pid;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	pid = syscall(
	    SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
	/* A machine without namespaces has an ordinary child. */
	if (pid == -1)
		pid = fork();
	if (pid != 0 && write(TOLD, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	play_forever();
}

static void
play_start(const char *const argv[])
{
	if (fork() == 0) {
		(void)execve(
		    "/proc/self/exe", (char *const *)(uintptr_t)argv, environ);
		_exit(127);
	}
}

/* icsupervisor: start a sandbox and something of the person. */
static void __attribute__((noreturn)) play_supervisor(void)
{
	static const char *const box[] = {
	    "bwrap", "--args", "3", "--", "x", NULL};
	static const char *const other[] = {
	    "bwrap", "--args", "42", "--", "x", NULL};

	play_start(box);
	play_start(other);
	play_forever();
}

/* Returns a pidfd of a process that was told of. */
static int
told(int fd)
{
	long pid;
	int pidfd;

	if (read(fd, &pid, sizeof(pid)) != sizeof(pid) ||
	    (pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0)) == -1)
		err(1, "a process");
	return pidfd;
}

static bool
ended(int pidfd, int ms)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

int
main(int argc, char **argv)
{
	int told_fd[2], other[2], box, person;
	pid_t supervisor;
	long pid;

	if (strcmp(argv[0], "bwrap") == 0 && strcmp(argv[2], "3") == 0)
		play_bwrap();
	if (strcmp(argv[0], "bwrap") == 0) {
		pid = getpid();
		if (write(TOLD + 1, &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
		play_forever();
	}
	(void)argc;
	if (pipe(told_fd) == -1 || pipe(other) == -1)
		err(1, "pipe");
	strays_adopt();
	if ((supervisor = fork()) == 0) {
		if (dup2(told_fd[1], TOLD + 10) == -1 ||
		    dup2(other[1], TOLD + 11) == -1 ||
		    dup2(TOLD + 10, TOLD) == -1 ||
		    dup2(TOLD + 11, TOLD + 1) == -1)
			_exit(1);
		play_supervisor();
	}
	box = told(told_fd[0]);
	person = told(other[0]);
	(void)kill(supervisor, SIGKILL);
	(void)waitpid(supervisor, NULL, 0);
	ok(!ended(box, 0), "a sandbox that is half made outlives icsupervisor");
	strays_end();
	ok(ended(box, 0), "and is ended");
	ok(!ended(person, 0), "a sandbox that is not ours is left alone");
	(void)syscall(SYS_pidfd_send_signal, person, SIGKILL, NULL, 0);
	return tap_done();
}
