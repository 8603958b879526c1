/* SPDX-License-Identifier: ISC */
/* Writes the files of control groups; each holds one value. */
#include "box/cgroup/tree.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/close_keep.h"
#include "base/small_file.h"

#define CGROUP_PERIOD 100000ULL /* us, of cpu.max */

static const struct {
	const char *name;
	unsigned bit;
} tree_controllers[] = {
    {"memory", CGROUP_MEMORY}, {"pids", CGROUP_PIDS}, {"cpu", CGROUP_CPU}};

/* Write one value. Returns 0, or -1 with errno set. */
static int
tree_write(int dir, const char *name, const char *value)
{
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n;

	if (fd == -1)
		return -1;
	do {
		n = write(fd, value, strlen(value));
	} while (n == -1 && errno == EINTR);
	(void)close_keep(fd);
	return n == (ssize_t)strlen(value) ? 0 : -1;
}

unsigned
cgroup_controllers(int dir)
{
	char text[512], *rest = text, *word;
	unsigned have = 0;

	(void)small_file_read(dir, "cgroup.controllers", text, sizeof(text));
	while ((word = strsep(&rest, " \n")) != NULL)
		for (size_t i = 0; i < 3; i++)
			if (strcmp(word, tree_controllers[i].name) == 0)
				have |= tree_controllers[i].bit;
	return have;
}

/* Move this process into the group `own` of `dir`. */
static int
tree_enter(int dir, const char *own)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%scgroup.procs", own,
	    own[0] == '\0' ? "" : "/");
	return tree_write(dir, name, "0");
}

int
cgroup_tree_open(struct cgroup_tree *t, int dir)
{
	const unsigned can = cgroup_controllers(dir);
	char word[16];
	int save;

	*t = (struct cgroup_tree){.dir = dir};
	if (can == 0)
		errno = ENOTSUP;
	if (can == 0 ||
	    (mkdirat(dir, CGROUP_OWN, 0755) == -1 && errno != EEXIST) ||
	    tree_enter(dir, CGROUP_OWN) == -1) {
		t->dir = -1;
		return -1;
	}
	/* One by one: a controller that cannot be had stops no other. */
	for (size_t i = 0; i < 3; i++) {
		snprintf(word, sizeof(word), "+%s", tree_controllers[i].name);
		if ((can & tree_controllers[i].bit) != 0 &&
		    tree_write(dir, "cgroup.subtree_control", word) == 0)
			t->have |= tree_controllers[i].bit;
	}
	if (t->have != 0)
		return 0;
	save = errno;
	cgroup_tree_close(t);
	errno = save;
	return -1;
}

void
cgroup_tree_close(struct cgroup_tree *t)
{
	char word[16];

	if (t->dir == -1)
		return;
	for (size_t i = 0; i < 3 && !t->v1; i++) {
		snprintf(word, sizeof(word), "-%s", tree_controllers[i].name);
		if ((t->have & tree_controllers[i].bit) != 0)
			(void)tree_write(
			    t->dir, "cgroup.subtree_control", word);
	}
	if (!t->v1) {
		(void)tree_enter(t->dir, "");
		(void)unlinkat(t->dir, CGROUP_OWN, AT_REMOVEDIR);
	}
	t->dir = -1;
	t->have = 0;
}

/* Write a limit of memory, with swap: it is written to two files in turn. */
static int
tree_memory(const struct cgroup_tree *t, int dir, const char *bytes)
{
	const char *swap =
	    t->v1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max";

	if (tree_write(dir, t->v1 ? "memory.limit_in_bytes" : "memory.max",
		bytes) == -1)
		return -1;
	/* Without this, as much again goes to the swap space. */
	return tree_write(dir, swap, t->v1 ? bytes : "0") == -1 &&
		       errno != ENOENT
		   ? -1
		   : 0;
}

static int
tree_limits(const struct cgroup_tree *t, int dir, const struct cgroup_limits *l)
{
	char text[64];

	if (l->memory_mb != 0 && (t->have & CGROUP_MEMORY) != 0) {
		snprintf(text, sizeof(text), "%llu",
		    (unsigned long long)l->memory_mb << 20);
		if (tree_memory(t, dir, text) == -1)
			return -1;
	}
	if (l->processes != 0 && (t->have & CGROUP_PIDS) != 0) {
		snprintf(text, sizeof(text), "%llu",
		    (unsigned long long)l->processes);
		if (tree_write(dir, "pids.max", text) == -1)
			return -1;
	}
	if (l->cpus != 0 && (t->have & CGROUP_CPU) != 0) {
		snprintf(text, sizeof(text), "%llu %llu",
		    l->cpus * CGROUP_PERIOD, CGROUP_PERIOD);
		if (tree_write(dir, "cpu.max", text) == -1)
			return -1;
	}
	return 0;
}

int
cgroup_make(const struct cgroup_tree *t, const char *name,
    const struct cgroup_limits *l)
{
	int dir, save;

	/* One of a session that was killed, without a process. */
	if (t->v1)
		(void)unlinkat(t->dir, name, AT_REMOVEDIR);
	if (mkdirat(t->dir, name, 0755) == -1)
		return -1;
	dir = openat(
	    t->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir != -1 && tree_limits(t, dir, l) == 0)
		return dir;
	save = errno;
	if (dir != -1)
		close(dir);
	(void)unlinkat(t->dir, name, AT_REMOVEDIR);
	errno = save;
	return -1;
}

int
cgroup_entrance(int dir)
{
	return openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
}

unsigned
cgroup_killed(int dir)
{
	char text[512];
	const char *p;

	if ((small_file_read(dir, "memory.events", text, sizeof(text)) == -1 &&
		small_file_read(
		    dir, "memory.oom_control", text, sizeof(text)) == -1) ||
	    (p = strstr(text, "oom_kill ")) == NULL)
		return 0;
	return (unsigned)strtoul(p + 9, NULL, 10);
}

bool
cgroup_remove(const struct cgroup_tree *t, const char *name)
{
	return unlinkat(t->dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}
