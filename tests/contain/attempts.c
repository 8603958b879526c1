/* SPDX-License-Identifier: ISC */
/* The table of all attempts, and their common functions. */
#include "attempts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define E attempt_env
/* Pids near this one: the supervisor starts all workers in a row. */
#define NEAR 48

/* clang-format off */
struct attempt_env attempt_env = {.tcp = -1, .udp = -1, .un = -1,
    .abstract = -1, .listener = -1, .dir = -1, .file = -1, .code = -1,
    .pidfd = -1, .netns = -1, .tty = -1, .pipe = {-1, -1},
    .pids = -1, .log = -1};
/* clang-format on */

const struct attempt_table *const attempt_tables[] = {&attempts_files,
    &attempts_process, &attempts_system, &attempts_sockets, &attempts_log,
    &attempts_frames};
const size_t attempt_ntables = nitems(attempt_tables);

int
attempt_result(long r)
{
	return r == -1 ? errno : 0;
}

/*
 * Call fn for pid. Returns true with the result unless the process does not
 * exist.
 */
static bool
one_of(int (*fn)(pid_t), pid_t pid, int *result)
{
	int got;

	if ((got = fn(pid)) == 0)
		return true;
	if (got != ESRCH && got != ENOENT)
		*result = got;
	return false;
}

/* The test writes each pid followed by a blank, and a newline at the end. */
static int
each_listed(int (*fn)(pid_t))
{
	static char text[512];
	size_t len = 0;
	ssize_t n;
	int result = ESRCH;
	char *p, *end;

	do {
		n = read(E.pids, text + len, sizeof(text) - 1 - len);
		if (n == -1)
			return errno;
		len += (size_t)n;
	} while (memchr(text, '\n', len) == NULL);
	for (p = text; *p != '\n'; p = end + 1)
		if (one_of(fn, (pid_t)strtol(p, &end, 10), &result))
			return 0;
	return result;
}

int
attempt_each(int (*fn)(pid_t))
{
	int result = ESRCH;
	pid_t self;

	if (E.victim != 0)
		return fn(E.victim);
	if (E.pids != -1)
		return each_listed(fn);
	self = getpid();
	for (pid_t pid = self - NEAR; pid < self + NEAR; pid++)
		if (pid > 1 && pid != self && one_of(fn, pid, &result))
			return 0;
	return result;
}

const char *
attempt_path(const char *dir, const char *name)
{
	static char path[2][512];
	static unsigned turn;

	turn ^= 1;
	(void)snprintf(path[turn], sizeof(path[0]), "%s/%s", dir, name);
	return path[turn];
}

const struct attempt *
attempt_row(size_t n)
{
	for (size_t i = 0; i < attempt_ntables; i++) {
		if (n < attempt_tables[i]->n)
			return &attempt_tables[i]->rows[n];
		n -= attempt_tables[i]->n;
	}
	return NULL;
}
