/* SPDX-License-Identifier: ISC */
/*
 * Compares two checkpoints: what is there now, and what is to come back. It
 * reads manifests only, so that it says the same each time; its digest covers
 * every row with what is there before and after, and a yes is for that digest.
 */
#include "workers/snap/snap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/sha256.h"

static int
plan_fail(struct plan *p, const char *why)
{
	snprintf(p->why, sizeof(p->why), "%s", why);
	return -1;
}

static int
plan_load(struct plan *p, const struct store *s, uint32_t number,
    struct undo_record *r, struct manifest *m)
{
	if (undo_record_read(s->turns, number, r) == -1) {
		snprintf(p->why, sizeof(p->why),
		    "checkpoint %u is not there any more", number);
		return -1;
	}
	if (r->sum[0] == '\0') {
		snprintf(p->why, sizeof(p->why),
		    "checkpoint %u was not made: %.120s", number, r->why);
		return -1;
	}
	if (store_manifest(s, r->sum, m) == -1) {
		snprintf(p->why, sizeof(p->why),
		    "checkpoint %u is damaged in the store", number);
		return -1;
	}
	return 0;
}

/*
 * Returns true if the checkpoint has no content for the path, or for a
 * directory above it: it was left out, or, with `other`, is a FIFO, a socket or
 * a device.
 */
static bool
plan_left(const struct manifest *m, struct span path, bool other)
{
	const struct entry *e;

	for (size_t n = path.len; n != 0; n--) {
		if (n != path.len && path.p[n] != '/')
			continue;
		e = manifest_find(m, span_of(path.p, n));
		if (e != NULL && (e->kind == ENTRY_LEFT ||
				     (other && e->kind == ENTRY_OTHER)))
			return true;
	}
	return false;
}

/* Returns true if the path is wanted; `above`: or leads to one that is. */
static bool
plan_wanted(const struct snap_how *how, struct span path, bool above)
{
	struct span want;

	if (how->npaths == 0)
		return true;
	for (unsigned i = 0; i < how->npaths; i++) {
		want = span_str(how->paths[i]);
		if (span_eq(path, want) || manifest_below(path, want) ||
		    (above && manifest_below(want, path)))
			return true;
	}
	return false;
}

/*
 * Returns true if what is there now is what a turn or an undo left. Without a
 * checkpoint after a turn nothing can be told apart.
 */
static bool
plan_ours(const struct plan *p, const struct snap_how *how,
    const struct entry *now, struct span path)
{
	if (how->all || how->nrefs == 0)
		return true;
	for (unsigned i = 0; i < how->nrefs; i++)
		if (entry_same(manifest_find(&p->refs[i], path), now))
			return true;
	return false;
}

/*
 * Returns true if the path itself was left out of one checkpoint, or was a FIFO
 * or its like, so that it cannot come back. One that is new is news if a turn
 * made it, and if it is not left out by its name.
 */
static bool
plan_lacks(const struct plan *p, const struct snap_how *how,
    const struct entry *from, const struct entry *to, struct span path)
{
	const bool left = from != NULL && from->kind == ENTRY_LEFT;
	const uint8_t *slash = path.p + path.len;

	if (to == NULL && (!left || from->mode != ENTRY_LACKS ||
			      !plan_ours(p, how, from, path)))
		return false;
	if (to != NULL && to->kind != ENTRY_OTHER &&
	    (to->kind == ENTRY_LEFT) == left)
		return false;
	while (slash != path.p && *--slash != '/')
		;
	path.len = (size_t)(slash - path.p);
	return !plan_left(&p->now, path, false) &&
	       !plan_left(&p->to, path, true);
}

const char *
plan_reason(const struct plan_row *r, char *dst, size_t cap)
{
	const struct entry *e = r->to;

	dst[0] = '\0';
	if (e != NULL && e->kind == ENTRY_OTHER)
		(void)strlcpy(dst, "a FIFO, a socket or a device", cap);
	if (e == NULL || e->kind != ENTRY_LEFT)
		e = r->from;
	if (e != NULL && e->kind == ENTRY_LEFT)
		(void)span_copy(e->text, dst, cap);
	return dst;
}

static int
plan_row(struct plan *p, const struct snap_how *how, const struct entry *from,
    const struct entry *to)
{
	const struct span path = from != NULL ? from->path : to->path;
	struct plan_row row = {.from = from, .to = to};

	if (!entry_same(from, to) && plan_wanted(how, path, false) &&
	    plan_lacks(p, how, from, to, path)) {
		row.what = SNAP_LEFT;
		p->rows[p->n++] = row;
		return 0;
	}
	if (entry_same(from, to) ||
	    !plan_wanted(how, path, from == NULL && to->kind == ENTRY_DIR) ||
	    plan_left(&p->now, path, false) || plan_left(&p->to, path, true))
		return 0;
	if (!plan_ours(p, how, from, path))
		row.what = SNAP_KEPT;
	else
		row.what = from == NULL ? SNAP_COME
			   : to == NULL ? SNAP_GO
					: SNAP_BACK;
	row.later =
	    row.what != SNAP_KEPT && to != NULL && snap_runs_later(path, to);
	p->rows[p->n++] = row;
	return 0;
}

/*
 * A directory stays as long as anything stays in it: drop it from what goes
 * away. Both lists are in the order of a walk, so that going backwards meets
 * what is in a directory before the directory.
 */
static void
plan_stay(struct plan *p)
{
	struct span stays = {NULL, 0};
	size_t row = p->n, out;
	bool goes;

	for (size_t i = p->now.n; i-- > 0;) {
		const struct entry *e = &p->now.list[i];

		while (row > 0 && (p->rows[row - 1].from == NULL ||
				      p->rows[row - 1].from > e))
			row--;
		goes = row > 0 && p->rows[row - 1].from == e &&
		       p->rows[row - 1].what == SNAP_GO;
		if (goes && stays.p != NULL && manifest_below(stays, e->path)) {
			p->rows[row - 1].what = SNAP_END;
			goes = false;
		}
		if (!goes)
			stays = e->path;
	}
	out = 0;
	for (size_t i = 0; i < p->n; i++)
		if (p->rows[i].what != SNAP_END)
			p->rows[out++] = p->rows[i];
	p->n = out;
}

static void
plan_hash(struct buf *b, const struct entry *e)
{
	if (e != NULL)
		manifest_add(b, e);
	buf_addc(b, '\0');
}

static int
plan_digest(struct plan *p, const struct snap_how *how)
{
	uint8_t sum[SNAP_SUM];
	struct buf b;
	int rv;

	buf_init(&b, 2 * (256U << 20));
	buf_printf(&b, "ironcurtain undo 1 %u", how->to);
	for (size_t i = 0; i < p->n; i++) {
		buf_addc(&b, (uint8_t)p->rows[i].what);
		plan_hash(&b, p->rows[i].from);
		plan_hash(&b, p->rows[i].to);
	}
	sha256_span(buf_span(&b), sum);
	sha256_hex(sum, p->digest);
	rv = b.failed ? plan_fail(p, "there is not enough memory") : 0;
	buf_free(&b);
	return rv;
}

static int
plan_all(struct plan *p, const struct store *s, const struct snap_how *how)
{
	struct undo_record now, to, ref;

	if (plan_load(p, s, how->now, &now, &p->now) == -1 ||
	    plan_load(p, s, how->to, &to, &p->to) == -1)
		return -1;
	for (unsigned i = 0; i < how->nrefs; i++)
		if (plan_load(p, s, how->refs[i], &ref, &p->refs[i]) == -1)
			return -1;
	if (now.dev != to.dev || now.ino != to.ino)
		return plan_fail(p, "the workspace is another directory by "
				    "now, with the same name");
	p->rows = calloc(p->now.n + p->to.n + 1, sizeof(*p->rows));
	return p->rows == NULL ? plan_fail(p, strerror(errno)) : 0;
}

int
plan_make(struct plan *p, const struct store *s, const struct snap_how *how)
{
	size_t i = 0, k = 0;
	int r;

	memset(p, 0, sizeof(*p));
	if (plan_all(p, s, how) == -1)
		return -1;
	while (i < p->now.n || k < p->to.n) {
		if (i == p->now.n)
			r = 1;
		else if (k == p->to.n)
			r = -1;
		else
			r = manifest_cmp(
			    p->now.list[i].path, p->to.list[k].path);
		if (plan_row(p, how, r <= 0 ? &p->now.list[i] : NULL,
			r >= 0 ? &p->to.list[k] : NULL) == -1)
			return -1;
		i += r <= 0;
		k += r >= 0;
	}
	plan_stay(p);
	return plan_digest(p, how);
}

void
plan_free(struct plan *p)
{
	manifest_free(&p->now);
	manifest_free(&p->to);
	for (unsigned i = 0; i < SNAP_MAX_REFS; i++)
		manifest_free(&p->refs[i]);
	free(p->rows);
}
