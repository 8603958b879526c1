/* SPDX-License-Identifier: ISC */
/*
 * Decides by device and inode what an agent can write. A path is walked by
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
	bool root;           /* it is at / */
	unsigned links;
	const char *found;
	places_see_fn *see; /* NULL: nobody looks */
	void *arg;
};

/* Returns the number of the place, or -1. */
static int
places_find(const struct places *p, const struct stat *st)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->ids[i].dev == st->st_dev && p->ids[i].ino == st->st_ino)
			return (int)i;
	return -1;
}

/*
 * Add a place; `session` is NULL for one of this session. If it is there, this
 * session's name for it is kept, and that an agent writes it directly.
 */
static int
places_put(struct places *p, int fd, const char *session, bool view)
{
	char *path, *name = NULL;
	struct stat st;
	int at, rv;

	if (fstat(fd, &st) == -1)
		return -1;
	if ((at = places_find(p, &st)) != -1) {
		p->views[at] = p->views[at] && view;
		if (session != NULL || !p->others[at])
			return 0;
	}
	if (at == -1 && p->n == PLACES_MAX) {
		errno = ENOBUFS;
		return -1;
	}
	if ((path = paths_of_fd(fd)) == NULL)
		return -1;
	rv = session == NULL
		 ? asprintf(&name, "%s", path)
		 : asprintf(&name, "%s of session %s", path, session);
	if (rv == -1) {
		free(path);
		return -1;
	}
	if (at == -1) {
		at = (int)p->n++;
		p->views[at] = view;
	} else {
		free(p->paths[at]);
		free(p->names[at]);
	}
	p->ids[at] = (struct paths_id){st.st_dev, st.st_ino};
	p->paths[at] = path;
	p->names[at] = name;
	p->others[at] = session != NULL;
	return 0;
}

int
places_add(struct places *p, int fd)
{
	return places_put(p, fd, NULL, false);
}

int
places_add_view(struct places *p, int fd)
{
	return places_put(p, fd, NULL, true);
}

int
places_add_other(struct places *p, int fd, const char *session, bool view)
{
	return places_put(p, fd, session, view);
}

void
places_pass(struct places *p, const struct paths_id *id)
{
	struct stat st = {.st_dev = id->dev, .st_ino = id->ino};
	int at = places_find(p, &st);

	if (at == -1 || !p->views[at])
		return;
	p->n--;
	p->ids[at] = p->ids[p->n];
	p->paths[at] = p->paths[p->n];
	p->names[at] = p->names[p->n];
	p->others[at] = p->others[p->n];
	p->views[at] = p->views[p->n];
}

int
places_copy(struct places *to, const struct places *from)
{
	memset(to, 0, sizeof(*to));
	for (unsigned i = 0; i < from->n; i++) {
		if (from->others[i])
			continue;
		to->ids[to->n] = from->ids[i];
		to->views[to->n] = from->views[i];
		to->paths[to->n] = strdup(from->paths[i]);
		to->names[to->n] = strdup(from->names[i]);
		to->n++;
		if (to->paths[to->n - 1] == NULL ||
		    to->names[to->n - 1] == NULL) {
			places_clear(to);
			errno = ENOMEM;
			return -1;
		}
	}
	return 0;
}

void
places_clear(struct places *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		free(p->paths[i]);
		free(p->names[i]);
	}
	memset(p, 0, sizeof(*p));
}

/* Move the walk to `fd`, and note if this is one of the places. Takes `fd`. */
static int
walk_enter(struct walk *w, int fd)
{
	struct stat st;
	int at;

	if (fstat(fd, &st) == -1) {
		close(fd);
		return -1;
	}
	if (w->cur != -1)
		close(w->cur);
	w->cur = fd;
	w->is_dir = S_ISDIR(st.st_mode);
	w->root = false;
	if (w->found == NULL && (at = places_find(w->places, &st)) != -1 &&
	    !(w->places->direct && w->places->views[at]))
		w->found = w->places->names[at];
	return 0;
}

static int
walk_root(struct walk *w)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd == -1 || walk_enter(w, fd) == -1)
		return -1;
	w->root = true;
	return 0;
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
	if (w->places->inside && w->root && strcmp(name, "workspace") == 0)
		fd = fcntl(w->places->workspace, F_DUPFD_CLOEXEC, 0);
	else
		fd = openat(w->cur, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == -1) {
		close(fd);
		return -1;
	}
	if (w->see != NULL)
		w->see(w->arg, &st);
	return S_ISLNK(st.st_mode) ? walk_link(w, fd) : walk_enter(w, fd);
}

const char *
places_walk(const struct places *places, const char *path, int *fd,
    places_see_fn *see, void *arg)
{
	struct walk w = {.places = places, .cur = -1, .see = see, .arg = arg};
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

const char *
places_of(const struct places *places, const char *path, int *fd)
{
	return places_walk(places, path, fd, NULL, NULL);
}
