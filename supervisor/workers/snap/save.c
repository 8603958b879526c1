/* SPDX-License-Identifier: ISC */
/*
 * Makes a checkpoint: keeps the store within its limits, walks through the
 * workspace, and writes manifest, record and cache, in this order.
 */
#include "workers/snap/walk.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/confine/pledge.h"
#include "common/loop.h"
#include "common/sha256.h"

#define WALK_MANIFEST (256U << 20)

/* Find how much may be added, by the limits and by what is free. */
static void
walk_room(struct walk *w)
{
	const struct snap_limits *l = &w->how->limits;
	struct statvfs v;
	uint64_t keep, free;

	w->room = l->turn;
	if (w->store->bytes >= l->store)
		w->room = 0;
	else if (l->store - w->store->bytes < w->room)
		w->room = l->store - w->store->bytes;
	if (fstatvfs(w->store->fd, &v) == -1)
		return;
	keep = (uint64_t)v.f_blocks / 100 * l->free * v.f_frsize;
	free = (uint64_t)v.f_bavail * v.f_frsize;
	if (free < keep)
		w->room = 0;
	else if (free - keep < w->room)
		w->room = free - keep;
}

/* Returns true if a plan of the same undo was made, and not carried out. */
static bool
save_planned(const struct undo_record *last, const struct undo_record *r)
{
	return strcmp(last->kind, "undo") == 0 &&
	       strcmp(r->kind, "undo") == 0 && last->to == r->to;
}

/*
 * Returns true if the last checkpoint is of this session, with this manifest,
 * and serves. Plans that are only looked at must not drive older ones out.
 */
static bool
save_same(const struct walk *w, const struct snap_how *how)
{
	const struct undo_record *r = &how->record;
	struct undo_record last;

	return w->loose == 0 && r->number > 1 &&
	       undo_record_read(w->store->turns, r->number - 1, &last) == 0 &&
	       (how->once || save_planned(&last, r)) &&
	       strcmp(last.session, r->session) == 0 &&
	       strcmp(last.sum, r->sum) == 0;
}

/* Write manifest and record, or only the reason why there is no manifest. */
static void
save_record(struct walk *w, struct snap_how *how, struct snap_report *out)
{
	struct undo_record *r = &how->record;

	if (w->why[0] == '\0' &&
	    store_put_text(
		w->store, buf_span(&w->manifest), out->sum, &w->added) == -1)
		(void)walk_fail(w, strerror(errno));
	if (w->why[0] == '\0')
		sha256_hex(out->sum, r->sum);
	if (w->why[0] == '\0' && save_same(w, how)) {
		out->number = r->number - 1;
		out->same = 1;
		return;
	}
	r->time = (uint64_t)time(NULL);
	r->files = w->files;
	r->left = w->left;
	r->loose = w->loose;
	r->added = w->added;
	r->late = how->deadline != 0 && clock_mono_us() > how->deadline;
	(void)strlcpy(r->why, w->why, sizeof(r->why));
	if (undo_record_write(w->store->turns, r, w->store->quick) == -1) {
		snprintf(out->why, sizeof(out->why), "%s", strerror(errno));
		return;
	}
	out->number = w->why[0] == '\0' ? r->number : 0;
	(void)strlcpy(out->why, w->why, sizeof(out->why));
}

/*
 * Walk through the workspace. The descriptor that we were given is shared with
 * icsupervisor, and so is its position in the names.
 */
static void
save_walk(struct walk *w)
{
	int top = openat(SNAP_TREE, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (top == -1)
		(void)walk_fail(w, strerror(errno));
	else
		(void)walk_in(w, top);
	if (top != -1)
		close(top);
}

/*
 * Find out whether there are too many entries before anything is copied: if no
 * checkpoint was made before, copies of all of them would be lost, and made
 * again at the next turn.
 */
static void
save_count(struct walk *w, const uint32_t *list, size_t n)
{
	struct undo_record last;

	if (n != 0 &&
	    undo_record_read(w->store->turns, list[n - 1], &last) == 0 &&
	    last.why[0] == '\0')
		return;
	w->counts = true;
	save_walk(w);
	w->counts = false;
	if (w->why[0] == '\0')
		w->files = w->left = w->loose = 0;
}

/* The walk keeps its memory here until the report is written. */
static struct walk save_env;

void
snap_save_free(void)
{
	cache_free(&save_env.cache);
	buf_free(&save_env.manifest);
}

void
snap_save(struct store *s, struct snap_how *how, struct snap_report *out)
{
	struct walk *w = &save_env;
	struct timespec now;
	uint32_t *list = NULL;
	struct stat st;
	size_t n = 0, more;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	memset(w, 0, sizeof(*w));
	w->store = s;
	s->quick = strcmp(how->record.kind, "turn") == 0;
	w->how = how;
	buf_init(&w->manifest, WALK_MANIFEST);
	cache_load(&w->cache, s, WALK_MANIFEST);
	/* A line of the cache has about the length of one of the manifest. */
	more = w->cache.old.len + w->cache.old.len / 8;
	if (more < WALK_MANIFEST)
		(void)buf_room(&w->manifest, more);
	if (store_sweep(s, &how->limits) == -1 ||
	    undo_record_list(s->turns, &list, &n) == -1 ||
	    pledge_fstat(SNAP_TREE, &st) == -1) {
		snprintf(out->why, sizeof(out->why), "%s", strerror(errno));
		goto out;
	}
	if (s->emptied)
		cache_reset(&w->cache);
	how->record.number = n == 0 ? 1 : list[n - 1] + 1;
	how->record.dev = (uint64_t)st.st_dev;
	how->record.ino = (uint64_t)st.st_ino;
	walk_room(w);
	save_count(w, list, n);
	if (w->why[0] == '\0')
		save_walk(w);
	save_record(w, how, out);
	/* After the record: what the cache names is in that checkpoint. */
	if (out->number != 0)
		(void)cache_save(&w->cache, s, walk_ns(now));
	out->files = w->files;
	out->left = w->left;
	out->loose = w->loose;
	out->late = how->record.late;
	out->added = w->added;
	out->store = s->bytes;
out:
	free(list);
}
