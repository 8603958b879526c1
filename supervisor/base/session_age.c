/* SPDX-License-Identifier: ISC */
/* Tells which of two sessions was started first. */
#include "base/session_age.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/own_file.h"

/* Returns the time that a session's usual name begins with, or 0. */
static int64_t
stamp_of(const char *id)
{
	struct tm tm = {0};
	const char *end = strptime(id, "%Y%m%d-%H%M%S", &tm);

	return end == NULL || *end != '-' ? 0 : (int64_t)timegm(&tm);
}

/* Returns the object in session.json, or NULL. Only an order depends on it. */
static struct json_object *
session_of(int dirfd)
{
	struct json_object *o = NULL;
	struct stat st;
	int fd;

	fd = openat(dirfd, "session.json",
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size <= (off_t)OWN_FILE_MAX)
		o = json_object_from_fd(fd);
	close(fd);
	return o;
}

void
session_age_read(struct session_age *age, const char *dir, const char *id)
{
	struct json_object *file = NULL, *v;
	struct stat st;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*age = (struct session_age){.started = 0};
	if (fd != -1) {
		file = session_of(fd);
		if (fstatat(fd, "start.json", &st, AT_SYMLINK_NOFOLLOW) == 0)
			age->made = st.st_mtim;
		close(fd);
	}
	if (json_object_object_get_ex(file, "started", &v) &&
	    json_object_is_type(v, json_type_int))
		age->started = json_object_get_int64(v);
	json_object_put(file);
	if (age->started <= 0)
		age->started = stamp_of(id);
}

int
session_age_cmp(const struct session_age *a, const char *id_a,
    const struct session_age *b, const char *id_b)
{
	if (a->started != b->started)
		return a->started < b->started ? -1 : 1;
	if (a->made.tv_sec != b->made.tv_sec)
		return a->made.tv_sec < b->made.tv_sec ? -1 : 1;
	if (a->made.tv_nsec != b->made.tv_nsec)
		return a->made.tv_nsec < b->made.tv_nsec ? -1 : 1;
	return strcmp(id_a, id_b);
}
