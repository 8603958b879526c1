/* SPDX-License-Identifier: ISC */
/*
 * Attacks another process of the same uid from outside, in the ways of the
 * table: `outsider PID ADDRESS` (hexadecimal) prints a line with the name and
 * the result of each. Each attempt is made by a child of its own, so that it
 * cannot affect the next.
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attempts.h"

static const char *const ways[] = {"ptrace attach", "ptrace seize",
    "read another's memory", "write another's memory", "open another's memory",
    "open another's environment", "open another's map",
    "list another's descriptors", "name another's descriptor",
    "read another's working directory", "take another's descriptor", "kcmp"};

static const struct attempt *
find(const char *name)
{
	const struct attempt *a;

	for (size_t n = 0; (a = attempt_row(n)) != NULL; n++)
		if (strcmp(a->name, name) == 0)
			return a;
	errx(1, "no row \"%s\"", name);
}

static void
try(const struct attempt *a)
{
	const char *text;
	int status;
	pid_t pid;

	fflush(stdout);
	if ((pid = fork()) == -1)
		err(1, "fork");
	if (pid == 0)
		_exit(a->fn());
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		errx(1, "%s: status %d", a->name, status);
	status = WEXITSTATUS(status);
	text = status == 0 ? "WORKS" : strerrorname_np(status);
	printf("%s\t%s\n", a->name, text == NULL ? "?" : text);
}

int
main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: outsider PID ADDRESS");
	attempt_env.victim = (pid_t)strtol(argv[1], NULL, 10);
	attempt_env.address = (uintptr_t)strtoull(argv[2], NULL, 16);
	attempt_env.pidfd = (int)syscall(SYS_pidfd_open, attempt_env.victim, 0);
	if (attempt_env.pidfd == -1)
		err(1, "pidfd_open %s", argv[1]);
	for (size_t i = 0; i < nitems(ways); i++)
		try(find(ways[i]));
	return 0;
}
