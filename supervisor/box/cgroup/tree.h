/* SPDX-License-Identifier: ISC */
/*
 * A control group (version 2) of ours, with groups below it: one for this
 * process and one for each sandbox. Only groups without processes can have
 * controllers for those below them, so this process moves into a group of its
 * own first.
 */
#ifndef CGROUP_TREE_H
#define CGROUP_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CGROUP_MEMORY 1U
#define CGROUP_PIDS 2U
#define CGROUP_CPU 4U
#define CGROUP_OWN "supervisor" /* the group of this process */

struct cgroup_tree {
	int dir;       /* -1: none */
	unsigned have; /* controllers that the groups below have */
	bool v1;       /* version 1, which has memory alone */
};

/* 0 means no limit. */
struct cgroup_limits {
	uint64_t memory_mb, processes;
	unsigned cpus;
};

/*
 * Take over `dir`, the group of this process, in which there is no other, and
 * enable controllers for the groups below it. Returns 0, or -1 with errno set
 * if the group cannot be used, with this process where it was.
 */
int cgroup_tree_open(struct cgroup_tree *, int dir);
/*
 * v1.c: Use `dir`, the group of this process in the memory controller of version
 * 1, if it is this user's. Returns false if it is not.
 */
bool cgroup_v1_open(struct cgroup_tree *, int dir);
/* Undo it: move this process back. Groups that are still in use stay. */
void cgroup_tree_close(struct cgroup_tree *);
/*
 * Make a group with these limits. Returns its directory, or -1 with errno set.
 * A limit whose controller is missing is left out.
 */
int cgroup_make(
    const struct cgroup_tree *, const char *name, const struct cgroup_limits *);
/* Open its cgroup.procs: a process that writes "0" there enters it. */
int cgroup_entrance(int dir);
/* Returns how often the kernel ended one of its processes at memory.max. */
unsigned cgroup_killed(int dir);
/* Returns true if the group is gone: no process is left in it. */
bool cgroup_remove(const struct cgroup_tree *, const char *name);

/* find.c */
/*
 * Find the version 2 group of a process: `mounts` and `groups` are its mountinfo
 * and cgroup in /proc. Returns 0 with its path, or -1 with errno set, ENOENT if
 * this system has none.
 */
int cgroup_find(
    const char *mounts, const char *groups, char *path, size_t cap);
/* v1.c: Find the group of a process in the memory controller of version 1. */
int cgroup_v1_find(
    const char *mounts, const char *groups, char *path, size_t cap);
/* Returns the CGROUP_ bits of the controllers that a group has itself. */
unsigned cgroup_controllers(int dir);
/*
 * Returns true if this process alone is in the group, and may make groups below
 * it: whoever made it has delegated it. `unit`: our unit file has done so.
 */
bool cgroup_delegated(int dir, const char *path, bool unit);

#endif
