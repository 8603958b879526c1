/* SPDX-License-Identifier: ISC */
/* Removes directories: others leave them meanwhile, and links lead out. */
#include "tap.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "supervisor/base/tree.h"

#define DIRS 10
#define FILES 10
#define ROUNDS 20

static char base[] = "/tmp/ic-tree-XXXXXX", path[64];

static const char *
at(const char *name)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s/%s", path, name);
	return text;
}

static void
put(const char *name)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd == -1)
		err(1, "%s", at(name));
	close(fd);
}

static void
make(const char *name)
{
	if (mkdir(at(name), 0700) == -1)
		err(1, "%s", at(name));
}

static void
grow(void)
{
	char name[32];

	if (mkdir(path, 0700) == -1)
		err(1, "%s", path);
	for (int i = 0; i < DIRS; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		make(name);
		for (int j = 0; j < FILES; j++) {
			snprintf(name, sizeof(name), "d%d/%d", i, j);
			put(name);
		}
	}
}

static bool
gone(void)
{
	return access(path, F_OK) == -1 && errno == ENOENT;
}

/* Two remove the same tree: what one has removed is no failure of the other. */
static void
test_others(void)
{
	unsigned bad = 0, left = 0;
	int status, r;
	pid_t pid;

	for (int i = 0; i < ROUNDS; i++) {
		grow();
		if ((pid = fork()) == -1)
			err(1, "fork");
		r = tree_remove(path);
		if (pid == 0)
			_exit(r == 0 ? 0 : 1);
		bad += r == -1;
		left += !gone();
		if (waitpid(pid, &status, 0) == -1)
			err(1, "waitpid");
		bad += status != 0;
	}
	is_int(bad, 0, "two at once: neither fails");
	is_int(left, 0, "two at once: nothing is left");
}

static void
test_stuck(void)
{
	if (geteuid() == 0) {
		ok(true, "# SKIP root may remove everything");
		return;
	}
	grow();
	make("a");
	make("a/shut");
	put("a/shut/file");
	if (chmod(at("a/shut"), 0500) == -1)
		err(1, "chmod");
	errno = 0;
	is_int(tree_remove(path), -1, "a directory that cannot be changed");
	is_int(errno, EACCES, "the reason is its own");
	ok(access(at("d0"), F_OK) == -1, "the rest is removed");
	if (chmod(at("a/shut"), 0700) == -1)
		err(1, "chmod");
	is_int(tree_remove(path), 0, "later it can");
	ok(gone(), "and is gone");
}

static void
test_empty(void)
{
	int fd;

	if (mkdir(path, 0700) == -1 ||
	    (fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		err(1, "%s", path);
	ok(tree_empty(fd, NULL), "an empty directory");
	put("one");
	ok(!tree_empty(fd, NULL), "with a file it is not");
	ok(tree_empty(fd, "one"), "unless that file does not count");
	ok(tree_empty(fd, "one"), "it is read from its beginning");
	put("two");
	ok(!tree_empty(fd, "one"), "another one does");
	close(fd);
	is_int(tree_remove(path), 0, "a directory with two files");
}

int
main(void)
{
	char out[sizeof(base) + 8];

	if (mkdtemp(base) == NULL)
		err(1, "%s", base);
	snprintf(path, sizeof(path), "%s/tree", base);
	is_int(tree_remove(path), 0, "a directory that is not there");
	grow();
	snprintf(out, sizeof(out), "%s/out", base);
	if (mkdir(out, 0700) == -1 || symlink(out, at("link")) == -1)
		err(1, "link");
	is_int(tree_remove(path), 0, "a tree with a link");
	ok(gone() && access(out, F_OK) == 0, "the link is not followed");
	test_empty();
	test_others();
	test_stuck();
	(void)rmdir(out);
	(void)rmdir(base);
	return tap_done();
}
