/* SPDX-License-Identifier: ISC */
/*
 * Unified diffs, by the greedy algorithm of Myers ("An O(ND) difference
 * algorithm and its variations", 1986).  If two texts differ in more than
 * MAX_EDITS lines, their middle is shown as replaced, which is a valid diff
 * too, and takes bounded time.
 */
#include "icfs/icfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define CONTEXT 4U
#define MAX_EDITS 1000

struct side {
	struct span *line; /* with its newline */
	bool *changed;
	long n;
};

struct out_line {
	uint8_t op; /* ' ', '-' or '+' */
	struct span text;
};

static int
side_init(struct side *s, struct span text)
{
	const uint8_t *p, *end, *nl;
	size_t n = 1;

	if (text.len == 0)
		text = SPAN("");
	p = text.p;
	end = p + text.len;

	for (size_t i = 0; i < text.len; i++)
		n += text.p[i] == '\n';
	s->n = 0;
	s->line = calloc(n, sizeof(*s->line));
	s->changed = calloc(n, sizeof(*s->changed));
	if (s->line == NULL || s->changed == NULL)
		return -1;
	for (; p < end; p = nl + 1) {
		if ((nl = memchr(p, '\n', (size_t)(end - p))) == NULL)
			nl = end - 1;
		s->line[s->n++] = span_of(p, (size_t)(nl + 1 - p));
	}
	return 0;
}

static void
side_free(struct side *s)
{
	free(s->line);
	free(s->changed);
}

/*
 * Returns the furthest x on diagonal `k` with `d` edits, from the results for d
 * - 1.
 */
static long
furthest(const int *v, long d, long k)
{
	if (k == -d || (k != d && v[k - 1] < v[k + 1]))
		return v[k + 1];
	return v[k - 1] + 1;
}

/*
 * Mark the lines that a shortest edit script changes, going back from its end.
 */
static void
mark(struct side *a, struct side *b, long off, int *const *trace, long d,
    long x, long y)
{
	long k, px, py;
	const int *v;

	for (; d > 0; d--) {
		/* trace[d] contains the results for d - 1. */
		v = trace[d];
		k = x - y;
		if (k == -d || (k != d && v[k - 1] < v[k + 1]))
			px = v[k + 1], py = px - (k + 1);
		else
			px = v[k - 1], py = px - (k - 1);
		if (px - py > k)
			b->changed[off + py] = true;
		else
			a->changed[off + px] = true;
		x = px;
		y = py;
	}
}

/*
 * Compare `n` and `m` lines, starting at `off`.  Returns -1 if they differ in
 * more than MAX_EDITS lines, or there is no memory.
 */
static int
compare(struct side *a, struct side *b, long off, long n, long m)
{
	int *trace[MAX_EDITS + 1] = {NULL}, *v, *all;
	long d, k, x, y;
	int r = -1;

	all = calloc(2 * MAX_EDITS + 3, sizeof(*all));
	if (all == NULL)
		return -1;
	v = all + MAX_EDITS + 1;
	for (d = 0; d <= MAX_EDITS; d++) {
		size_t wide = (size_t)(2 * d + 3);
		int *copy = malloc(wide * sizeof(*copy));

		if (copy == NULL)
			goto out;
		memcpy(copy, v - d - 1, wide * sizeof(*copy));
		trace[d] = copy + d + 1;
		for (k = -d; k <= d; k += 2) {
			x = d == 0 ? 0 : furthest(v, d, k);
			y = x - k;
			while (x < n && y < m && x >= 0 && y >= 0 &&
			       span_eq(a->line[off + x], b->line[off + y])) {
				x++;
				y++;
			}
			v[k] = (int)x;
			if (x < n || y < m)
				continue;
			mark(a, b, off, trace, d, x, y);
			r = 0;
			goto out;
		}
	}
out:
	for (d = 0; d <= MAX_EDITS && trace[d] != NULL; d++)
		free(trace[d] - d - 1);
	free(all);
	return r;
}

static void
find_changes(struct side *a, struct side *b)
{
	long from = 0, n = a->n, m = b->n;

	while (from < n && from < m && span_eq(a->line[from], b->line[from]))
		from++;
	while (
	    n > from && m > from && span_eq(a->line[n - 1], b->line[m - 1])) {
		n--;
		m--;
	}
	if (compare(a, b, from, n - from, m - from) == 0)
		return;
	for (long i = from; i < n; i++)
		a->changed[i] = true;
	for (long i = from; i < m; i++)
		b->changed[i] = true;
}

/* Merge both texts into one list of kept, removed and added lines. */
static size_t
weave(const struct side *a, const struct side *b, struct out_line *out)
{
	long i = 0, j = 0;
	size_t n = 0;

	while (i < a->n || j < b->n) {
		while (i < a->n && a->changed[i])
			out[n++] = (struct out_line){'-', a->line[i++]};
		while (j < b->n && b->changed[j])
			out[n++] = (struct out_line){'+', b->line[j++]};
		if (i < a->n && j < b->n) {
			out[n++] = (struct out_line){' ', a->line[i++]};
			j++;
		}
	}
	return n;
}

/*
 * Append lines [from, to) as a hunk; `old` and `new` are the numbers of its
 * first line.
 */
static void
add_hunk(struct buf *b, const struct out_line *l, size_t from, size_t to,
    size_t old, size_t new)
{
	size_t removed = 0, added = 0;

	for (size_t i = from; i < to; i++) {
		removed += l[i].op != '+';
		added += l[i].op != '-';
	}
	buf_printf(b, "@@ -%zu,%zu +%zu,%zu @@\n", old - (removed == 0),
	    removed, new - (added == 0), added);
	for (size_t i = from; i < to; i++) {
		buf_addc(b, l[i].op);
		buf_addspan(b, l[i].text);
		if (l[i].text.p[l[i].text.len - 1] != '\n')
			buf_adds(b, "\n\\ No newline at end of file\n");
	}
}

static void
add_hunks(struct buf *b, const struct out_line *l, size_t n)
{
	size_t old = 1, new = 1, at = 0, first, end, kept;

	while (at < n) {
		for (first = at; first < n && l[first].op == ' '; first++)
			;
		if (first == n)
			break;
		/* Changes at most twice the context apart share a hunk. */
		kept = 0;
		for (end = first; end < n && kept <= 2 * CONTEXT; end++)
			kept = l[end].op == ' ' ? kept + 1 : 0;
		if (kept > CONTEXT)
			end -= kept - CONTEXT;
		for (; at < n && at + CONTEXT < first; at++, old++, new ++)
			;
		add_hunk(b, l, at, end, old, new);
		for (; at < end; at++) {
			old += l[at].op != '+';
			new += l[at].op != '-';
		}
	}
}

int
icfs_diff(struct buf *out, struct span name, struct span a, struct span b)
{
	struct side old = {NULL, NULL, 0}, new = {NULL, NULL, 0};
	struct out_line *lines = NULL;
	int r = -1;

	if (side_init(&old, a) == -1 || side_init(&new, b) == -1)
		goto out;
	lines = calloc((size_t)(old.n + new.n) + 1, sizeof(*lines));
	if (lines == NULL)
		goto out;
	find_changes(&old, &new);
	buf_adds(out, "Index: ");
	buf_addspan(out, name);
	buf_addc(out, '\n');
	for (unsigned i = 0; i < 67; i++)
		buf_addc(out, '=');
	buf_adds(out, "\n--- ");
	buf_addspan(out, name);
	buf_adds(out, "\toriginal\n+++ ");
	buf_addspan(out, name);
	buf_adds(out, "\tmodified\n");
	add_hunks(out, lines, weave(&old, &new, lines));
	r = out->failed ? -1 : 0;
out:
	side_free(&old);
	side_free(&new);
	free(lines);
	return r;
}
