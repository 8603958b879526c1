/* SPDX-License-Identifier: ISC */
/*
 * Files that requests name. A request comes from a program, which may have the
 * name from an agent, so that a link or a directory that an agent can write is
 * no place for one.
 */
#include "icctl/driver/places.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "icctl/driver/priv.h"
#include "icctl/newest.h"

bool
plain_within(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		n--;
	if (n == 1 && dir[0] == '/')
		return true;
	return n != 0 && strncmp(path, dir, n) == 0 &&
	       (path[n] == '/' || path[n] == '\0');
}

const char *
places_writer(const char *home, const char *path)
{
	static char id[300];
	char dir[4400], sub[4700];
	json_object *row;
	struct dirent *e;
	bool found = false;
	DIR *list;

	snprintf(dir, sizeof(dir), "%.4000s/sessions", home);
	if (plain_within(path, dir))
		return "some session";
	if ((list = opendir(dir)) == NULL)
		return NULL;
	while (!found && (e = readdir(list)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(sub, sizeof(sub), "%s/%s", dir, e->d_name);
		if ((row = newest_read(sub, "session.json")) == NULL)
			continue;
		found = get_str(row, "workspace", "")[0] != '\0' &&
			plain_within(path, get_str(row, "workspace", ""));
		json_object_put(row);
		if (found)
			snprintf(id, sizeof(id), "session %s", e->d_name);
	}
	closedir(list);
	return found ? id : NULL;
}

/* Check what was opened. Returns false with the reason in `why`. */
static bool
plain_ok(const struct driver *d, int fd, const char *name, char why[DRIVER_WHY])
{
	char link[64], path[4096], real[4096];
	const char *work = driver_option(d, "--workspace"), *who;
	struct stat st;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || fstat(fd, &st) == -1) {
		snprintf(why, DRIVER_WHY, "%s: %s", name, strerror(errno));
		return false;
	}
	path[n] = '\0';
	if (!S_ISREG(st.st_mode)) {
		snprintf(why, DRIVER_WHY, "%s: is not a plain file", name);
		return false;
	}
	if (st.st_uid != geteuid() || (st.st_mode & 022) != 0) {
		snprintf(why, DRIVER_WHY,
		    "%s: must be your own file, which nobody else may write",
		    name);
		return false;
	}
	if (realpath(work == NULL ? "." : work, real) != NULL &&
	    plain_within(path, real)) {
		snprintf(why, DRIVER_WHY,
		    "%s: is in the workspace, where an agent can write", name);
		return false;
	}
	if ((who = places_writer(d->ctl->home, path)) != NULL) {
		snprintf(why, DRIVER_WHY, "%s: the agent of %s can write there",
		    name, who);
		return false;
	}
	return true;
}

char *
plain_read(
    const struct driver *d, const char *path, size_t max, char why[DRIVER_WHY])
{
	const char *reason;
	char *text = NULL;
	size_t len = 0;
	ssize_t n = 0;
	int fd;

	if (path[0] != '/') {
		snprintf(why, DRIVER_WHY,
		    "prompt_file %s: must be an absolute path", path);
		return NULL;
	}
	if ((fd = places_open(path, &reason)) == -1) {
		snprintf(why, DRIVER_WHY, "prompt_file %s: %s", path, reason);
		return NULL;
	}
	if (!plain_ok(d, fd, path, why))
		goto out;
	if ((text = malloc(max + 2)) == NULL) {
		snprintf(why, DRIVER_WHY, "%s: %s", path, strerror(errno));
		goto out;
	}
	while (len <= max && (n = read(fd, text + len, max + 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	if (n == -1 || len > max || strlen(text) != len) {
		snprintf(why, DRIVER_WHY, "%s: %s", path,
		    n == -1     ? strerror(errno)
		    : len > max ? "a prompt may have at most 1 MiB"
				: "contains a NUL byte");
		free(text);
		text = NULL;
	}
out:
	close(fd);
	return text;
}
