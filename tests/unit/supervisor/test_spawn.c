/* SPDX-License-Identifier: ISC */
/*
 * Processes are stopped: by SIGTERM, or, if they ignore it, by SIGKILL; they
 * are run until their end; and they go with us, or stay.
 */
#include "base/spawn.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define LONG_MS 60000

/*
 * Start a shell and wait until its script has written a byte. Returns the
 * reading end of its output.
 */
static int
start(struct spawned *sp, char *script)
{
	static char shell[] = "/bin/sh", option[] = "-c";
	char *const argv[] = {shell, option, script, NULL};
	char byte;
	int ends[2];
	struct spawn s = {
	    .path = shell, .argv = argv, .envp = environ, .nfds = 3};

	if (pipe(ends) == -1)
		err(1, "pipe");
	s.fds[0] = s.fds[2] = -1;
	s.fds[1] = ends[1];
	*sp = (struct spawned)SPAWNED_INIT;
	if (spawn_start(&s, sp) == -1 || spawn_check(sp) == -1)
		err(1, "%s", shell);
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1)
		errx(1, "the shell says nothing");
	return ends[0];
}

static void
check(struct spawned *sp, int said, int ms, const char *want, const char *name)
{
	char text[16] = "";
	ssize_t n;

	spawn_stop(sp, ms);
	ok(sp->pidfd == -1 && sp->status == -1, "%s: closed", name);
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "%s: reaped",
	    name);
	n = read(said, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	is_str(text, want, "%s: its last words", name);
	close(said);
}

/* A program that is run until its end, and what it wrote. */
static void
check_read(void)
{
	char script[] = "umask; echo wrong >&2; exit 3", shell[] = "sh",
	     option[] = "-c", *const argv[] = {shell, option, script, NULL};
	struct spawn s = {.path = "sh", .argv = argv};
	char out[8], err[4];

	is_int(spawn_read(&s, (struct spawn_said){out, sizeof(out)},
		   (struct spawn_said){err, sizeof(err)}),
	    3, "a program that PATH leads to, and its status");
	is_str(out, "0022\n", "it has the user's mask, and its output is read");
	is_str(err, "wro", "what has no room is lost");
	s.path = "/nowhere/sh";
	is_int(spawn_read(&s, (struct spawn_said){out, sizeof(out)},
		   (struct spawn_said){err, sizeof(err)}),
	    -1, "a program that is not there");
	is_int(errno, ENOENT, "and why");
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "all reaped");
}

/* A process that starts another and dies; `tie` says what the other does. */
static void
check_tie(enum spawn_tie tie, const char *want, const char *name)
{
	char script[] =
	    "trap 'echo ended; exit' TERM; echo; read line; echo on",
	     shell[] = "/bin/sh",
	     option[] = "-c", *const argv[] = {shell, option, script, NULL},
	     text[16] = "";
	struct spawn s = {.path = shell, .argv = argv, .nfds = 3, .tie = tie};
	struct spawned sp = SPAWNED_INIT;
	int in[2], out[2];
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	if (pipe(in) == -1 || pipe(out) == -1 || (pid = fork()) == -1)
		err(1, "pipe");
	if (pid == 0) {
		s.fds[0] = in[0];
		s.fds[1] = s.fds[2] = out[1];
		/* It has set its trap when it writes. */
		_exit(spawn_start(&s, &sp) == -1 || spawn_check(&sp) == -1 ||
		      read(out[0], text, 1) != 1);
	}
	(void)waitpid(pid, NULL, 0);
	close(out[1]);
	close(in[0]);
	if (tie == SPAWN_APART)
		(void)!write(in[1], "\n", 1);
	while (len < sizeof(text) - 1 &&
	       (n = read(out[0], text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	is_str(text, want, "%s", name);
	close(in[1]);
	close(out[0]);
}

int
main(void)
{
	static char polite[] =
	    "trap 'echo bye; exit' TERM; echo; while :; do :; done",
		    deaf[] = "trap '' TERM; echo; while :; do :; done";
	struct spawned sp = SPAWNED_INIT;
	int said;

	(void)umask(022);
	check_read();
	check_tie(SPAWN_KILLED, "", "killed with us");
	check_tie(SPAWN_ENDED, "ended\n", "ended with us");
	check_tie(SPAWN_APART, "on\n", "left alone");
	if (spawn_init() == -1)
		err(1, "limits");
	spawn_stop(&sp, LONG_MS);
	is_int(sp.pidfd, -1, "without a process there is nothing to do");
	said = start(&sp, polite);
	check(&sp, said, LONG_MS, "bye\n", "one that ends at SIGTERM");
	said = start(&sp, deaf);
	check(&sp, said, 1, "", "one that ignores SIGTERM");
	said = start(&sp, deaf);
	check(&sp, said, 0, "", "one that is killed at once");
	return tap_done();
}
