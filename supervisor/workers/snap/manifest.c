/* SPDX-License-Identifier: ISC */
/*
 * The manifest of a checkpoint: three texts for each path, each with a NUL at
 * its end. The first is the kind, the mode in octal, and the size; the second
 * is the path; the third is a file's digest, a link's target, or the reason for
 * which the path was left out. Neither times nor inodes are in it, so that
 * equal trees have equal manifests.
 */
#include "workers/snap/snap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
manifest_cmp(struct span a, struct span b)
{
	size_t n = a.len < b.len ? a.len : b.len, i = 0;

	while (i < n && a.p[i] == b.p[i])
		i++;
	if (i == n)
		return (a.len > b.len) - (a.len < b.len);
	if (a.p[i] == '/')
		return -1;
	if (b.p[i] == '/')
		return 1;
	return a.p[i] < b.p[i] ? -1 : 1;
}

bool
manifest_below(struct span path, struct span dir)
{
	return path.len > dir.len && path.p[dir.len] == '/' &&
	       span_starts(path, dir);
}

/* Write a number before `end`. Returns where it begins. */
static char *
manifest_digits(char *end, uint64_t n, unsigned base)
{
	do
		*--end = (char)('0' + n % base);
	while ((n /= base) != 0);
	return end;
}

void
manifest_add(struct buf *b, const struct entry *e)
{
	char text[48], *const end = text + sizeof(text), *at = end;

	/* As printf("%c%o %llu") does, which takes longer than the rest. */
	*--at = '\0';
	at = manifest_digits(at, e->size, 10);
	*--at = ' ';
	at = manifest_digits(at, e->mode, 8);
	*--at = (char)e->kind;
	buf_add(b, at, (size_t)(end - at));
	buf_addspan(b, e->path);
	buf_addc(b, '\0');
	buf_addspan(b, e->text);
	buf_addc(b, '\0');
}

/* Take the text up to the next NUL. */
static int
manifest_text(struct span *rest, struct span *out)
{
	const uint8_t *end;

	if (rest->len == 0 || (end = memchr(rest->p, '\0', rest->len)) == NULL)
		return -1;
	*out = span_of(rest->p, (size_t)(end - rest->p));
	rest->len -= out->len + 1;
	rest->p = end + 1;
	return 0;
}

/* Returns true if a path leads nowhere but down. */
static bool
manifest_path_ok(struct span path)
{
	size_t i = 0, n;

	if (path.len == 0 || path.len >= SNAP_PATH)
		return false;
	while (i <= path.len) {
		for (n = 0; i + n < path.len && path.p[i + n] != '/'; n++)
			;
		if (n == 0 || n > 255 || (n == 1 && path.p[i] == '.') ||
		    (n == 2 && path.p[i] == '.' && path.p[i + 1] == '.'))
			return false;
		i += n + 1;
	}
	return true;
}

static int
manifest_attributes(struct span s, struct entry *e)
{
	static const char kinds[] = {
	    ENTRY_DIR, ENTRY_FILE, ENTRY_LINK, ENTRY_OTHER, ENTRY_LEFT};
	size_t i = 1;

	if (s.len == 0 || memchr(kinds, s.p[0], sizeof(kinds)) == NULL)
		return -1;
	e->kind = (enum entry_kind)s.p[0];
	for (; i < s.len && s.p[i] >= '0' && s.p[i] <= '7' && i <= 4; i++)
		e->mode = e->mode * 8 + (uint32_t)(s.p[i] - '0');
	if (i < 2 || i >= s.len || s.p[i] != ' ' || e->mode > 0777)
		return -1;
	return span_u64(
	    span_of(s.p + i + 1, s.len - i - 1), UINT64_MAX, &e->size);
}

static int
manifest_one(struct span *rest, struct entry *e)
{
	struct span attributes;

	memset(e, 0, sizeof(*e));
	if (manifest_text(rest, &attributes) == -1 ||
	    manifest_text(rest, &e->path) == -1 ||
	    manifest_text(rest, &e->text) == -1 ||
	    manifest_attributes(attributes, e) == -1 ||
	    !manifest_path_ok(e->path) ||
	    (e->kind == ENTRY_FILE && e->text.len != 64))
		return -1;
	return 0;
}

int
manifest_read(struct manifest *m)
{
	struct span rest = buf_span(&m->text);
	size_t cap = 0;
	struct entry e, *more;

	m->n = 0;
	while (rest.len != 0) {
		/* The order is what lets two of them be merged. */
		if (manifest_one(&rest, &e) == -1 ||
		    (m->n != 0 &&
			manifest_cmp(m->list[m->n - 1].path, e.path) >= 0)) {
			errno = EBADMSG;
			return -1;
		}
		if (m->n == cap) {
			cap = cap == 0 ? 1024 : cap * 2;
			more = reallocarray(m->list, cap, sizeof(*more));
			if (more == NULL)
				return -1;
			m->list = more;
		}
		m->list[m->n++] = e;
	}
	return 0;
}

const struct entry *
manifest_find(const struct manifest *m, struct span path)
{
	size_t low = 0, high = m->n, at;
	int r;

	while (low < high) {
		at = low + (high - low) / 2;
		r = manifest_cmp(m->list[at].path, path);
		if (r == 0)
			return &m->list[at];
		if (r < 0)
			low = at + 1;
		else
			high = at;
	}
	return NULL;
}

bool
entry_same(const struct entry *a, const struct entry *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return a->kind == b->kind && a->mode == b->mode &&
	       span_eq(a->text, b->text);
}

void
manifest_free(struct manifest *m)
{
	free(m->list);
	buf_free(&m->text);
	m->list = NULL;
	m->n = 0;
}
