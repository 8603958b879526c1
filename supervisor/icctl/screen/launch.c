/* SPDX-License-Identifier: ISC */
/*
 * Becomes a viewer: the program executes itself with an environment that
 * contains no key, and with exactly the descriptors that a viewer needs.
 */
#include "icctl/screen/launch.h"

#include <sys/socket.h>
#include <sys/syscall.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spawn.h"
#include "files/config.h"
#include "icctl/icctl.h"
#include "icctl/screen/viewer.h"

/*
 * Sources are moved above the viewer's descriptors, so that dup2() overwrites
 * none.
 */
#define LAUNCH_ABOVE 10

void
launch_key(struct viewer_how *how, const struct icctl *ctl, const char *file,
    const char *profile, bool say)
{
	const char *home = getenv("HOME");
	struct fault fault;
	struct config cfg;

	if (config_load(&cfg, file, ctl->home, home == NULL ? "/" : home,
		profile, &fault) == 0) {
		how->key = cfg.answer_key;
		config_free(&cfg);
	} else if (say) {
		warnx("%s; the answering key is Ctrl-]", fault.text);
	}
}

/* Like dup2(2), for any source. */
static int
launch_move(int from, int to)
{
	int high = fcntl(from, F_DUPFD, LAUNCH_ABOVE);

	return high == -1 ? -1 : dup2(high, to);
}

int
launch_viewer(pid_t supervisor, const struct viewer_how *how, const char *name,
    const char *dir, int link, int said)
{
	char how_text[VIEWER_HOW_TEXT], pid[24], program[] = "icctl",
						 command[] = VIEWER_HOW_COMMAND;
	char *argv[] = {program, command, pid, how_text,
	    (char *)(uintptr_t)name, (char *)(uintptr_t)dir, NULL};
	char *envp[VIEWER_HOW_ENV + 1];
	int high;

	snprintf(pid, sizeof(pid), "%d", (int)supervisor);
	viewer_how_text(how, how_text);
	viewer_how_environment(envp);
	/* Move both out of the way before either is put in its place. */
	if ((high = fcntl(link, F_DUPFD, LAUNCH_ABOVE)) == -1 ||
	    (said != -1 && launch_move(said, VIEWER_FD_SAYS) == -1) ||
	    dup2(high, VIEWER_FD_LINK) == -1)
		return -1;
	if (said == -1)
		close(VIEWER_FD_SAYS);
	(void)syscall(SYS_close_range, VIEWER_FD_SAYS + 1U, ~0U, 0);
	return execve("/proc/self/exe", argv, envp);
}

/* The link's descriptor in icsupervisor. */
#define LAUNCH_LINK 3

int
launch_session(const char *program, const char **args,
    const struct viewer_how *how, const char *dir)
{
	char text[VIEWER_HOW_TEXT], linked[VIEWER_HOW_TEXT + 32];
	struct spawned sp = SPAWNED_INIT;
	struct spawn s = {.path = program,
	    .argv = (char *const *)(uintptr_t)args,
	    .nfds = LAUNCH_LINK + 1,
	    .session = true,
	    .tie = SPAWN_APART};
	int link[2], said[2];

	viewer_how_text(how, text);
	snprintf(linked, sizeof(linked), "%d:%s", LAUNCH_LINK, text);
	args[1] = "--viewer";
	args[2] = linked;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link) == -1 ||
	    pipe2(said, O_CLOEXEC) == -1)
		return -1;
	s.fds[STDIN_FILENO] = -1;
	s.fds[STDOUT_FILENO] = s.fds[STDERR_FILENO] = said[1];
	s.fds[LAUNCH_LINK] = link[1];
	if (spawn_start(&s, &sp) == -1 || spawn_check(&sp) == -1)
		return -1;
	return launch_viewer(
	    sp.pid, how, strrchr(dir, '/') + 1, dir, link[0], said[0]);
}
