/* SPDX-License-Identifier: ISC */
/*
 * Keeps a store within its limits: the oldest checkpoints go first, and then
 * every object that none of the others has.
 */
#include "workers/snap/snap.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/sha256.h"

/* Digests of objects that stay, sorted before they are looked for. */
struct alive {
	uint8_t (*sums)[SNAP_SUM];
	size_t n, cap;
	char last[65]; /* the manifest that was added last */
};

static int
alive_order(const void *a, const void *b)
{
	return memcmp(a, b, SNAP_SUM);
}

/* Sort the list, and keep each digest once. */
static void
alive_sort(struct alive *l)
{
	size_t out = 0;

	if (l->n == 0)
		return;
	qsort(l->sums, l->n, SNAP_SUM, alive_order);
	for (size_t i = 1; i < l->n; i++)
		if (memcmp(l->sums[i], l->sums[out], SNAP_SUM) != 0 &&
		    ++out != i)
			memcpy(l->sums[out], l->sums[i], SNAP_SUM);
	l->n = out + 1;
}

static int
alive_add(struct alive *l, struct span hex)
{
	uint8_t(*more)[SNAP_SUM];

	/* Checkpoints have most of their objects in common. */
	if (l->n == l->cap)
		alive_sort(l);
	if (l->n == l->cap || (l->cap != 0 && l->n > l->cap / 4 * 3)) {
		l->cap = l->cap == 0 ? 4096 : l->cap * 2;
		more = reallocarray(l->sums, l->cap, SNAP_SUM);
		if (more == NULL)
			return -1;
		l->sums = more;
	}
	if (sha256_unhex(hex, l->sums[l->n]) == 0)
		l->n++;
	return 0;
}

/* Add all objects of a checkpoint. */
static int
alive_take(struct alive *l, const struct store *s, uint32_t number)
{
	struct undo_record r;
	struct manifest m;
	int rv = 0;

	if (undo_record_read(s->turns, number, &r) == -1 || r.sum[0] == '\0')
		return 0;
	/* A turn that changed nothing has the manifest of the one before. */
	if (strcmp(r.sum, l->last) == 0)
		return 0;
	(void)strlcpy(l->last, r.sum, sizeof(l->last));
	if (alive_add(l, span_str(r.sum)) == -1)
		return -1;
	/* One that is damaged keeps nothing. */
	if (store_manifest(s, r.sum, &m) == 0)
		for (size_t i = 0; i < m.n && rv == 0; i++)
			if (m.list[i].kind == ENTRY_FILE)
				rv = alive_add(l, m.list[i].text);
	manifest_free(&m);
	return rv;
}

static int
sweep_name(struct store *s, const struct alive *l, const char *name)
{
	uint8_t sum[SNAP_SUM];
	struct stat st;

	if (name[0] == '.' ||
	    fstatat(s->objects, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return 0;
	if (l != NULL &&
	    (sha256_unhex(span_str(name), sum) == -1 || l->n == 0 ||
		bsearch(sum, l->sums, l->n, SNAP_SUM, alive_order) == NULL))
		return unlinkat(s->objects, name, 0);
	s->bytes += store_weight(&st);
	return 0;
}

/* Count the objects, and remove those that are not listed; NULL: none. */
static int
sweep_objects(struct store *s, const struct alive *l)
{
	int fd = openat(s->objects, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd == -1 ? NULL : fdopendir(fd);
	struct dirent *e;
	int rv = 0;

	if (dir == NULL) {
		if (fd != -1)
			close(fd);
		return -1;
	}
	s->bytes = 0;
	while (rv == 0 && (e = readdir(dir)) != NULL)
		rv = sweep_name(s, l, e->d_name);
	closedir(dir);
	return rv;
}

/* Remove objects of none of these checkpoints. */
static int
sweep(struct store *s, const uint32_t *list, size_t n)
{
	struct alive l = {.sums = NULL};
	int rv = 0;

	for (size_t i = 0; i < n && rv == 0; i++)
		rv = alive_take(&l, s, list[i]);
	if (rv == 0) {
		alive_sort(&l);
		rv = sweep_objects(s, &l);
	}
	free(l.sums);
	return rv;
}

static int
sweep_remove(struct store *s, uint32_t number, bool last)
{
	char name[16];

	/* Digests of the cache must be of objects that are there. */
	s->emptied = s->emptied || last;
	if (last && unlinkat(s->fd, SNAP_CACHE, 0) == -1 && errno != ENOENT)
		return -1;
	snprintf(name, sizeof(name), "%010u", number);
	return unlinkat(s->turns, name, 0);
}

/*
 * Returns how many of the oldest checkpoints go. Several go at once, so that
 * objects of none are not looked for each time.
 */
static size_t
sweep_old(const struct store *s, const struct snap_limits *l,
    const uint32_t *list, size_t n)
{
	const uint64_t now = (uint64_t)time(NULL), day = 86400;
	const uint64_t most = (uint64_t)l->days * day;
	struct undo_record r;
	size_t from = 0;

	if (n >= l->keep)
		from = n - (l->keep - l->keep / 8 - 1);
	if (n == 0 || (undo_record_read(s->turns, list[0], &r) == 0 &&
			  r.time + most + day >= now))
		return from;
	while (from < n && (undo_record_read(s->turns, list[from], &r) == -1 ||
			       r.time + most < now))
		from++;
	return from;
}

int
store_sweep(struct store *s, const struct snap_limits *l)
{
	size_t n, from = 0, go;
	uint32_t *list;
	int rv = 0;

	if (s->bytes == UINT64_MAX && sweep_objects(s, NULL) == -1)
		return -1;
	if (undo_record_list(s->turns, &list, &n) == -1)
		return -1;
	go = sweep_old(s, l, list, n);
	/* Leave room for as much as a checkpoint usually adds. */
	while (rv == 0 && (go != 0 || s->bytes > l->store / 8 * 7)) {
		if (go == 0 && n - from > 1)
			go = (n - from) / 8 + 1;
		if (go == 0)
			break;
		for (; rv == 0 && go != 0; go--, from++)
			rv = sweep_remove(s, list[from], from + 1 == n);
		if (rv == 0)
			rv = sweep(s, list + from, n - from);
	}
	free(list);
	return rv;
}

/* Returns true if the path is one of those, or below one. */
static bool
forget_hits(const struct snap_how *how, struct span path)
{
	for (unsigned i = 0; i < how->npaths; i++)
		if (span_is(path, how->paths[i]) ||
		    manifest_below(path, span_str(how->paths[i])))
			return true;
	return false;
}

/* Write a checkpoint again without the paths. Returns 1 if it had any. */
static int
forget_in(struct store *s, const struct snap_how *how, struct undo_record *r)
{
	struct manifest m;
	struct entry e;
	struct buf b;
	uint8_t sum[SNAP_SUM];
	uint64_t added = 0;
	int rv = 0;

	if (store_manifest(s, r->sum, &m) == -1) {
		manifest_free(&m);
		return -1;
	}
	buf_init(&b, m.text.max);
	for (size_t i = 0; i < m.n; i++) {
		e = m.list[i];
		if (forget_hits(how, e.path) && e.kind != ENTRY_LEFT &&
		    e.kind != ENTRY_DIR) {
			e = (struct entry){.kind = ENTRY_LEFT,
			    .path = e.path,
			    .text = SPAN("forgotten")};
			rv = 1;
		}
		manifest_add(&b, &e);
	}
	if (rv == 1 &&
	    (b.failed || store_put_text(s, buf_span(&b), sum, &added) == -1))
		rv = -1;
	if (rv == 1) {
		sha256_hex(sum, r->sum);
		if (undo_record_write(s->turns, r, false) == -1)
			rv = -1;
	}
	buf_free(&b);
	manifest_free(&m);
	return rv;
}

int
store_forget(struct store *s, const struct snap_how *how, char *why)
{
	struct undo_record r;
	uint32_t *list;
	size_t n;
	int done = 0, rv = 0;

	if ((unlinkat(s->fd, SNAP_CACHE, 0) == -1 && errno != ENOENT) ||
	    undo_record_list(s->turns, &list, &n) == -1) {
		snprintf(why, SNAP_WHY, "%s", strerror(errno));
		return -1;
	}
	for (size_t i = 0; i < n && rv != -1; i++) {
		if (undo_record_read(s->turns, list[i], &r) == -1 ||
		    r.sum[0] == '\0')
			continue;
		if ((rv = forget_in(s, how, &r)) == 1)
			done++;
	}
	if (rv != -1)
		rv = sweep(s, list, n);
	if (rv == -1)
		snprintf(why, SNAP_WHY, "%s", strerror(errno));
	free(list);
	return rv == -1 ? -1 : done;
}
