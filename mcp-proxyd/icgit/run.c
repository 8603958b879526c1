/* SPDX-License-Identifier: ISC */
/*
 * Runs git and collects its output, with limits on size and time: a repository
 * can make git wait for ever (an included pipe) or write too much.
 */
#include "icgit/icgit.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/loop.h"

#define CHUNK 16384U

static void __attribute__((noreturn))
child(const char *path, const struct icgit_args *a, int out)
{
	int null = open("/dev/null", O_RDWR);

	/*
	 * In a process group of its own, so that its helpers are killed with
	 * it.
	 */
	if (null == -1 || setpgid(0, 0) == -1 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || dup2(null, 0) == -1 ||
	    dup2(out, 1) == -1 || dup2(null, 2) == -1)
		_exit(126);
	(void)signal(SIGPIPE, SIG_DFL);
	execv(path, (char *const *)(uintptr_t)a->v);
	_exit(127);
}

/* Collect output until its end.  Returns 0, or -1 with errno set. */
static int
collect(int fd, struct buf *out, uint64_t until)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t now;
	uint8_t *room;
	ssize_t n;

	for (;;) {
		now = clock_mono_us() / 1000;
		if (now >= until) {
			errno = ETIMEDOUT;
			return -1;
		}
		if (poll(&p, 1, (int)(until - now)) == -1 && errno != EINTR)
			return -1;
		if (p.revents == 0)
			continue;
		if ((room = buf_room(out, CHUNK)) == NULL) {
			errno = EFBIG;
			return -1;
		}
		if ((n = read(fd, room, CHUNK)) == 0)
			return 0;
		if (n > 0)
			buf_grow(out, (size_t)n);
		else if (errno != EINTR)
			return -1;
	}
}

int
icgit_run(const struct icgit_args *a, struct buf *out, unsigned ms)
{
	uint64_t until = clock_mono_us() / 1000 + ms;
	const char *path = icgit_real();
	int p[2], r, error, status = 0;
	pid_t pid;

	if (path == NULL || a->full) {
		errno = path == NULL ? ENOENT : E2BIG;
		return -1;
	}
	if (pipe2(p, O_CLOEXEC) == -1)
		return -1;
	if ((pid = fork()) == 0)
		child(path, a, p[1]);
	error = errno;
	(void)close(p[1]);
	if (pid == -1) {
		(void)close(p[0]);
		errno = error;
		return -1;
	}
	r = collect(p[0], out, until);
	error = errno;
	(void)close(p[0]);
	if (r == -1) {
		(void)kill(-pid, SIGKILL);
		(void)kill(pid, SIGKILL);
	}
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	errno = error;
	if (r == -1)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}
