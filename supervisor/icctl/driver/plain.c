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
#include "common/json/value.h"
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

/*
 * Returns true if `path` is below a place that the session has recorded: those
 * that its agent writes, by itself or through MCP servers.
 */
static bool
plain_recorded(const char *dir, const char *path)
{
	char list[65536], file[4800];
	ssize_t n = -1;
	size_t len = 0;
	int fd;

	snprintf(file, sizeof(file), "%s/writable", dir);
	fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return false;
	while (len < sizeof(list) - 1 &&
	       (n = read(fd, list + len, sizeof(list) - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	list[len] = '\0';
	for (const char *s = list; s < list + len; s += strlen(s) + 1)
		if (s[0] == '/' && plain_within(path, s))
			return true;
	/* A list that cannot be read whole may name any place. */
	return n != 0;
}

/* Returns true if the agent of the session in `dir` can write `path`. */
static bool
plain_session(const char *dir, const char *path)
{
	json_object *row = newest_read(dir, "session.json");
	const char *work = get_str(row, "workspace", "");
	char real[4096];
	bool found;

	found = (work[0] == '/' && plain_within(path, work)) ||
		(realpath(dir, real) != NULL && plain_within(path, real)) ||
		plain_recorded(dir, path);
	json_object_put(row);
	return found;
}

/*
 * Returns the first session of the list, "sessions" or "run", whose agent can
 * write `path`, as a text, or NULL.
 */
static const char *
plain_listed(const char *home, const char *listed, const char *path)
{
	static char id[300];
	char sub[4700];
	struct dirent *e;
	bool found = false;
	DIR *list;

	snprintf(sub, sizeof(sub), "%.4000s/%s", home, listed);
	if ((list = opendir(sub)) == NULL)
		return NULL;
	while (!found && (e = readdir(list)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(
		    sub, sizeof(sub), "%.4000s/%s/%s", home, listed, e->d_name);
		if ((found = plain_session(sub, path)))
			snprintf(id, sizeof(id), "session %s", e->d_name);
	}
	closedir(list);
	return found ? id : NULL;
}

const char *
places_writer(const char *home, const char *path)
{
	char dir[4400], real[4096];
	const char *who;

	snprintf(dir, sizeof(dir), "%.4000s/sessions", home);
	if (plain_within(path, dir) ||
	    (realpath(dir, real) != NULL && plain_within(path, real)))
		return "some session";
	/* run/ names those whose directory is elsewhere, too. */
	if ((who = plain_listed(home, "sessions", path)) == NULL)
		who = plain_listed(home, "run", path);
	return who;
}

/* Check what was opened. Returns false with the reason in `why`. */
static bool
plain_ok(const char *home, const char *work, int fd, const char *name,
    char why[PLACES_WHY])
{
	char link[64], path[4096], real[4096];
	const char *who;
	struct stat st;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || fstat(fd, &st) == -1) {
		snprintf(why, PLACES_WHY, "%.300s: %s", name, strerror(errno));
		return false;
	}
	path[n] = '\0';
	if (!S_ISREG(st.st_mode)) {
		snprintf(why, PLACES_WHY,
		    "%.300s: is no plain file; for a pipe: --file -", name);
		return false;
	}
	if (st.st_uid != geteuid() || (st.st_mode & 022) != 0) {
		snprintf(why, PLACES_WHY,
		    "%.300s: must be your own file, which nobody else may "
		    "write%s",
		    name,
		    st.st_uid == geteuid() ? ". Run: chmod go-w on it" : "");
		return false;
	}
	if (work != NULL && realpath(work, real) != NULL &&
	    plain_within(path, real)) {
		snprintf(why, PLACES_WHY,
		    "%.300s: is in the workspace, where an agent can write. "
		    "Keep it somewhere else",
		    name);
		return false;
	}
	if ((who = places_writer(home, path)) != NULL) {
		snprintf(why, PLACES_WHY,
		    "%.300s: the agent of %s can write there. Keep it "
		    "somewhere else",
		    name, who);
		return false;
	}
	return true;
}

int
places_file(
    const char *home, const char *work, const char *path, char why[PLACES_WHY])
{
	const char *reason;
	int fd = places_open(path, &reason);

	if (fd == -1)
		snprintf(why, PLACES_WHY, "%.300s: %s", path, reason);
	else if (!plain_ok(home, work, fd, path, why)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

char *
plain_read(
    const struct driver *d, const char *path, size_t max, char why[DRIVER_WHY])
{
	const char *work = driver_option(d, "--workspace");
	char reason[PLACES_WHY], *text = NULL;
	size_t len = 0;
	ssize_t n = 0;
	int fd;

	if (path[0] != '/') {
		snprintf(why, DRIVER_WHY,
		    "prompt_file %s: must be an absolute path", path);
		return NULL;
	}
	fd = places_file(d->ctl->home, work == NULL ? "." : work, path, reason);
	if (fd == -1) {
		snprintf(why, DRIVER_WHY, "prompt_file %s", reason);
		return NULL;
	}
	if ((text = malloc(max + 2)) == NULL) {
		snprintf(why, DRIVER_WHY, "%s: %s", path, strerror(errno));
		goto out;
	}
	while (len <= max && (n = read(fd, text + len, max + 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	if (n == -1 || len > max || strlen(text) != len ||
	    !utf8_valid(span_of(text, len))) {
		snprintf(why, DRIVER_WHY, "%s: %s", path,
		    n == -1     ? strerror(errno)
		    : len > max ? "a prompt may have at most 1 MiB"
		    : strlen(text) != len
			? "contains a NUL byte"
			: "is no text in UTF-8; save it as UTF-8");
		free(text);
		text = NULL;
	}
out:
	close(fd);
	return text;
}
