/* SPDX-License-Identifier: ISC */
/*
 * The memory controller of version 1, for systems where version 2 has none. A
 * group of this process that was given to its user can have groups below it,
 * and any number of sessions share it: nothing is moved but the sandboxes.
 */
#include "box/cgroup/tree.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns true if a list with commas has the word. */
static bool
v1_has(const char *list, const char *word)
{
	const size_t n = strlen(word);

	for (;;) {
		if (strncmp(list, word, n) == 0 &&
		    (list[n] == ',' || list[n] == '\0'))
			return true;
		if ((list = strchr(list, ',')) == NULL)
			return false;
		list++;
	}
}

/* Find "33 25 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory". */
static int
v1_mount(const char *mounts, char root[1024], char place[1024])
{
	char line[4096], options[256], *type;
	FILE *f = fopen(mounts, "re");
	bool found = false;

	if (f == NULL)
		return -1;
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found =
		    (type = strstr(line, " - cgroup ")) != NULL &&
		    sscanf(type, " - cgroup %*s %255s", options) == 1 &&
		    v1_has(options, "memory") &&
		    sscanf(line, "%*s %*s %*s %1023s %1023s", root, place) == 2;
	fclose(f);
	errno = found ? 0 : ENOENT;
	return found ? 0 : -1;
}

/* Find "4:memory:/user.slice". */
static int
v1_own(const char *groups, char own[1024])
{
	char line[4096], list[256];
	FILE *f = fopen(groups, "re");
	bool found = false;

	if (f == NULL)
		return -1;
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found =
		    sscanf(line, "%*u:%255[^:]:%1023[^\n]", list, own) == 2 &&
		    v1_has(list, "memory") && strstr(own, "/..") == NULL;
	fclose(f);
	errno = found ? 0 : ENOENT;
	return found ? 0 : -1;
}

int
cgroup_v1_find(const char *mounts, const char *groups, char *path, size_t cap)
{
	char root[1024], place[1024], own[1024], *rest = own;
	size_t len;
	int n;

	if (v1_mount(mounts, root, place) == -1 || v1_own(groups, own) == -1)
		return -1;
	/* A container has a part of the tree, at the place of the whole. */
	len = strlen(root);
	if (len > 1) {
		if (strncmp(own, root, len) != 0 ||
		    (own[len] != '/' && own[len] != '\0')) {
			errno = ENOENT;
			return -1;
		}
		rest += len;
	}
	n = snprintf(
	    path, cap, "%s%s", place, strcmp(rest, "/") == 0 ? "" : rest);
	if (n > 0 && (size_t)n < cap)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}

bool
cgroup_v1_open(struct cgroup_tree *t, int dir)
{
	struct stat st;

	if (fstat(dir, &st) == -1 || st.st_uid != geteuid() ||
	    faccessat(dir, "memory.limit_in_bytes", F_OK, 0) == -1 ||
	    faccessat(dir, "cgroup.procs", W_OK, AT_EACCESS) == -1)
		return false;
	*t =
	    (struct cgroup_tree){.dir = dir, .have = CGROUP_MEMORY, .v1 = true};
	return true;
}
