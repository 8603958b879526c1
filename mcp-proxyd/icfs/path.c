/* SPDX-License-Identifier: ISC */
/*
 * Resolves a path that someone wrote to an object beneath a root.  Links are
 * read and followed here, as text; the path that is then opened contains no
 * links, and the kernel refuses to go through one (or out of the root),
 * whatever was exchanged in the meantime.
 */
#include "icfs/icfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_LINKS 40U

/* A path being resolved: the part that is done, and the rest. */
struct walk {
	const struct icfs_root *root;
	/* beneath the root, without links; "" is the root */
	char done[PATH_MAX];
	char rest[PATH_MAX];
	unsigned links;
	bool slash; /* a slash followed the last component */
};

/*
 * Set dst = a / b; `b` may lie within `dst`.  Returns -1 with errno
 * ENAMETOOLONG.
 */
static int
join(char dst[PATH_MAX], const char *a, const char *b)
{
	char both[PATH_MAX];
	int n;

	n = snprintf(both, sizeof(both), "%s%s%s", a,
	    *a != '\0' && *b != '\0' && a[strlen(a) - 1] != '/' ? "/" : "", b);
	if (n < 0 || (size_t)n >= sizeof(both)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(dst, both, (size_t)n + 1);
	return 0;
}

/* Drop "." and empty components of an absolute path; ".." stays. */
static void
squeeze(char *path)
{
	char *from = path, *to = path, *end;
	size_t n;

	while (*from != '\0') {
		while (*from == '/')
			from++;
		end = from;
		while (*end != '\0' && *end != '/')
			end++;
		n = (size_t)(end - from);
		if (n != 0 && !(n == 1 && *from == '.')) {
			*to++ = '/';
			memmove(to, from, n);
			to += n;
		}
		from = end;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
}

int
icfs_tidy(char *path)
{
	const char *up = path;

	squeeze(path);
	while ((up = strstr(up, "/..")) != NULL) {
		if (up[3] == '\0' || up[3] == '/')
			return -1;
		up++;
	}
	return 0;
}

/*
 * Remove the first ".." together with the component before it.  Returns false
 * if there is none.
 */
static bool
take_up(char *path)
{
	char *up = path, *to;

	while (
	    (up = strstr(up, "/..")) != NULL && up[3] != '\0' && up[3] != '/')
		up++;
	if (up == NULL)
		return false;
	to = up;
	while (to > path && *--to != '/')
		;
	memmove(to, up + 3, strlen(up + 3) + 1);
	if (*path == '\0')
		memcpy(path, "/", 2);
	return true;
}

/* Returns the part of `path` beneath `dir`, or NULL if it is elsewhere. */
static const char *
beneath(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1)
		return path + 1;
	if (strncmp(path, dir, n) != 0 || (path[n] != '/' && path[n] != '\0'))
		return NULL;
	return path[n] == '/' ? path + n + 1 : path + n;
}

/*
 * Find the innermost root that contains an absolute path.  Returns -1 if none
 * does.
 */
static int
enter(const struct icfs *f, struct walk *w, char path[PATH_MAX])
{
	const char *rest, *best = NULL;
	size_t len = 0;

	squeeze(path);
	do {
		for (size_t i = 0; i < f->nroots; i++) {
			const struct icfs_root *r = &f->roots[i];
			size_t n = strlen(r->name);

			if ((rest = beneath(path, r->name)) == NULL) {
				rest = beneath(path, r->real);
				n = strlen(r->real);
			}
			if (rest == NULL || n < len)
				continue;
			best = rest;
			len = n;
			w->root = r;
		}
	} while (best == NULL && take_up(path));
	if (best == NULL)
		return -1;
	w->done[0] = '\0';
	memmove(w->rest, best, strlen(best) + 1);
	return 0;
}

/* Move the next component of w->rest into `name`. */
static int
next(struct walk *w, char name[NAME_MAX + 1])
{
	char *from = w->rest, *end;
	size_t n;

	while (*from == '/')
		from++;
	end = from;
	while (*end != '\0' && *end != '/')
		end++;
	n = (size_t)(end - from);
	if (n > NAME_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(name, from, n);
	name[n] = '\0';
	w->slash = *end == '/';
	while (*end == '/')
		end++;
	memmove(w->rest, end, strlen(end) + 1);
	return 0;
}

/*
 * Go up one directory.  Above the root, resolve the path again from the root's
 * own name.
 */
static int
go_up(const struct icfs *f, struct walk *w)
{
	char path[PATH_MAX], *cut;

	if (w->done[0] != '\0') {
		cut = strrchr(w->done, '/');
		*(cut != NULL ? cut : w->done) = '\0';
		return 0;
	}
	if (++w->links > MAX_LINKS) {
		errno = ELOOP;
		return -1;
	}
	if (join(path, w->root->real, "..") == -1 ||
	    join(path, path, w->rest) == -1)
		return -1;
	(void)take_up(path);
	if (enter(f, w, path) == -1) {
		errno = 0;
		return -1;
	}
	return 0;
}

/* Replace the link open as `fd` by its target, followed by the rest. */
static int
go_through(const struct icfs *f, struct walk *w, int fd)
{
	char target[PATH_MAX];
	ssize_t n;

	if (++w->links > MAX_LINKS) {
		errno = ELOOP;
		return -1;
	}
	if ((n = readlinkat(fd, "", target, sizeof(target))) == -1)
		return -1;
	if (n == 0 || (size_t)n >= sizeof(target)) {
		errno = n == 0 ? ENOENT : ENAMETOOLONG;
		return -1;
	}
	target[n] = '\0';
	if (w->slash && w->rest[0] == '\0' && join(target, target, "/") == -1)
		return -1;
	if (join(w->rest, target, w->rest) == -1)
		return -1;
	if (target[0] != '/')
		return 0;
	memcpy(target, w->rest, strlen(w->rest) + 1);
	if (enter(f, w, target) == -1) {
		errno = 0;
		return -1;
	}
	return 0;
}

static int
make_dir(struct walk *w, const char *name)
{
	int dir, r, error;

	dir = icfs_open(w->root->fd, w->done[0] != '\0' ? w->done : ".",
	    O_PATH | O_DIRECTORY, 0);
	if (dir == -1)
		return -1;
	r = mkdirat(dir, name, 0777);
	error = errno;
	close(dir);
	errno = error;
	return r == -1 && errno != EEXIST ? -1 : 0;
}

/* Returns true if that path beneath the root may be used. */
static bool
wanted(const struct icfs *f, const struct icfs_root *r, const char *path)
{
	size_t n = strcspn(path, "/");

	for (size_t i = 0; r->narrow && i < f->nonly; i++)
		if (&f->roots[f->only[i].root] == r &&
		    strncmp(f->only[i].name, path, n) == 0 &&
		    f->only[i].name[n] == '\0' && n != 0)
			return true;
	return !r->narrow;
}

void
icfs_add_places(const struct icfs *f, struct buf *b, const char *separator)
{
	const char *before = "";

	for (size_t i = 0; i < f->nroots; i++) {
		if (f->roots[i].narrow)
			continue;
		buf_adds(b, before);
		icfs_add_text(b, span_str(f->roots[i].name));
		before = separator;
	}
	for (size_t i = 0; i < f->nonly; i++) {
		const char *dir = f->roots[f->only[i].root].name;

		buf_adds(b, before);
		icfs_add_text(b, span_str(dir));
		if (strcmp(dir, "/") != 0)
			buf_addc(b, '/');
		icfs_add_text(b, span_str(f->only[i].name));
		before = separator;
	}
}

enum step {
	STEP_ERROR,
	STEP_ON,
	STEP_MISSING, /* the last component does not exist */
};

/* Resolve one component that is a name. */
static enum step
step(const struct icfs *f, struct walk *w, const char *name, enum icfs_how how)
{
	char path[PATH_MAX];
	enum step r = STEP_ERROR;
	struct stat st;
	int fd, error;

	if (join(path, w->done, name) == -1)
		return STEP_ERROR;
	if (!wanted(f, w->root, path)) {
		errno = 0;
		return STEP_ERROR;
	}
	fd = icfs_open(w->root->fd, path, O_PATH, 0);
	if (fd == -1 && errno == ENOENT && how == ICFS_MKDIRS &&
	    make_dir(w, name) == 0)
		fd = icfs_open(w->root->fd, path, O_PATH, 0);
	if (fd == -1 && errno == ENOENT && w->rest[0] == '\0' && !w->slash) {
		memcpy(w->done, path, strlen(path) + 1);
		return STEP_MISSING;
	}
	if (fd == -1)
		return STEP_ERROR;
	if (fstat(fd, &st) == -1)
		goto out;
	if (S_ISLNK(st.st_mode) &&
	    (how != ICFS_NOFOLLOW || w->rest[0] != '\0' || w->slash)) {
		r = go_through(f, w, fd) == 0 ? STEP_ON : STEP_ERROR;
		goto out;
	}
	if (!S_ISDIR(st.st_mode) && (w->rest[0] != '\0' || w->slash)) {
		errno = ENOTDIR;
		goto out;
	}
	memcpy(w->done, path, strlen(path) + 1);
	r = STEP_ON;
out:
	error = errno;
	close(fd);
	errno = error;
	return r;
}

/*
 * Resolve all components.  Returns -1 with errno set; errno 0 means that the
 * path leaves the roots.
 */
static int
walk(const struct icfs *f, struct walk *w, enum icfs_how how, bool *missing)
{
	char name[NAME_MAX + 1];
	enum step s = STEP_ON;

	*missing = false;
	while (s == STEP_ON && w->rest[0] != '\0') {
		if (next(w, name) == -1)
			return -1;
		if (name[0] == '\0' || strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0)
			s = go_up(f, w) == 0 ? STEP_ON : STEP_ERROR;
		else
			s = step(f, w, name, how);
	}
	*missing = s == STEP_MISSING;
	return s == STEP_ERROR ? -1 : 0;
}

static int
denied(struct icfs *f, const char *path)
{
	char dirs[1024] = "";
	struct buf b;

	buf_init(&b, sizeof(dirs) - 1);
	icfs_add_places(f, &b, ", ");
	(void)span_copy(buf_span(&b), dirs, sizeof(dirs));
	buf_free(&b);
	return icfs_why(f,
	    "Access denied - path outside allowed directories: %s not in %s",
	    path, dirs);
}

/*
 * Resolve once; the object may still be exchanged between the walk and fstat().
 */
static int
resolve(
    struct icfs *f, struct walk *w, enum icfs_how how, struct icfs_path *out)
{
	bool missing;
	int fd, r = -1, error;

	if (walk(f, w, how, &missing) == -1)
		return -1;
	/* A narrow root itself must not be used. */
	if (!wanted(f, w->root, w->done)) {
		errno = 0;
		return -1;
	}
	out->root = w->root;
	memcpy(out->rel, w->done[0] != '\0' ? w->done : ".",
	    w->done[0] != '\0' ? strlen(w->done) + 1 : 2);
	out->exists = !missing;
	if (missing)
		return 0;
	if ((fd = icfs_open(out->root->fd, out->rel, O_PATH, 0)) == -1)
		return -1;
	if (fstat(fd, &out->st) == 0) {
		/* The object has just been replaced by a link. */
		if (S_ISLNK(out->st.st_mode) && how != ICFS_NOFOLLOW)
			errno = ELOOP;
		else
			r = 0;
	}
	error = errno;
	close(fd);
	errno = error;
	return r;
}

int
icfs_resolve(struct icfs *f, const char *op, struct span path,
    enum icfs_how how, struct icfs_path *out)
{
	char text[PATH_MAX], whole[PATH_MAX];
	struct walk w = {.root = NULL};

	if (memchr(path.p, '\0', path.len) != NULL)
		return icfs_why(f, "Invalid path: it holds a NUL");
	if (path.len == 0)
		return icfs_why(f, "Invalid path: it is empty");
	if (path.len >= sizeof(text)) {
		errno = ENAMETOOLONG;
		return icfs_fail(f, op, span_of(path.p, 64));
	}
	memcpy(text, path.p, path.len);
	text[path.len] = '\0';
	if (text[0] != '/') {
		if (join(text, f->cwd, text) == -1)
			return icfs_fail(f, op, path);
	}
	memcpy(whole, text, strlen(text) + 1);
	if (enter(f, &w, whole) == -1)
		return denied(f, text);
	/* Restore the trailing slash that squeeze() dropped. */
	if (text[strlen(text) - 1] == '/' && w.rest[0] != '\0' &&
	    join(w.rest, w.rest, "/") == -1)
		return icfs_fail(f, op, path);
	if (resolve(f, &w, how, out) == 0)
		return 0;
	return errno == 0 ? denied(f, text) : icfs_fail(f, op, path);
}
