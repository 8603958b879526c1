/* SPDX-License-Identifier: ISC */
/* Finds the control group of this process, and whether it may use it. */
#include "box/cgroup/tree.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/small_file.h"

/*
 * Find where version 2 is mounted, whole: "36 25 0:31 / /sys/fs/cgroup rw -
 * cgroup2 cgroup2 rw".
 */
static int
find_mount(const char *mounts, char *where, size_t cap)
{
	char line[4096], root[256], place[1024], *type;
	FILE *f = fopen(mounts, "re");
	int rv = -1;

	if (f == NULL)
		return -1;
	while (rv == -1 && fgets(line, sizeof(line), f) != NULL) {
		if ((type = strstr(line, " - ")) == NULL ||
		    strncmp(type, " - cgroup2 ", 11) != 0 ||
		    sscanf(line, "%*s %*s %*s %255s %1023s", root, place) !=
			2 ||
		    strcmp(root, "/") != 0 || strlen(place) >= cap)
			continue;
		snprintf(where, cap, "%s", place);
		rv = 0;
	}
	fclose(f);
	if (rv == -1)
		errno = ENOENT;
	return rv;
}

/* Find the line "0::/user.slice/...". */
static int
find_own(const char *groups, char *own, size_t cap)
{
	char line[4096];
	FILE *f = fopen(groups, "re");
	int rv = -1;

	if (f == NULL)
		return -1;
	while (rv == -1 && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::/", 4) != 0 ||
		    strstr(line, "/..") != NULL)
			continue;
		(void)strlcpy(own, line + 3, cap);
		rv = 0;
	}
	fclose(f);
	if (rv == -1)
		errno = ENOENT;
	return rv;
}

int
cgroup_find(const char *mounts, const char *groups, char *path, size_t cap)
{
	char where[1024], own[4096];
	int n;

	if (find_mount(mounts, where, sizeof(where)) == -1 ||
	    find_own(groups, own, sizeof(own)) == -1)
		return -1;
	n = snprintf(
	    path, cap, "%s%s", where, strcmp(own, "/") == 0 ? "" : own);
	if (n > 0 && (size_t)n < cap)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}

/* Returns true if no other process is in the group. */
static bool
find_alone(int dir)
{
	char text[64], mine[24];

	if (small_file_read(dir, "cgroup.procs", text, sizeof(text)) <= 0)
		return false;
	snprintf(mine, sizeof(mine), "%d\n", (int)getpid());
	return strcmp(text, mine) == 0;
}

static bool
find_ends(const char *path, const char *end)
{
	size_t n = strlen(path), k = strlen(end);

	return n >= k && strcmp(path + n - k, end) == 0;
}

/*
 * systemd rewrites the groups of its units, except those that it has delegated,
 * which it marks.
 */
static bool
find_marked(int dir, const char *path)
{
	char value[8];

	if (!find_ends(path, ".service") && !find_ends(path, ".scope") &&
	    !find_ends(path, ".slice"))
		return true;
	return fgetxattr(dir, "user.delegate", value, sizeof(value)) == 1 &&
	       value[0] == '1';
}

bool
cgroup_delegated(int dir, const char *path, bool unit)
{
	struct stat st;

	return fstat(dir, &st) == 0 && st.st_uid == geteuid() &&
	       faccessat(dir, "cgroup.procs", W_OK, AT_EACCESS) == 0 &&
	       faccessat(dir, "cgroup.subtree_control", W_OK, AT_EACCESS) ==
		   0 &&
	       find_alone(dir) && (unit || find_marked(dir, path));
}
