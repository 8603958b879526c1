/* SPDX-License-Identifier: ISC */
/*
 * Counts the other sessions that run. Files that are read here were written by
 * other icsupervisors, in directories that no agent can write.
 */
#include "others.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/json_get.h"
#include "common/plural.h"
#include "core/sup.h"
#include "host/sessions.h"

#define OTHERS_NAMED 10U

static struct {
	char same[80]; /* the session with the same workspace, or "" */
	unsigned n;    /* started by `icctl start` */
	char names[1000];
} others;

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
other_add(int dirfd, const char *name, const struct here_owner *o, void *arg)
{
	size_t len;

	if (others.same[0] == '\0' && other_is_here(dirfd))
		snprintf(others.same, sizeof(others.same), "%.79s", name);
	if (strcmp(o->by, "icctl") != 0)
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

	if (sessions_each(
		sup.session.run, sup.session.fd, false, other_add, NULL) == -1)
		return fault_errno(fault, "%s/run", sup.paths.home);
	/* Units, batch systems and jobs have limits of their own. */
	if (!sup.opt.counted || max == 0 || others.n < max)
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
	if (others.same[0] != '\0' && !sup.read_only)
		sup_warn("session %s runs in this directory as well: the "
			 "changes of both agents mix",
		    others.same);
}
