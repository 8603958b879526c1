/* SPDX-License-Identifier: ISC */
/*
 * Control groups against a tree of ordinary directories: mkdirat(2), wrapped by
 * the linker, fills a new group with files as the kernel does.
 * test_cgroup --scope: makes a scope of the real systemd of this user, and
 * prints where this process is then.
 */
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box/cgroup/scope.h"
#include "box/cgroup/tree.h"
#include "tap.h"

static char top[64];
static const char *lacking; /* a file that new groups do not have */

int __real_mkdirat(int, const char *, mode_t);
int __wrap_mkdirat(int, const char *, mode_t);

static void
put(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd == -1 || write(fd, text, strlen(text)) == -1)
		err(1, "%s", name);
	close(fd);
}

static void
fill(int dir)
{
	static const char *const files[] = {"cgroup.procs",
	    "cgroup.subtree_control", "memory.max", "memory.swap.max",
	    "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "pids.max",
	    "cpu.max"};

	put(dir, "memory.events", "low 0\noom 1\noom_kill 0\n");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (lacking == NULL || strcmp(files[i], lacking) != 0)
			put(dir, files[i], "");
}

int
__wrap_mkdirat(int dir, const char *name, mode_t mode)
{
	int rv = __real_mkdirat(dir, name, mode), fd;

	if (rv == -1)
		return -1;
	if ((fd = openat(dir, name, O_RDONLY | O_DIRECTORY)) == -1)
		err(1, "%s", name);
	fill(fd);
	close(fd);
	return 0;
}

static const char *
get(int dir, const char *name)
{
	static char text[256];
	int fd = openat(dir, name, O_RDONLY);
	ssize_t n = fd == -1 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd != -1)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return n < 0 ? "absent" : text;
}

/* Make a group as systemd delegates it. */
static int
group(const char *name, const char *controllers)
{
	char path[128];
	int dir;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	if (mkdir(path, 0755) == -1 ||
	    (dir = open(path, O_RDONLY | O_DIRECTORY)) == -1)
		err(1, "%s", path);
	fill(dir);
	put(dir, "cgroup.controllers", controllers);
	return dir;
}

static void
test_tree(void)
{
	const struct cgroup_limits l = {
	    .memory_mb = 64, .processes = 100, .cpus = 2};
	struct cgroup_tree t;
	int dir = group("whole", "cpuset cpu io memory pids\n"), box, in;

	is_int(cgroup_tree_open(&t, dir), 0, "a delegated group is used");
	is_int(t.have, CGROUP_MEMORY | CGROUP_PIDS | CGROUP_CPU,
	    "with all controllers");
	is_str(get(dir, "supervisor/cgroup.procs"), "0",
	    "this process moves out of the way first");
	box = cgroup_make(&t, "agent", &l);
	ok(box != -1, "a group for a sandbox");
	is_str(get(box, "memory.max"), "67108864", "its memory");
	is_str(get(box, "memory.swap.max"), "0", "without more as swap");
	is_str(get(box, "pids.max"), "100", "its processes");
	is_str(get(box, "cpu.max"), "200000 100000", "its processors");
	ok((in = cgroup_entrance(box)) != -1 && write(in, "0", 1) == 1,
	    "it can be entered");
	is_int(cgroup_killed(box), 0, "nothing was ended for memory");
	put(box, "memory.events", "oom 3\noom_kill 2\noom_group_kill 0\n");
	is_int(cgroup_killed(box), 2, "then two processes were");
	is_int(cgroup_make(&t, "agent", &l), -1, "a name is used once");
	is_int(errno, EEXIST, "which is an error");
	close(in);
	close(box);
	cgroup_tree_close(&t);
	is_str(get(dir, "cgroup.procs"), "0", "at the end it moves back");
	close(dir);
}

static void
test_partial(void)
{
	const struct cgroup_limits l = {
	    .memory_mb = 64, .processes = 100, .cpus = 2};
	const struct cgroup_limits none = {.cpus = 0};
	struct cgroup_tree t;
	int dir = group("partial", "memory pids\n"), box;

	is_int(cgroup_tree_open(&t, dir), 0, "two controllers are enough");
	is_int(t.have, CGROUP_MEMORY | CGROUP_PIDS, "and are told");
	lacking = "memory.swap.max";
	box = cgroup_make(&t, "a", &l);
	ok(box != -1, "a kernel without swap accounting");
	is_str(get(box, "cpu.max"), "", "no limit of a missing controller");
	close(box);
	lacking = "pids.max";
	box = cgroup_make(&t, "b", &l);
	is_int(box, -1, "a limit that cannot be set is an error");
	lacking = NULL;
	box = cgroup_make(&t, "c", &none);
	is_str(get(box, "memory.max"), "", "null sets no limit");
	close(box);
	close(dir);
}

static void
test_unusable(void)
{
	struct cgroup_tree t;
	int dir = group("bare", "hugetlb rdma\n");

	is_int(cgroup_tree_open(&t, dir), -1, "none of our controllers");
	is_int(t.dir, -1, "leaves no tree");
	is_str(
	    get(dir, "supervisor/cgroup.procs"), "absent", "and moves nothing");
	close(dir);
	dir = group("internal", "memory pids cpu\n");
	if (unlinkat(dir, "cgroup.subtree_control", 0) == -1)
		err(1, "unlinkat");
	is_int(cgroup_tree_open(&t, dir), -1, "controllers cannot be enabled");
	is_str(get(dir, "cgroup.procs"), "0", "this process is back");
	close(dir);
}

static void
test_find(void)
{
	static const char hybrid[] =
	    "30 25 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	    "31 25 0:27 /below /mnt rw shared:1 - cgroup2 cgroup2 rw\n"
	    "32 25 0:27 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 none "
	    "rw\n";
	char mounts[80], groups[80], path[256];

	snprintf(mounts, sizeof(mounts), "%s/mountinfo", top);
	snprintf(groups, sizeof(groups), "%s/cgroup", top);
	put(AT_FDCWD, mounts, hybrid);
	put(AT_FDCWD, groups, "4:memory:/x\n0::/user.slice/a.scope\n");
	is_int(cgroup_find(mounts, groups, path, sizeof(path)), 0,
	    "the group is found");
	is_str(path, "/sys/fs/cgroup/unified/user.slice/a.scope",
	    "where version 2 is mounted whole");
	put(AT_FDCWD, groups, "0::/\n");
	is_int(cgroup_find(mounts, groups, path, sizeof(path)), 0, "the root");
	is_str(path, "/sys/fs/cgroup/unified", "is its mount");
	put(AT_FDCWD, groups, "0::/../other\n");
	is_int(cgroup_find(mounts, groups, path, sizeof(path)), -1,
	    "a group outside of this namespace is none");
	put(AT_FDCWD, groups, "1:name=systemd:/\n");
	is_int(cgroup_find(mounts, groups, path, sizeof(path)), -1,
	    "version 1 alone has none");
	is_int(cgroup_find("/none", groups, path, sizeof(path)), -1,
	    "nor has a system without /proc");
}

/* Test the memory controller of version 1, in a group that was given to us. */
static void
test_v1(void)
{
	static const char hybrid[] =
	    "30 25 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
	    "31 25 0:27 /box /sys/fs/cgroup/memory rw - cgroup cgroup "
	    "rw,memory\n";
	const struct cgroup_limits l = {.memory_mb = 64, .processes = 9};
	char mounts[80], groups[80], path[256];
	int dir = group("old", ""), box;
	struct cgroup_tree t;

	snprintf(mounts, sizeof(mounts), "%s/mountinfo", top);
	snprintf(groups, sizeof(groups), "%s/cgroup", top);
	put(AT_FDCWD, mounts, hybrid);
	put(AT_FDCWD, groups, "5:cpu:/\n4:hugetlb,memory:/box/a\n0::/\n");
	is_int(cgroup_v1_find(mounts, groups, path, sizeof(path)), 0,
	    "version 1: the group is found");
	is_str(path, "/sys/fs/cgroup/memory/a", "in the part that is mounted");
	put(AT_FDCWD, groups, "4:memory:/other\n");
	is_int(cgroup_v1_find(mounts, groups, path, sizeof(path)), -1,
	    "one outside of that is none");
	put(AT_FDCWD, groups, "4:memory:/box/../x\n");
	is_int(cgroup_v1_find(mounts, groups, path, sizeof(path)), -1,
	    "nor is one that climbs");
	put(AT_FDCWD, groups, "5:cpu:/\n");
	is_int(cgroup_v1_find(mounts, groups, path, sizeof(path)), -1,
	    "without the controller there is none");
	put(dir, "cgroup.procs", "1\n");
	ok(cgroup_v1_open(&t, dir), "a group of ours, with other processes");
	is_int(t.have, CGROUP_MEMORY, "has memory");
	is_str(get(dir, "cgroup.procs"), "1\n", "and nothing is moved");
	box = cgroup_make(&t, "agent", &l);
	ok(box != -1, "a group for a sandbox");
	is_str(get(box, "memory.limit_in_bytes"), "67108864", "its memory");
	is_str(
	    get(box, "memory.memsw.limit_in_bytes"), "67108864", "with swap");
	is_str(get(box, "pids.max"), "", "and no other limit");
	if (unlinkat(box, "memory.events", 0) == -1)
		err(1, "memory.events");
	put(box, "memory.oom_control",
	    "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
	is_int(cgroup_killed(box), 3, "processes that were ended");
	close(box);
	cgroup_tree_close(&t);
	is_str(get(dir, "cgroup.procs"), "1\n", "at the end nothing is moved");
	if (unlinkat(dir, "memory.limit_in_bytes", 0) == -1)
		err(1, "memory.limit_in_bytes");
	ok(!cgroup_v1_open(&t, dir), "another directory is none");
	close(dir);
}

static void
test_delegated(void)
{
	char mine[32];
	int dir = group("shop.scope", "memory\n");

	snprintf(mine, sizeof(mine), "%d\n", (int)getpid());
	put(dir, "cgroup.procs", mine);
	ok(cgroup_delegated(dir, "/x/plain", false),
	    "a group of ours alone, made by hand");
	ok(!cgroup_delegated(dir, "/x/shop.scope", false),
	    "a unit of systemd that is not marked is systemd's");
	ok(cgroup_delegated(dir, "/x/shop.service", true),
	    "our own unit is ours");
	put(dir, "cgroup.procs", "1\n");
	ok(!cgroup_delegated(dir, "/x/plain", false),
	    "one with other processes is not");
	snprintf(mine + strlen(mine), sizeof(mine) - strlen(mine), "1\n");
	put(dir, "cgroup.procs", mine);
	ok(!cgroup_delegated(dir, "/x/plain", false), "nor with one more");
	close(dir);
}

static void
test_scope(void)
{
	struct scope_call c;
	char all[1024] = "";

	scope_compose(&c, "2026-ab/../x y", 42);
	is_str(c.name, "ironcurtain-2026-ab____x_y.scope",
	    "the name has no character that means something");
	for (const char **w = c.words; *w != NULL; w++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
		    w == c.words ? "" : "|", *w);
	is_str(all,
	    "busctl|--user|--quiet|--timeout=3|call|org.freedesktop.systemd1|"
	    "/org/freedesktop/systemd1|org.freedesktop.systemd1.Manager|"
	    "StartTransientUnit|ssa(sv)a(sa(sv))|"
	    "ironcurtain-2026-ab____x_y.scope|fail|4|Description|s|"
	    "IronCurtain session 2026-ab____x_y|PIDs|au|1|42|Delegate|b|true|"
	    "CollectMode|s|inactive-or-failed|0",
	    "the command line");
}

/* Become a member of a scope of the real systemd, and say which. */
static int
real_scope(const char *id)
{
	struct scope_call c;

	scope_compose(&c, id, getppid());
	puts(c.name);
	fflush(stdout);
	execvp(c.words[0], (char *const *)(uintptr_t)c.words);
	err(1, "busctl");
}

int
main(int argc, char **argv)
{
	char command[96];

	if (argc == 3 && strcmp(argv[1], "--scope") == 0)
		return real_scope(argv[2]);
	snprintf(top, sizeof(top), "/tmp/ic-cgroup-XXXXXX");
	if (mkdtemp(top) == NULL)
		err(1, "mkdtemp");
	test_tree();
	test_partial();
	test_unusable();
	test_find();
	test_v1();
	test_delegated();
	test_scope();
	snprintf(command, sizeof(command), "rm -rf %s", top);
	if (system(command) != 0)
		warnx("%s is left", top);
	return tap_done();
}
