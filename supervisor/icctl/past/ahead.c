/* SPDX-License-Identifier: ISC */
/*
 * Adds up many logs at once, before they are needed: a few processes read those
 * whose sums were not kept, and keep them. Each takes the next log that is left
 * from a pipe, and says in another whether its sums are kept.
 */
#include "icctl/past/past.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fault.h"

#define AHEAD_FEW 8U /* are read one after the other */
#define AHEAD_MAX 8U /* processes */
#define AHEAD_MS 200 /* between two lines of progress */

/* Returns true if the log has changed since its sums were kept. */
static bool
ahead_wanted(const char *dir)
{
	struct stat log, kept;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is = false;

	if (fd == -1)
		return false;
	if (fstatat(fd, "audit.jsonl", &log, AT_SYMLINK_NOFOLLOW) == 0)
		is = fstatat(fd, PAST_KEPT, &kept, AT_SYMLINK_NOFOLLOW) == -1 ||
		     log.st_ctim.tv_sec > kept.st_ctim.tv_sec;
	close(fd);
	return is;
}

/* Read logs until none is left. */
static _Noreturn void
ahead_work(const struct past_sessions *all, bool again, int from, int to)
{
	struct fault fault;
	uint32_t at;
	int fd;

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	while (read(from, &at, sizeof(at)) == (ssize_t)sizeof(at)) {
		struct past_fold f = {.n = 0};
		char kept = 0;

		fd =
		    open(all->list[at].dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		/* If it cannot be read, the caller says so. */
		if (fd != -1) {
			kept = past_fold(&f, fd, all->list[at].dir, again,
				   &fault) == 0 &&
			       f.kept;
			past_fold_free(&f);
			close(fd);
		}
		if (write(to, &kept, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/*
 * Count what is done until all processes have ended. Returns of how many logs
 * the sums are kept.
 */
static size_t
ahead_wait(int done, size_t n)
{
	const bool tty = isatty(STDERR_FILENO) == 1;
	struct pollfd p = {.fd = done, .events = POLLIN};
	char bytes[256];
	size_t count = 0, kept = 0;
	ssize_t got = 1;

	while (got != 0) {
		if (tty)
			fprintf(stderr,
			    "\rReading the logs of %zu sessions, which is done "
			    "once: %zu ",
			    n, count);
		if (poll(&p, 1, -1) == -1 && errno != EINTR)
			break;
		if (tty)
			(void)poll(NULL, 0, AHEAD_MS);
		got = read(done, bytes, sizeof(bytes));
		for (ssize_t i = 0; i < got; i++)
			kept += bytes[i] == 1;
		if (got > 0)
			count += (size_t)got;
		else if (got == -1 && errno != EINTR)
			break;
	}
	if (tty)
		fputs("\r\033[K", stderr);
	return kept;
}

/* Wait for the processes. Returns true if none has failed. */
static bool
ahead_end(const pid_t pids[AHEAD_MAX], unsigned n)
{
	bool good = true;
	int status;
	pid_t pid;

	for (unsigned i = 0; i < n; i++) {
		do
			pid = waitpid(pids[i], &status, 0);
		while (pid == -1 && errno == EINTR);
		good &=
		    pid != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	return good;
}

/* Start the processes. Returns how many have started. */
static unsigned
ahead_start(const struct past_sessions *all, bool again, const int from[2],
    const int to[2], pid_t pids[AHEAD_MAX])
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n = 0;

	for (long i = 0; i < cpus && n < AHEAD_MAX; i++) {
		pids[n] = fork();
		if (pids[n] == 0) {
			close(from[1]);
			close(to[0]);
			ahead_work(all, again, from[0], to[1]);
		}
		if (pids[n] == -1)
			break;
		n++;
	}
	return n;
}

/*
 * Write the numbers of the logs into the pipe. Returns how many there are;
 * `*all` is false if one had no room.
 */
static size_t
ahead_list(const struct past_sessions *list, bool again, int to, bool *all)
{
	uint32_t at;
	size_t n = 0;

	*all = fcntl(to, F_SETFL, O_NONBLOCK) == 0;
	for (size_t i = 0; i < list->n && *all; i++) {
		at = (uint32_t)i;
		if (!again && !ahead_wanted(list->list[i].dir))
			continue;
		*all = write(to, &at, sizeof(at)) == (ssize_t)sizeof(at);
		n += *all;
	}
	return n;
}

bool
past_ahead(const struct past_sessions *all, bool again)
{
	int from[2], to[2] = {-1, -1};
	pid_t pids[AHEAD_MAX];
	unsigned made = 0;
	bool whole;
	size_t n, kept = 0;

	if (all->n < AHEAD_FEW || pipe2(from, O_CLOEXEC) == -1)
		return false;
	n = ahead_list(all, again, from[1], &whole);
	if (n >= AHEAD_FEW && pipe2(to, O_CLOEXEC) == 0)
		made = ahead_start(all, again, from, to, pids);
	close(from[0]);
	close(from[1]);
	if (to[1] != -1)
		close(to[1]);
	if (made != 0)
		kept = ahead_wait(to[0], n);
	if (to[0] != -1)
		close(to[0]);
	/* All are waited for, whatever the rest says. */
	return ahead_end(pids, made) && made != 0 && whole && kept == n;
}
