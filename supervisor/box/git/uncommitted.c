/* SPDX-License-Identifier: ISC */
/*
 * Runs `git status` on the workspace. A repository can make git run programs
 * (filters, hooks, fsmonitor), so git runs in a sandbox like an MCP server's:
 * without network, with the workspace read-only and no other file of the user.
 * Only one thing is taken from it: whether it printed anything.
 */
#include "box/git/uncommitted.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <unistd.h>

#include "box/box.h"
#include "box/git/gitbox.h"
#include "core/sup.h"

#define UNCOMMITTED_MS 20000
#define UNCOMMITTED_IGNORE "/opt/ironcurtain/git/ignore"
#define UNCOMMITTED_CONFIG "/opt/ironcurtain/git/config"

static struct {
	struct loop_io io;
	struct loop_timer timer;
	struct spawned sp;
} asked = {.io = LOOP_IO_INIT, .sp = SPAWNED_INIT};

static void
asked_end(void)
{
	int fd = asked.io.fd;

	loop_timer_clear(&sup.loop, &asked.timer);
	loop_del(&sup.loop, &asked.io);
	close(fd);
	spawn_stop(&asked.sp, 0);
}

static void
asked_answer(struct loop_io *io, uint32_t events)
{
	char byte;
	ssize_t n = read(io->fd, &byte, 1);

	(void)events;
	if (n == 1)
		sup_warn("the workspace has changes that are in no commit: the "
			 "agent may change or delete those files. `git stash "
			 "-u` or a commit keeps them");
	asked_end();
}

static void
asked_late(struct loop_timer *t)
{
	(void)t;
	asked_end();
}

static int
asked_box(struct box *b, int out, struct fault *fault)
{
	static const char *const words[] = {"/usr/bin/git",
	    "--no-optional-locks", "-c", "core.fsmonitor=false", "-c",
	    "core.hooksPath=/dev/null", "-c", "safe.directory=*", "-C",
	    "/workspace", "status", "--porcelain", "--ignore-submodules=all",
	    NULL};

	box_init(b, FILTER_SERVER, &sup.config.limits);
	box_bind(b, sup.workspace, "/workspace", false);
	box_setenv(b, "PATH", "/usr/bin:/bin");
	box_setenv(b, "HOME", "/tmp");
	if (gitbox_user.ignore != NULL) {
		box_data(b, UNCOMMITTED_IGNORE, span_str(gitbox_user.ignore));
		box_data(b, UNCOMMITTED_CONFIG,
		    SPAN("[core]\n\texcludesFile = " UNCOMMITTED_IGNORE "\n"));
		box_setenv(b, "GIT_CONFIG_GLOBAL", UNCOMMITTED_CONFIG);
	}
	return box_spawn(b, (const int[3]){-1, out, -1},
	    (char *const *)(uintptr_t)words, &asked.sp, fault);
}

void
uncommitted_ask(void)
{
	struct fault fault;
	struct stat st;
	struct box b;
	int p[2], rv;

	if (fstatat(sup.workspace, ".git", &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    access("/usr/bin/git", X_OK) == -1 ||
	    pipe2(p, O_CLOEXEC | O_NONBLOCK) == -1)
		return;
	rv = asked_box(&b, p[1], &fault);
	box_free(&b);
	close(p[1]);
	if (rv == -1) {
		close(p[0]);
		return;
	}
	close(asked.sp.status);
	asked.sp.status = -1;
	if (loop_add(&sup.loop, &asked.io, p[0], EPOLLIN, asked_answer, NULL) ==
	    -1) {
		asked.io.fd = p[0];
		asked_end();
		return;
	}
	loop_timer_set(
	    &sup.loop, &asked.timer, UNCOMMITTED_MS, asked_late, NULL);
}
