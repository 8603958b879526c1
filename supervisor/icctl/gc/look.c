/* SPDX-License-Identifier: ISC */
#include "icctl/gc/look.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/json_get.h"
#include "base/tree.h"
#include "log/parts.h"

/* A start takes seconds; before that, its directory may be empty. */
#define LOOK_FRESH_S 600
#define LOOK_JSON_MAX (256U << 10)

static int64_t
number_of(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_int64(v)
						     : 0;
}

/* Returns session.json, or NULL. The agent cannot write it. */
static struct json_object *
look_json(int dirfd, struct stat *st)
{
	struct json_object *o = NULL;
	int fd;

	fd = openat(dirfd, "session.json",
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return NULL;
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) &&
	    st->st_size <= (off_t)LOOK_JSON_MAX)
		o = json_object_from_fd(fd);
	close(fd);
	if (!json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		return NULL;
	}
	return o;
}

static bool
look_runs(int64_t pid, uint64_t start)
{
	uint64_t now;

	if (pid <= 0 || pid > INT32_MAX || (now = here_start((pid_t)pid)) == 0)
		return false;
	/* An older version did not record its start. */
	return start == 0 || start == now;
}

static void
look_owner(struct gc_look *l, struct gc_facts *f)
{
	struct here_owner o;

	f->owner = here_owner(l->fd, "lock", &o);
	if (f->owner == HERE_ELSEWHERE)
		(void)strlcpy(l->host, o.host, sizeof(l->host));
	if (f->owner == HERE_STALE)
		f->other_boot = true;
	if (f->owner == HERE_OURS && o.pid != 0) {
		f->named = true;
		f->runs = look_runs(o.pid, o.start);
	}
}

static void
look_session(struct gc_look *l, struct gc_facts *f)
{
	struct json_object *o;
	const char *host, *boot;
	struct stat st;

	if ((o = look_json(l->fd, &st)) == NULL)
		return;
	f->json = true;
	f->says_runs = strcmp(get_str(o, "state", ""), "running") == 0;
	(void)strlcpy(l->agent, get_str(o, "agent", ""), sizeof(l->agent));
	l->ended = st.st_mtime;
	host = get_str(o, "host", "");
	boot = get_str(o, "boot", "");
	if (host[0] != '\0' && strcmp(boot, here()->boot) != 0) {
		f->other_boot = true;
		f->other_host = strcmp(host, here()->host) != 0;
		if (f->other_host)
			(void)strlcpy(l->host, host, sizeof(l->host));
	}
	/* The lock is newer, unless it was removed. */
	if (!f->named && strcmp(boot, here()->boot) == 0) {
		f->named = true;
		f->runs = look_runs(
		    number_of(o, "pid"), (uint64_t)number_of(o, "pidStart"));
	}
	json_object_put(o);
}

static enum gc_lock
look_flock(int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return GC_LOCK_FREE;
	return errno == EWOULDBLOCK ? GC_LOCK_TAKEN : GC_LOCK_CANNOT;
}

/* Take both locks, as icsupervisor does. */
static enum gc_lock
look_lock(struct gc_look *l)
{
	enum gc_lock file = GC_LOCK_CANNOT, dir;

	l->lock =
	    openat(l->fd, "lock", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (l->lock != -1 && (file = look_flock(l->lock)) == GC_LOCK_TAKEN)
		return file;
	dir = look_flock(l->fd);
	return dir == GC_LOCK_CANNOT ? file : dir;
}

/* Returns true if the directory has any entry. */
static bool
look_filled(int dirfd, const char *name)
{
	bool any;
	int fd;

	if ((fd = tree_open(dirfd, name, false)) == -1)
		/* If it cannot be read, it may have files. */
		return errno != ENOENT;
	any = !tree_empty(fd, NULL);
	close(fd);
	return any;
}

void
gc_release(struct gc_look *l)
{
	if (l->lock != -1)
		close(l->lock);
	if (l->fd != -1)
		close(l->fd);
	l->fd = l->lock = -1;
}

int
gc_look(
    struct gc_look *l, int dirfd, const char *name, uint64_t dev, int64_t now)
{
	struct gc_facts f = {.owner = HERE_UNKNOWN};
	struct stat st;

	*l = (struct gc_look){.fd = -1, .lock = -1};
	if ((l->fd = tree_open(dirfd, name, false)) == -1)
		return -1;
	if (fstat(l->fd, &st) == -1 || st.st_uid != getuid() ||
	    (uint64_t)st.st_dev != dev) {
		gc_release(l);
		return -1;
	}
	l->ended = st.st_mtime;
	f.fresh = now - st.st_mtime < LOOK_FRESH_S;
	look_session(l, &f);
	/* A lock that we hold would stop a session that begins just now. */
	if (f.json || !f.fresh)
		f.lock = look_lock(l);
	look_owner(l, &f);
	f.log = auditparts_any(l->fd);
	l->work = look_filled(l->fd, "sandbox");
	l->state = gc_state(&f);
	return 0;
}
