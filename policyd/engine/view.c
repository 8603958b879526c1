/* SPDX-License-Identifier: ISC */
/*
 * The view of an MCP server as a table, and the places that rules name. Rows
 * come from icsupervisor with a descriptor of the very object that is mounted.
 * They are sorted by length of path, longest first, so that the first match is
 * what the server sees.
 */
#include "engine/path.h"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Linux's magic numbers; linux/magic.h does not have all of them. */
/* clang-format off */
static const uint32_t magic_fs[] = {
	0x00009fa0,	/* proc */
	0x62656572,	/* sysfs */
	0x0027e0eb,	/* cgroup */
	0x63677270,	/* cgroup2 */
	0x00001cd1,	/* devpts */
	0x73636673,	/* securityfs */
	0xcafe4a11,	/* bpf */
	0x64626720,	/* debugfs */
	0x74726163,	/* tracefs */
	0xf97cff8c,	/* selinuxfs */
	0x43415d53,	/* smackfs */
	0x50494446,	/* pidfs */
	0x6e736673,	/* nsfs */
	0xde5e81e4,	/* efivarfs */
	0x19800202,	/* mqueue */
	0x42494e4d,	/* binfmt_misc */
	0x62656570,	/* configfs */
	0x65735543,	/* fusectl */
};

/* May ignore or fold case, or may be a layer over such a file system. */
static const uint32_t fold_fs[] = {
	0x00004d44,	/* vfat */
	0x2011bab0,	/* exfat */
	0x7366746e,	/* ntfs3 */
	0x5346544e,	/* ntfs */
	0xff534d42,	/* cifs */
	0xfe534d42,	/* smb2 */
	0x0000517b,	/* smb */
	0x01021997,	/* 9p */
	0x65735546,	/* fuse, virtiofs */
	0x00004244,	/* hfs */
	0x0000482b,	/* hfs+ */
	0x786f4256,	/* vboxsf */
	0x00006969,	/* nfs */
	0x794c7630,	/* overlay, on any of them */
};
/* clang-format on */

static bool
among(uint32_t type, const uint32_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == type)
			return true;
	}
	return false;
}

static int
fs_kind(int fd, const char *name, enum path_fs *out)
{
	int own = -1, ret = -1;
	struct statfs fs;
	uint32_t type;

	if (name[0] != '\0' &&
	    (own = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return -1;
	if (fstatfs(own == -1 ? fd : own, &fs) == -1)
		goto out;
	type = (uint32_t)fs.f_type;
	if (among(type, magic_fs, nitems(magic_fs)))
		*out = PATH_FS_MAGIC;
	else if (among(type, fold_fs, nitems(fold_fs)))
		*out = PATH_FS_FOLD;
	else
		*out = PATH_FS_PLAIN;
	ret = 0;
out:
	if (own != -1)
		close(own);
	return ret;
}

int
path_object(int fd, const char *name, struct path_object *o)
{
	int flags = AT_SYMLINK_NOFOLLOW;
	struct stat st;

	/*
	 * AT_EMPTY_PATH makes fstatat() a fifth slower, so set it only for "".
	 */
	if (name[0] == '\0')
		flags |= AT_EMPTY_PATH;
	if (fstatat(fd, name, &st, flags) == -1)
		return -1;
	if ((o->dev != (uint64_t)st.st_dev || o->ino == 0) &&
	    fs_kind(fd, name, &o->fs) == -1)
		return -1;
	o->dev = (uint64_t)st.st_dev;
	o->ino = (uint64_t)st.st_ino;
	o->nlink = (uint64_t)st.st_nlink;
	o->mode = st.st_mode;
	return 0;
}

bool
path_below(struct span path, struct span dir)
{
	if (dir.len == 1 && dir.p[0] == '/')
		dir.len = 0;
	if (!span_starts(path, dir))
		return false;
	return dir.len == 0 || path.len == dir.len || path.p[dir.len] == '/';
}

static struct span
trimmed(struct span s)
{
	while (s.len != 0 && s.p[s.len - 1] == '/')
		s.len--;
	return s;
}

int
view_add(struct view *v, struct span path, struct span host,
    enum proto_view kind, int fd)
{
	struct view_row row = {.fd = fd, .kind = kind}, *rows;
	char *path_copy = NULL, *host_copy = NULL;
	size_t i = v->n;

	path = trimmed(path);
	host = trimmed(host);
	for (size_t k = 0; k < v->n; k++) {
		if (span_eq(v->rows[k].path, path)) {
			errno = EEXIST;
			goto bad;
		}
	}
	if (v->n == VIEW_MAX_ROWS) {
		errno = ENOBUFS;
		goto bad;
	}
	if (path_object(fd, "", &row.object) == -1 ||
	    (path_copy = span_dup(path)) == NULL ||
	    (host_copy = span_dup(host)) == NULL ||
	    (rows = reallocarray(v->rows, v->n + 1, sizeof(*rows))) == NULL)
		goto bad;
	v->rows = rows;
	row.path = span_of(path_copy, path.len);
	row.host = span_of(host_copy, host.len);
	for (; i > 0 && rows[i - 1].path.len < path.len; i--)
		rows[i] = rows[i - 1];
	rows[i] = row;
	v->n++;
	return 0;
bad:
	free(path_copy);
	free(host_copy);
	if (fd != -1)
		close(fd);
	return -1;
}

void
view_free(struct view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free((void *)(uintptr_t)v->rows[i].path.p);
		free((void *)(uintptr_t)v->rows[i].host.p);
		close(v->rows[i].fd);
	}
	free(v->rows);
	*v = (struct view){0};
}

const struct view_row *
view_find(const struct view *v, struct span path)
{
	for (size_t i = 0; v != NULL && i < v->n; i++) {
		if (path_below(path, v->rows[i].path))
			return &v->rows[i];
	}
	return NULL;
}

struct span
view_of_host(const struct view *v, struct span host, struct value_pool *pool,
    const struct view_row **row)
{
	const struct view_row *r, *best = NULL;
	size_t tail;
	uint8_t *p;

	for (size_t i = 0; v != NULL && i < v->n; i++) {
		r = &v->rows[i];
		if (path_below(host, r->host) &&
		    (best == NULL || r->host.len > best->host.len))
			best = r;
	}
	if (best == NULL || best->kind == PROTO_VIEW_HIDDEN)
		return span_of(NULL, 0);
	tail = host.len - best->host.len;
	if ((p = value_pool_alloc(pool, best->path.len + tail + 1)) == NULL)
		return span_of(NULL, 0);
	if (best->path.len != 0)
		memcpy(p, best->path.p, best->path.len);
	if (tail != 0)
		memcpy(p + best->path.len, host.p + best->host.len, tail);
	tail += best->path.len;
	/* Another row mounted above it hides this host directory. */
	if (view_find(v, span_of(p, tail)) != best)
		return span_of(NULL, 0);
	*row = best;
	return span_of(p, tail);
}

/* Compare two indices into `list` by inode; of one inode, the first is less. */
static int
compare_place(const void *a, const void *b, void *list)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct place *places = list, *x = &places[i], *y = &places[k];

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return (i > k) - (i < k);
}

int
places_index(struct places *p)
{
	uint32_t *index;
	size_t n = 0;

	if ((index = calloc(p->n + 1, sizeof(*index))) == NULL)
		return -1;
	for (size_t i = 0; i < p->n; i++) {
		if (p->list[i].exists)
			index[n++] = (uint32_t)i;
	}
	qsort_r(index, n, sizeof(*index), compare_place, p->list);
	free(p->by_inode);
	p->by_inode = index;
	p->ninodes = n;
	return 0;
}

size_t
places_find(const struct places *ps, uint64_t dev, uint64_t ino)
{
	size_t lo = 0, hi = ps->ninodes, mid;
	const struct place *p;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		p = &ps->list[ps->by_inode[mid]];
		if (p->dev < dev || (p->dev == dev && p->ino < ino))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
