/* SPDX-License-Identifier: ISC */
/* Processes are stopped: by SIGTERM, or, if they ignore it, by SIGKILL. */
#include "spawn.h"

#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <stdlib.h>
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

int
main(void)
{
	static char polite[] =
	    "trap 'echo bye; exit' TERM; echo; while :; do :; done",
		    deaf[] = "trap '' TERM; echo; while :; do :; done";
	struct spawned sp = SPAWNED_INIT;
	int said;

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
