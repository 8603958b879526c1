/* SPDX-License-Identifier: ISC */
/*
 * Makes a directory known: goes to it once more, from the row or root where its
 * name begins, and watches each directory on the way before it looks at the
 * directory's name. From then on nothing changes unnoticed.
 */
#include "engine/known_priv.h"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

_Static_assert(KNOWN_WATCH == (IN_ONLYDIR | IN_MOVE_SELF), "as in known.h");

/* Local file systems, on which every move goes through this kernel. */
static const uint32_t local_fs[] = {
	0x0000ef53,	/* ext2, ext3, ext4 */
	0x58465342,	/* xfs */
	0x9123683e,	/* btrfs */
	0xf2f52010,	/* f2fs */
	0x01021994,	/* tmpfs */
};

static bool
is_local(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) == -1)
		return false;
	for (size_t i = 0; i < nitems(local_fs); i++) {
		if ((uint32_t)fs.f_type == local_fs[i])
			return true;
	}
	return false;
}

/* Watch the directory that `fd` refers to. */
static int
watch(struct known *k, int fd)
{
	char name[32];
	int wd;

	/* inotify takes no descriptor. This is a name for the very object. */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (k->nwatches == KNOWN_WATCHES ||
	    (wd = inotify_add_watch(k->watch, name, KNOWN_WATCH)) == -1)
		return -1;
	/* Numbers rise; a lower one is a directory that has a watch already. */
	if (k->nwatches == 0 || wd > k->watches[k->nwatches - 1])
		k->watches[k->nwatches++] = wd;
	return 0;
}

/*
 * Go to the directory `name` in `from`, which has no NUL at its end. Watch it
 * first and look at its name afterwards: a move between the two would be
 * missed otherwise. Returns its descriptor, or -1.
 */
static int
step(const struct path_env *env, int from, struct span name,
    struct path_object *o)
{
	struct path_object own = *o, named = *o;
	char text[NAME_MAX + 1];
	int fd;

	if (span_copy(name, text, sizeof(text)) == -1)
		return -1;
	if ((fd = openat(from, text,
		 O_PATH | O_NOFOLLOW | O_CLOEXEC | O_DIRECTORY)) == -1)
		return -1;
	if (path_object(fd, "", &own) == -1 || own.dev != o->dev ||
	    known_is_place(env->places, &own) || watch(env->known, fd) == -1 ||
	    path_object(from, text, &named) == -1 || named.dev != own.dev ||
	    named.ino != own.ino) {
		close(fd);
		return -1;
	}
	*o = own;
	return fd;
}

/*
 * Go from `start` along `rest`, watching each directory. Returns the
 * descriptor of the last one, or -1.
 */
static int
follow(const struct path_env *env, int start, struct span rest,
    struct path_object *o)
{
	const uint8_t *slash;
	unsigned depth = 0;
	struct span name;
	int fd, next;

	fd = openat(
	    start, ".", O_PATH | O_NOFOLLOW | O_CLOEXEC | O_DIRECTORY);
	while (fd != -1 && rest.len != 0) {
		rest = span_of(rest.p + 1, rest.len - 1);
		slash = memchr(rest.p, '/', rest.len);
		name = rest;
		if (slash != NULL)
			name.len = (size_t)(slash - rest.p);
		rest = span_of(rest.p + name.len, rest.len - name.len);
		next = ++depth > KNOWN_MAX_DEPTH
			   ? -1
			   : step(env, fd, name, o);
		close(fd);
		fd = next;
	}
	return fd;
}

/*
 * Returns true if other rows take part in resolving paths in `dir`, which a
 * walk found in `row`, or on the host if that is NULL: rows in `dir`, rows that
 * lead to the host, and rows in which a part of the way to `row` is looked up.
 */
static bool
rows_interfere(
    const struct view *v, struct span dir, const struct view_row *row)
{
	const struct view_row *r;
	size_t own = row != NULL ? row->path.len : 0;

	while (own > 0 && row->path.p[own - 1] != '/')
		own--;
	for (size_t i = 0; v != NULL && i < v->n; i++) {
		r = &v->rows[i];
		if (r == row)
			continue;
		if (path_below(r->path, dir))
			return true;
		if (path_below(dir, r->path) &&
		    (row == NULL || r->kind == PROTO_VIEW_HIDDEN ||
			r->path.len + 1 < own))
			return true;
	}
	return false;
}

/* Returns 0, or -1 if the directory cannot be known. */
static int
learn(const struct path_env *env, struct span dir, uint64_t hash,
    const struct view_row *row)
{
	struct known *k = env->known;
	struct path_object o = row != NULL ? row->object : env->root_object;
	size_t base = row != NULL ? row->path.len : 0, set = hash % KNOWN_SETS;
	int start = row != NULL ? row->fd : env->root, fd;
	struct known_dir *d;
	char *copy;

	if (k->nwatches + KNOWN_MAX_DEPTH > KNOWN_WATCHES)
		known_drop(k);
	if (dir.len < base || rows_interfere(env->view, dir, row) ||
	    o.fs != PATH_FS_PLAIN || !S_ISDIR(o.mode) || !is_local(start))
		return -1;
	(void)known_changed(k);
	fd = follow(env, start, span_of(dir.p + base, dir.len - base), &o);
	if (fd == -1)
		return -1;
	/* The kernel gives the lowest number that is free. */
	if (fd >= k->end || known_changed(k) ||
	    (copy = span_dup(dir)) == NULL) {
		close(fd);
		return 0;
	}
	d = &k->dirs[set][k->next[set]++ % KNOWN_WAYS];
	known_forget(k, d);
	*d = (struct known_dir){.name = copy,
	    .len = dir.len,
	    .hash = hash,
	    .view = env->view,
	    .row = row,
	    .fd = fd,
	    .object = o};
	k->n++;
	return 0;
}

void
known_note(
    const struct path_env *env, struct span in, const struct path *out)
{
	static char copy[PATH_MAX];
	const struct view_row *row;
	struct span text, dir;
	const char *name;
	uint32_t tag, *seen;
	uint64_t hash;

	if (!known_usable(env) || out->nhits != 0 || out->npassed != 0 ||
	    out->missing > 1 || !known_absolute(env, in, copy, &text) ||
	    !known_split(text, &dir, &name))
		return;
	/* A path that links changed has another name now. */
	if (out->view.p != NULL && span_eq(out->view, text))
		row = out->row;
	else if (span_eq(out->host, text))
		row = NULL;
	else
		return;
	hash = known_hash(env->view, dir);
	seen = &env->known->seen[hash % KNOWN_SEEN];
	tag = (uint32_t)(hash >> 32);
	if (*seen == ~tag ||
	    known_find(env->known, env->view, dir, hash) != NULL)
		return;
	/* A directory that cannot be known is not tried each time. */
	if (*seen == tag && learn(env, dir, hash, row) == -1)
		tag = ~tag;
	*seen = tag;
}
