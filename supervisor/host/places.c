/* SPDX-License-Identifier: ISC */
/*
 * Decides by device and inode what the agent can write. A path is walked by
 * hand, because the kernel's own walk does not tell which links it followed: a
 * link in the workspace that leads to /usr/bin is still under the agent's
 * control.
 */
#include "host/places.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLACES_MAX_LINKS 40U

struct walk {
	const struct places *places;
	char rest[PATH_MAX]; /* the rest of the path */
	int cur;             /* O_PATH, where the walk is */
	bool is_dir;         /* if not, `cur` must be the end of the path */
	unsigned links;
	const char *found;
};

int
places_add(struct places *p, int fd)
{
	struct stat st;
	char *name;

	if (fstat(fd, &st) == -1)
		return -1;
	for (unsigned i = 0; i < p->n; i++)
		if (p->ids[i].dev == st.st_dev && p->ids[i].ino == st.st_ino)
			return 0;
	if (p->n == PLACES_MAX) {
		errno = ENOBUFS;
		return -1;
	}
	if ((name = paths_of_fd(fd)) == NULL)
		return -1;
	p->ids[p->n].dev = st.st_dev;
	p->ids[p->n].ino = st.st_ino;
	p->names[p->n++] = name;
	return 0;
}

void
places_clear(struct places *p)
{
	for (unsigned i = 0; i < p->n; i++)
		free(p->names[i]);
	memset(p, 0, sizeof(*p));
}

/* Move the walk to `fd`, and note if this is one of the places. Takes `fd`. */
static int
walk_enter(struct walk *w, int fd)
{
	struct stat st;

	if (fstat(fd, &st) == -1) {
		close(fd);
		return -1;
	}
	if (w->cur != -1)
		close(w->cur);
	w->cur = fd;
	w->is_dir = S_ISDIR(st.st_mode);
	for (unsigned i = 0; w->found == NULL && i < w->places->n; i++)
		if (w->places->ids[i].dev == st.st_dev &&
		    w->places->ids[i].ino == st.st_ino)
			w->found = w->places->names[i];
	return 0;
}

static int
walk_root(struct walk *w)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd == -1 ? -1 : walk_enter(w, fd);
}

/* Replace the link's name in the path by its text. Takes `fd`. */
static int
walk_link(struct walk *w, int fd)
{
	char text[PATH_MAX], joined[PATH_MAX];
	ssize_t n;
	int len;

	n = readlinkat(fd, "", text, sizeof(text) - 1);
	close(fd);
	if (n == -1)
		return -1;
	text[n] = '\0';
	len = snprintf(joined, sizeof(joined), "%s/%s", text, w->rest);
	if (++w->links > PLACES_MAX_LINKS || len < 0 ||
	    (size_t)len >= sizeof(joined)) {
		errno = ELOOP;
		return -1;
	}
	memcpy(w->rest, joined, (size_t)len + 1);
	return text[0] == '/' ? walk_root(w) : 0;
}

/*
 * Take the next component. Returns 1 at the end of the path, 0, or -1 with
 * errno set.
 */
static int
walk_step(struct walk *w)
{
	char name[NAME_MAX + 1], *p = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(p, "/");
	struct stat st;
	int fd;

	if (n == 0)
		return 1;
	if (n > NAME_MAX || !w->is_dir) {
		errno = n > NAME_MAX ? ENAMETOOLONG : ENOTDIR;
		return -1;
	}
	memcpy(name, p, n);
	name[n] = '\0';
	memmove(w->rest, p + n, strlen(p + n) + 1);
	fd = openat(w->cur, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == -1) {
		close(fd);
		return -1;
	}
	return S_ISLNK(st.st_mode) ? walk_link(w, fd) : walk_enter(w, fd);
}

const char *
places_of(const struct places *places, const char *path, int *fd)
{
	struct walk w = {.places = places, .cur = -1};
	int rv = -1, save;

	if (path[0] != '/' ||
	    strlcpy(w.rest, path, sizeof(w.rest)) >= sizeof(w.rest)) {
		errno = path[0] != '/' ? EINVAL : ENAMETOOLONG;
	} else if (walk_root(&w) == 0) {
		while ((rv = walk_step(&w)) == 0)
			;
	}
	save = errno;
	if (fd != NULL)
		*fd = rv == 1 ? w.cur : -1;
	if (w.cur != -1 && (fd == NULL || rv != 1))
		close(w.cur);
	errno = save;
	return w.found;
}
