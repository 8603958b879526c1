/* SPDX-License-Identifier: ISC */
/*
 * Tells a session that has died from one that does not answer for a moment, by
 * the lock that icsupervisor holds. Its directory is one that no agent can
 * write.
 */
#include "icctl/live/priv.h"

#include <sys/file.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/here.h"
#include "base/json_get.h"

/* Returns true if this machine made the lock and nobody holds it. */
static bool
died_lock(int dir)
{
	struct here_owner o;
	enum here_is is = here_owner(dir, "lock", &o);
	int fd, rv;

	if (is != HERE_OURS && is != HERE_STALE)
		return false;
	fd = openat(dir, "lock", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return false;
	rv = flock(fd, LOCK_SH | LOCK_NB);
	close(fd);
	/* Some file systems have no locks. */
	return rv == 0 || (errno != EWOULDBLOCK && o.pid > 0 && o.start != 0 &&
			      here_start((pid_t)o.pid) != o.start);
}

bool
died_is(const struct live_session *s)
{
	struct json_object *o;
	bool crashed;
	int fd;

	if (!died_lock(s->conn->dir))
		return false;
	fd = openat(s->conn->dir, "session.json",
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return false;
	o = json_object_from_fd(fd);
	close(fd);
	crashed = o != NULL && strcmp(get_str(o, "state", ""), "ended") != 0;
	json_object_put(o);
	return crashed;
}

const char *
died_why(const struct live_session *s, char dst[LIVE_TEXT])
{
	(void)snprintf(dst, LIVE_TEXT,
	    "the session has died; to go on with it: icctl resume %.64s",
	    s->id);
	return dst;
}
