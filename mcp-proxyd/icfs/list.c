/* SPDX-License-Identifier: ISC */
/*
 * The tools that list one directory.  A link is listed as a file; its size is
 * that of its target, if that is beneath the roots.
 */
#include "icfs/icfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int
by_name(const void *a, const void *b)
{
	const struct icfs_entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int
by_size(const void *a, const void *b)
{
	const struct icfs_entry *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return by_name(a, b);
}

void
icfs_entries_free(struct icfs_entries *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->v[i].name);
	free(e->v);
	*e = (struct icfs_entries){NULL, 0, 0};
}

static int
entries_add(struct icfs_entries *e, const char *name, bool dir)
{
	struct icfs_entry *v;
	size_t cap;

	if (e->n == ICFS_MAX_ENTRIES) {
		errno = EFBIG;
		return -1;
	}
	if (e->n == e->cap) {
		cap = e->cap == 0 ? 64 : e->cap * 2;
		if ((v = reallocarray(e->v, cap, sizeof(*v))) == NULL)
			return -1;
		e->v = v;
		e->cap = cap;
	}
	if ((e->v[e->n].name = strdup(name)) == NULL)
		return -1;
	e->v[e->n].dir = dir;
	e->v[e->n++].size = 0;
	return 0;
}

static bool
is_dir(DIR *d, const struct dirent *de)
{
	struct stat st;

	if (de->d_type != DT_UNKNOWN)
		return de->d_type == DT_DIR;
	return fstatat(dirfd(d), de->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode);
}

int
icfs_entries_read(struct icfs_entries *e, int fd)
{
	struct dirent *de;
	DIR *d;
	int error;

	if ((d = fdopendir(fd)) == NULL) {
		error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	for (errno = 0; (de = readdir(d)) != NULL; errno = 0) {
		if (strcmp(de->d_name, ".") == 0 ||
		    strcmp(de->d_name, "..") == 0)
			continue;
		if (entries_add(e, de->d_name, is_dir(d, de)) == -1)
			break;
	}
	error = errno;
	closedir(d);
	if (error != 0) {
		icfs_entries_free(e);
		errno = error;
		return -1;
	}
	/* Not qsort(), which asks the system for its amount of memory. */
	if (e->n != 0 && mergesort(e->v, e->n, sizeof(*e->v), by_name) == -1) {
		icfs_entries_free(e);
		errno = ENOMEM;
		return -1;
	}
	return 0;
}

int
icfs_open_dir(struct icfs *f, const struct value *args, struct span *path,
    struct icfs_path *p)
{
	int fd;

	if (icfs_arg_string(f, args, "path", path) == -1 ||
	    icfs_resolve(f, "scandir", *path, ICFS_FOLLOW, p) == -1)
		return -1;
	fd = icfs_open(p->root->fd, p->rel, O_RDONLY | O_DIRECTORY, 0);
	return fd == -1 ? icfs_fail(f, "scandir", *path) : fd;
}

static int
list(struct icfs *f, const struct value *args, struct icfs_entries *e,
    struct icfs_path *p)
{
	struct span path;
	int fd;

	if ((fd = icfs_open_dir(f, args, &path, p)) == -1)
		return -1;
	if (icfs_entries_read(e, fd) == -1)
		return icfs_fail(f, "scandir", path);
	return 0;
}

int
icfs_list(struct icfs *f, const struct value *args)
{
	struct icfs_entries e = {NULL, 0, 0};
	struct icfs_path p;

	if (list(f, args, &e, &p) == -1)
		return -1;
	for (size_t i = 0; i < e.n; i++) {
		buf_printf(&f->text, "%s%s ", i == 0 ? "" : "\n",
		    e.v[i].dir ? "[DIR]" : "[FILE]");
		icfs_add_text(&f->text, span_str(e.v[i].name));
	}
	icfs_entries_free(&e);
	return 0;
}

static void
format_size(char dst[32], off_t bytes)
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
	double n = (double)bytes;
	size_t i = 0;

	while (n >= 1024 && i < 4) {
		n /= 1024;
		i++;
	}
	if (i == 0)
		(void)snprintf(dst, 32, "%lld B", (long long)bytes);
	else
		(void)snprintf(dst, 32, "%.2f %s", n, units[i]);
}

/* Append a name padded to 30 columns, counting one per character. */
static void
add_padded(struct buf *b, const char *name)
{
	size_t from = b->len, columns = 0;
	struct span added;

	icfs_add_text(b, span_str(name));
	added = span_of(buf_span(b).p + from, b->len - from);
	for (size_t i = 0; i < added.len; i++)
		columns += (added.p[i] & 0xc0) != 0x80;
	for (; columns < 30; columns++)
		buf_addc(b, ' ');
}

/*
 * Set the sizes of the entries; for a link, that of its target if it is beneath
 * the roots.
 */
static void
add_sizes(struct icfs *f, const struct icfs_path *dir, struct icfs_entries *e)
{
	char path[PATH_MAX * 2], full[PATH_MAX * 3];
	struct icfs_path p;

	icfs_full(dir, path);
	for (size_t i = 0; i < e->n; i++) {
		(void)snprintf(full, sizeof(full), "%s/%s", path, e->v[i].name);
		if (icfs_resolve(f, "stat", span_str(full), ICFS_FOLLOW, &p) ==
			0 &&
		    p.exists)
			e->v[i].size = p.st.st_size;
	}
}

int
icfs_list_sizes(struct icfs *f, const struct value *args)
{
	const struct value *sort = value_get(args, "sortBy");
	struct icfs_entries e = {NULL, 0, 0};
	struct icfs_path p;
	size_t dirs = 0;
	off_t total = 0;
	char size[32];

	if (sort != NULL &&
	    (sort->type != VALUE_STRING ||
		(!span_is(sort->text, "name") && !span_is(sort->text, "size"))))
		return icfs_why(f, "Invalid arguments: sortBy must be \"name\" "
				   "or \"size\"");
	if (list(f, args, &e, &p) == -1)
		return -1;
	add_sizes(f, &p, &e);
	if (e.n != 0 && sort != NULL && span_is(sort->text, "size"))
		(void)mergesort(e.v, e.n, sizeof(*e.v), by_size);
	for (size_t i = 0; i < e.n; i++) {
		buf_adds(&f->text, e.v[i].dir ? "[DIR] " : "[FILE] ");
		add_padded(&f->text, e.v[i].name);
		format_size(size, e.v[i].size);
		if (e.v[i].dir)
			buf_adds(&f->text, " \n");
		else
			buf_printf(&f->text, " %10s\n", size);
		dirs += e.v[i].dir;
		total += e.v[i].dir ? 0 : e.v[i].size;
	}
	format_size(size, total);
	buf_printf(&f->text,
	    "\nTotal: %zu files, %zu directories\nCombined size: %s",
	    e.n - dirs, dirs, size);
	icfs_entries_free(&e);
	return 0;
}
