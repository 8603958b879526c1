/* SPDX-License-Identifier: ISC */
/*
 * Finds processes from the sandbox's first one downwards. A process whose
 * parent has ended becomes a child of the sandbox's process 1, so that none
 * escapes.
 */
#include "box/usage.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/small_file.h"
#include "box/memfds.h"

/* More than any useful limit of processes. */
#define USAGE_PROCESSES 4096U
#define USAGE_TASKS 4096U

/* Read a file of a process. Returns false if the process is gone. */
static bool
proc_read(pid_t pid, const char *name, char *text, size_t cap)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return small_file_read(AT_FDCWD, path, text, cap) > 0;
}

/* Returns the number after `key`, or 0. */
static uint64_t
proc_number(const char *text, const char *key)
{
	const char *p = strstr(text, key);

	return p == NULL ? 0 : strtoull(p + strlen(key), NULL, 10);
}

/*
 * Append the children of one thread to `list`, which has n entries. Returns the
 * new n.
 */
static unsigned
children_of(pid_t pid, const char *task, pid_t *list, unsigned n)
{
	char name[64], text[8192], *p, *end;
	long child;

	snprintf(name, sizeof(name), "task/%.20s/children", task);
	if (!proc_read(pid, name, text, sizeof(text)))
		return n;
	for (p = text; n < USAGE_PROCESSES && (child = strtol(p, &end, 10)) > 0;
	     p = end)
		list[n++] = (pid_t)child;
	return n;
}

/* Append the children of every thread of a process. */
static unsigned
descend(pid_t pid, unsigned threads, pid_t *list, unsigned n)
{
	char path[64], self[16];
	struct dirent *e;
	unsigned seen = 0;
	DIR *d;

	if (threads <= 1) {
		snprintf(self, sizeof(self), "%d", (int)pid);
		return children_of(pid, self, list, n);
	}
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	if ((d = opendir(path)) == NULL)
		return n;
	while (seen++ < USAGE_TASKS && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			n = children_of(pid, e->d_name, list, n);
	closedir(d);
	return n;
}

void
usage_each(pid_t root, usage_each_fn *each, void *arg)
{
	static pid_t list[USAGE_PROCESSES];
	char text[4096];
	unsigned n = 0;

	list[n++] = root;
	for (unsigned i = 0; i < n; i++) {
		if (!proc_read(list[i], "status", text, sizeof(text)))
			continue;
		each(list[i], text, arg);
		n = descend(list[i], (unsigned)proc_number(text, "\nThreads:"),
		    list, n);
	}
}

/*
 * Query a memory file system of the sandbox. Returns false if `dir` is the
 * host's.
 */
static bool
tmpfs(pid_t pid, const char *dir, struct statvfs *v)
{
	struct stat host, inside;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, dir);
	if (stat(path, &inside) == -1 || statvfs(path, v) == -1)
		return false;
	return stat(dir, &host) == -1 || host.st_dev != inside.st_dev;
}

static uint64_t
tmpfs_used(pid_t pid, const char *dir, bool *full)
{
	struct statvfs v;

	*full = false;
	if (pid == 0 || !tmpfs(pid, dir, &v))
		return 0;
	*full = v.f_blocks != 0 && v.f_bavail == 0;
	return (uint64_t)(v.f_blocks - v.f_bfree) * v.f_frsize;
}

/* Returns how many pseudo-terminals the sandbox has. */
static unsigned
ptys(pid_t pid)
{
	char path[64];
	struct dirent *e;
	unsigned n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/root/dev/pts", (int)pid);
	if (pid == 0 || (d = opendir(path)) == NULL)
		return 0;
	while ((e = readdir(d)) != NULL)
		n += e->d_name[0] >= '0' && e->d_name[0] <= '9';
	closedir(d);
	return n;
}

/* Let the kernel end this process first when memory runs out. */
static void
end_first(pid_t pid)
{
	static const char want[] = "1000";
	char path[64], text[8];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	if ((fd = open(path, O_RDWR | O_CLOEXEC)) == -1)
		return;
	n = read(fd, text, sizeof(text));
	if (n > 0 && (n < 4 || memcmp(text, want, 4) != 0))
		/* It may have ended. */
		n = pwrite(fd, want, sizeof(want) - 1, 0);
	close(fd);
}

struct count {
	struct usage u;
	pid_t root;   /* bubblewrap itself, outside the sandbox */
	pid_t inside; /* one inside the sandbox; 0: none */
	uint64_t anon, shmem;
	struct memfds memfds;
};

static void
count_status(pid_t pid, const char *text, void *arg)
{
	struct count *c = arg;

	c->inside = pid != c->root ? pid : 0;
	if (pid != c->root) {
		c->u.processes += (unsigned)proc_number(text, "\nThreads:");
		end_first(pid);
	}
	c->u.memory +=
	    (proc_number(text, "\nRssAnon:") +
		proc_number(text, "\nRssShmem:") +
		proc_number(text, "\nVmPTE:") + proc_number(text, "\nVmSwap:"))
	    << 10;
}

static void
count_exact(pid_t pid, const char *status, void *arg)
{
	struct count *c = arg;
	char text[4096];

	c->inside = pid != c->root ? pid : 0;
	memfds_add(&c->memfds, pid);
	if (!proc_read(pid, "smaps_rollup", text, sizeof(text))) {
		count_status(pid, status, c);
		return;
	}
	c->anon += (proc_number(text, "\nPss_Anon:") +
		       proc_number(status, "\nVmPTE:") +
		       proc_number(text, "\nSwapPss:"))
		   << 10;
	c->shmem += proc_number(text, "\nPss_Shmem:") << 10;
}

void
usage_read(pid_t root, struct usage *u)
{
	struct count c = {.root = root};

	usage_each(root, count_status, &c);
	c.u.memory += tmpfs_used(c.inside, "/tmp", &c.u.tmp_full);
	c.u.memory += tmpfs_used(c.inside, "/dev/shm", &c.u.shm_full);
	c.u.ptys = ptys(c.inside);
	*u = c.u;
}

static void
count_memfds(pid_t pid, const char *status, void *arg)
{
	(void)status;
	memfds_add(arg, pid);
}

uint64_t
usage_memfds(pid_t root)
{
	struct memfds m;

	memfds_begin(&m);
	usage_each(root, count_memfds, &m);
	return memfds_end(&m);
}

uint64_t
usage_exact(pid_t root)
{
	struct count c = {.root = root};
	uint64_t memfds;

	memfds_begin(&c.memfds);
	usage_each(root, count_exact, &c);
	memfds = memfds_end(&c.memfds);
	return c.anon + (memfds > c.shmem ? memfds : c.shmem) + c.u.memory +
	       tmpfs_used(c.inside, "/tmp", &c.u.tmp_full) +
	       tmpfs_used(c.inside, "/dev/shm", &c.u.shm_full);
}

int
tree_begin(struct tree *t, int dir)
{
	int fd;

	memset(t, 0, sizeof(*t));
	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1 || (t->open[0] = fdopendir(fd)) == NULL) {
		if (fd != -1)
			close(fd);
		return -1;
	}
	t->depth = 1;
	return 0;
}

/* Names come from the agent: follow no links, and open only directories. */
static void
tree_entry(struct tree *t, int at, const char *name)
{
	struct stat st;
	DIR *d;
	int fd;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return;
	t->bytes += (uint64_t)st.st_blocks * 512;
	if (!S_ISDIR(st.st_mode))
		return;
	if (t->depth == TREE_DEPTH) {
		t->deep = true;
		return;
	}
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return;
	if ((d = fdopendir(fd)) == NULL)
		close(fd);
	else
		t->open[t->depth++] = d;
}

bool
tree_step(struct tree *t, unsigned entries)
{
	struct dirent *e;
	DIR *d;

	for (; t->depth != 0 && entries != 0; entries--) {
		d = t->open[t->depth - 1];
		if ((e = readdir(d)) == NULL) {
			closedir(d);
			t->depth--;
		} else if (strcmp(e->d_name, ".") != 0 &&
			   strcmp(e->d_name, "..") != 0) {
			tree_entry(t, dirfd(d), e->d_name);
		}
	}
	return t->depth == 0;
}

void
tree_end(struct tree *t)
{
	while (t->depth != 0)
		closedir(t->open[--t->depth]);
}
