/* SPDX-License-Identifier: ISC */
/*
 * The other sessions that run, found by their links in run/ and by their locks.
 * Files that are read here were written by other icsupervisors, in directories
 * that no agent can write.
 */
#include "others.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "common/plural.h"
#include "config/here.h"
#include "json_get.h"
#include "sup.h"

#define OTHERS_NAMED 10U

static struct {
	char same[80]; /* the session with the same workspace, or "" */
	unsigned n;    /* started by `icctl start` */
	char names[1000];
} others;

/* Returns true if a process holds the session's lock. */
static bool
other_lives(int dirfd, const struct here_owner *o)
{
	int fd, rv;

	fd =
	    openat(dirfd, "lock", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return false;
	rv = flock(fd, LOCK_SH | LOCK_NB);
	close(fd);
	if (rv == -1 && errno == EWOULDBLOCK)
		return true;
	/* Some file systems have no locks. */
	return rv == -1 && o->pid > 0 && o->start != 0 &&
	       here_start((pid_t)o->pid) == o->start;
}

static bool
other_is_here(int dirfd)
{
	struct json_object *o = NULL;
	bool same = false;
	int fd;

	fd = openat(dirfd, "session.json",
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return false;
	o = json_object_from_fd(fd);
	close(fd);
	same = strcmp(get_str(o, "workspace", ""), sup.workspace_path) == 0;
	json_object_put(o);
	return same;
}

static void
other_add(int run, const char *name)
{
	struct here_owner o;
	size_t len;
	int fd;

	fd = openat(run, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return;
	if (here_owner(fd, "lock", &o) != HERE_OURS || !other_lives(fd, &o)) {
		close(fd);
		return;
	}
	if (others.same[0] == '\0' && other_is_here(fd))
		snprintf(others.same, sizeof(others.same), "%.79s", name);
	close(fd);
	if (strcmp(o.by, "icctl") != 0)
		return;
	len = strlen(others.names);
	if (others.n++ < OTHERS_NAMED)
		snprintf(others.names + len, sizeof(others.names) - len,
		    "%s%.80s", len == 0 ? "" : ", ", name);
}

int
others_check(struct fault *fault)
{
	unsigned max = sup.config.max_sessions;
	struct dirent *e;
	DIR *dir;
	int fd;

	fd = openat(sup.session.run, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return fault_errno(fault, "%s/run", sup.paths.home);
	if ((dir = fdopendir(fd)) == NULL) {
		close(fd);
		return fault_errno(fault, "%s/run", sup.paths.home);
	}
	while ((e = readdir(dir)) != NULL)
		if (e->d_name[0] != '.' &&
		    strcmp(e->d_name, sup.session.id) != 0)
			other_add(fd, e->d_name);
	closedir(dir);
	/* A batch system has limits of its own. */
	if (sup.opt.viewer == NULL || max == 0 || others.n < max)
		return 0;
	return fault_set_kind(fault, FAULT_BUSY,
	    "%u session%s already: %s. maxConcurrentSessions in config.json is "
	    "%u. End one with `icctl --session ID stop`, or set a higher "
	    "number",
	    others.n, others.n == 1 ? " runs" : "s run", others.names, max);
}

void
others_warn(void)
{
	if (others.same[0] != '\0')
		sup_warn("session %s runs in this directory as well: the "
			 "changes of both agents mix",
		    others.same);
}
