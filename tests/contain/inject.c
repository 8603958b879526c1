/* SPDX-License-Identifier: ISC */
/*
 * Makes a live process open "/" and signal another one, from outside, with its
 * filter suspended: a refusal then has another cause than the filter. Needs
 * root and x86-64. `inject PID OTHER` prints the result of each.
 */
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PTRACE_O_SUSPEND_SECCOMP
#define PTRACE_O_SUSPEND_SECCOMP (1 << 21)
#endif

#ifdef __x86_64__
#define RED_ZONE 256U

static void
stopped(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		errx(1, "%d did not stop: status %x", pid, status);
}

/*
 * Make a call in the process. Returns its result; `text` is the second
 * argument, or NULL for 0. The process continues afterwards as if nothing had
 * happened.
 */
static long
inject(pid_t pid, long nr, long a0, const char *text, long a2)
{
	struct user_regs_struct old, r;
	unsigned long at;
	long word = 0, saved;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &old) == -1)
		err(1, "registers");
	/*
	 * The process waits in a call: the previous instruction is a syscall.
	 */
	r = old;
	at = (old.rsp - RED_ZONE) & ~15UL;
	if (text != NULL)
		strncpy((char *)&word, text, sizeof(word) - 1);
	errno = 0;
	saved = ptrace(PTRACE_PEEKDATA, pid, (void *)at, NULL);
	if (errno != 0 ||
	    ptrace(PTRACE_POKEDATA, pid, (void *)at, (void *)word) == -1)
		err(1, "stack");
	r.rip = old.rip - 2;
	r.orig_rax = ~0UL;
	r.rax = (unsigned long)nr;
	r.rdi = (unsigned long)a0;
	r.rsi = text != NULL ? at : 0;
	r.rdx = (unsigned long)a2;
	if (ptrace(PTRACE_SETREGS, pid, NULL, &r) == -1 ||
	    ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == -1)
		err(1, "step");
	stopped(pid);
	if (ptrace(PTRACE_GETREGS, pid, NULL, &r) == -1 ||
	    ptrace(PTRACE_POKEDATA, pid, (void *)at, (void *)saved) == -1 ||
	    ptrace(PTRACE_SETREGS, pid, NULL, &old) == -1)
		err(1, "restore");
	return (long)r.rax;
}

static const char *
result(long r)
{
	const char *text = r >= 0 ? "WORKS" : strerrorname_np((int)-r);

	return text == NULL ? "?" : text;
}

int
main(int argc, char **argv)
{
	long fd, sent;
	pid_t pid;

	if (argc != 3)
		errx(2, "usage: inject PID OTHER");
	pid = (pid_t)strtol(argv[1], NULL, 10);
	if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_SUSPEND_SECCOMP) == -1) {
		if (errno == EINVAL)
			errx(77, "this kernel suspends no filter");
		err(1, "seize %s", argv[1]);
	}
	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == -1)
		err(1, "interrupt");
	stopped(pid);
	fd = inject(
	    pid, SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		(void)inject(pid, SYS_close, fd, NULL, 0);
	sent = inject(pid, SYS_kill, strtol(argv[2], NULL, 10), NULL, 0);
	if (ptrace(PTRACE_DETACH, pid, NULL, NULL) == -1)
		err(1, "detach");
	printf("%s %s\n", result(fd), result(sent));
	return 0;
}
#else
int
main(void)
{
	errx(77, "written for x86-64");
}
#endif
