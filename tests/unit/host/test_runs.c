/* SPDX-License-Identifier: ISC */
/*
 * Tests the limits of the search for files that run later: the number of
 * entries, the depth, the number of files listed and of directories in PATH.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/host/runs.h"
#include "tap.h"

static char top[] = "/tmp/test_runs.XXXXXX";

static void
put(const char *dir, const char *name)
{
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0700);
	if (fd == -1 || close(fd) == -1)
		exit(99);
}

static void
make_dir(const char *name)
{
	if (mkdir(name, 0700) == -1)
		exit(99);
}

/* Look for what was changed since now, after `change`. */
static const struct runs *
look(int fd, unsigned most, unsigned paths, void (*change)(void))
{
	static struct runs r;
	char path[4096] = "/usr/bin:";

	for (unsigned i = 0; i < paths; i++)
		snprintf(path + strlen(path), sizeof(path) - strlen(path),
		    "%s/bin%u:", top, i);
	runs_begin(&r, fd, top, path);
	r.most = most;
	change();
	runs_end(&r);
	return &r;
}

static void
change_nothing(void)
{
}

static void
change_many(void)
{
	char name[32];

	for (unsigned i = 0; i < RUNS_LISTED + 5; i++) {
		snprintf(name, sizeof(name), "m%u", i);
		make_dir(name);
		put(name, "Makefile");
	}
	for (unsigned i = 0; i < RUNS_PATHS + 4; i++) {
		snprintf(name, sizeof(name), "bin%u", i);
		put(name, "tool");
	}
}

int
main(void)
{
	char *const rm[] = {"rm", "-rf", top, NULL};
	const struct runs *r;
	char name[32];
	int fd;

	if (mkdtemp(top) == NULL || chdir(top) == -1 ||
	    (fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return 99;
	for (unsigned i = 0; i < RUNS_PATHS + 4; i++) {
		snprintf(name, sizeof(name), "bin%u", i);
		make_dir(name);
	}
	make_dir("d");
	for (unsigned i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		put("d", name);
	}
	r = look(fd, RUNS_ENTRIES, RUNS_PATHS - 1, change_nothing);
	is_int(r->total, 0, "nothing was changed");
	ok(!r->cut, "and everything was seen");
	r = look(fd, 100, 0, change_nothing);
	ok(r->cut, "more entries than are looked at");
	ok(r->seen <= 101, "and no more are");
	r = look(fd, RUNS_ENTRIES, RUNS_PATHS + 4, change_many);
	is_int(r->total, RUNS_LISTED + 5 + RUNS_PATHS,
	    "all are counted, but for directories of PATH beyond the limit");
	is_int(r->n, RUNS_LISTED, "and no more listed than fit");
	is_str(r->list[0].path, "bin0/tool", "PATH comes before what is deeper");
	is_int(r->cut, true, "that PATH has more is said");
	close(fd);
	if (fork() == 0) {
		execv("/bin/rm", rm);
		_exit(127);
	}
	return tap_done();
}
