/* SPDX-License-Identifier: ISC */
/*
 * The tools that walk through everything below a directory.  Links are not
 * entered; every level is opened from the one above it.  Depth, entries and
 * time are limited, and a limit that is reached is an error rather than half an
 * answer.
 */
#include "icfs/icfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "common/loop.h"

struct walk {
	struct icfs *f;
	const struct icfs_path *top;
	const struct value *exclude;
	struct span pattern; /* search */
	uint64_t until;      /* clock_mono_us */
	unsigned entries;
	bool tree; /* otherwise it is a search */
	char rel[PATH_MAX * 2];
};

static bool
excluded(const struct walk *w, const char *rel)
{
	char wider[PATH_MAX];
	const struct value *v;
	int n;

	for (v = w->exclude != NULL ? w->exclude->child : NULL; v != NULL;
	     v = v->next) {
		if (icfs_glob(v->text, span_str(rel)))
			return true;
		if (!w->tree || memchr(v->text.p, '*', v->text.len) != NULL)
			continue;
		/* A plain name applies at any level. */
		n = snprintf(wider, sizeof(wider), "**/%.*s", (int)v->text.len,
		    (const char *)v->text.p);
		if (n > 0 && (size_t)n < sizeof(wider) &&
		    icfs_glob(span_str(wider), span_str(rel)))
			return true;
	}
	return false;
}

static int
bounds(struct walk *w, unsigned depth)
{
	if (++w->entries > ICFS_MAX_ENTRIES)
		return icfs_why(w->f,
		    "Too much: more than %u entries; name a directory further "
		    "down",
		    ICFS_MAX_ENTRIES);
	if (w->f->text.len > ICFS_MAX_LINE)
		return icfs_why(w->f,
		    "Too much: the result exceeds %zu bytes; name a directory "
		    "further down",
		    ICFS_MAX_LINE);
	if (depth > ICFS_MAX_DEPTH)
		return icfs_why(w->f,
		    "Too deep: more than %u directories below each other",
		    ICFS_MAX_DEPTH);
	if (w->entries % 64 == 0 && clock_mono_us() > w->until)
		return icfs_why(w->f,
		    "Too slow: it took longer than %u s; name a directory "
		    "further down",
		    ICFS_MAX_MS / 1000);
	return 0;
}

static void
indent(struct buf *b, unsigned n)
{
	buf_addc(b, '\n');
	while (n-- > 0)
		buf_adds(b, "  ");
}

static void
tree_entry(
    struct buf *b, const struct icfs_entry *e, unsigned depth, bool first)
{
	struct buf name;

	if (!first)
		buf_addc(b, ',');
	buf_init(&name, 4096);
	icfs_add_text(&name, span_str(e->name));
	indent(b, 2 * depth + 1);
	buf_addc(b, '{');
	indent(b, 2 * depth + 2);
	buf_adds(b, "\"name\": ");
	(void)json_write_string(b, buf_span(&name));
	buf_addc(b, ',');
	indent(b, 2 * depth + 2);
	buf_printf(b, "\"type\": \"%s\"", e->dir ? "directory" : "file");
	buf_free(&name);
}

/* Write the children of a directory that cannot be opened, by errno. */
static void
tree_unread(struct buf *b, unsigned depth)
{
	buf_adds(b, "[]");
	if (errno != EACCES)
		return;
	buf_addc(b, ',');
	indent(b, 2 * depth + 2);
	buf_adds(b, "\"error\": \"EACCES: permission denied\"");
}

/* Returns false for a link that leads out of the roots or to nothing. */
static bool
reachable(const struct walk *w)
{
	char full[PATH_MAX * 4], top[PATH_MAX * 2];
	struct icfs_path p;

	icfs_full(w->top, top);
	(void)snprintf(full, sizeof(full), "%s/%s", top, w->rel);
	return icfs_resolve(w->f, "stat", span_str(full), ICFS_FOLLOW, &p) ==
		   0 &&
	       p.exists;
}

static void
search_entry(struct walk *w)
{
	struct buf *b = &w->f->text;
	char top[PATH_MAX * 2];

	if (!icfs_glob(w->pattern, span_str(w->rel)) || !reachable(w))
		return;
	icfs_full(w->top, top);
	if (b->len != 0)
		buf_addc(b, '\n');
	buf_adds(b, top);
	if (strcmp(top, "/") != 0)
		buf_addc(b, '/');
	icfs_add_text(b, span_str(w->rel));
}

static int walk_dir(struct walk *, int fd, unsigned depth);

/* Process one entry of the directory `fd`. */
static int
walk_entry(struct walk *w, int fd, const struct icfs_entry *e, unsigned depth,
    bool first)
{
	struct buf *b = &w->f->text;
	int below, r = 0;

	if (bounds(w, depth) == -1)
		return -1;
	if (w->tree)
		tree_entry(b, e, depth, first);
	else
		search_entry(w);
	if (e->dir) {
		if (w->tree) {
			buf_addc(b, ',');
			indent(b, 2 * depth + 2);
			buf_adds(b, "\"children\": ");
		}
		/* A tree says which directory may not be read. */
		below = icfs_open(fd, e->name, O_RDONLY | O_DIRECTORY, 0);
		if (below != -1)
			r = walk_dir(w, below, depth + 1);
		else if (w->tree)
			tree_unread(b, depth);
	}
	if (w->tree) {
		indent(b, 2 * depth + 1);
		buf_addc(b, '}');
	}
	return r;
}

/* Process all entries of a directory; takes over `fd`. */
static int
walk_dir(struct walk *w, int fd, unsigned depth)
{
	struct icfs_entries e = {NULL, 0, 0};
	size_t len = strlen(w->rel);
	bool first = true;
	int dir, r = 0, n;

	dir = icfs_open(fd, ".", O_PATH | O_DIRECTORY, 0);
	if (dir == -1 || icfs_entries_read(&e, fd) == -1)
		e.n = 0;
	if (dir == -1)
		close(fd);
	if (w->tree)
		buf_addc(&w->f->text, '[');
	for (size_t i = 0; i < e.n && r == 0; i++) {
		n = snprintf(w->rel + len, sizeof(w->rel) - len, "%s%s",
		    len == 0 ? "" : "/", e.v[i].name);
		if (n > 0 && (size_t)n < sizeof(w->rel) - len &&
		    !excluded(w, w->rel)) {
			r = walk_entry(w, dir, &e.v[i], depth, first);
			first = false;
		}
		w->rel[len] = '\0';
	}
	if (w->tree) {
		if (!first)
			indent(&w->f->text, 2 * depth);
		buf_addc(&w->f->text, ']');
	}
	if (dir != -1)
		close(dir);
	icfs_entries_free(&e);
	return r;
}

static int
walk(struct icfs *f, const struct value *args, struct walk *w)
{
	struct icfs_path p;
	struct span path;
	int fd;

	w->f = f;
	w->top = &p;
	w->until = clock_mono_us() + ICFS_MAX_MS * 1000ULL;
	if (icfs_arg_strings(f, args, "excludePatterns", &w->exclude) == -1 ||
	    (fd = icfs_open_dir(f, args, &path, &p)) == -1)
		return -1;
	return walk_dir(w, fd, 0);
}

int
icfs_tree(struct icfs *f, const struct value *args)
{
	struct walk w = {.tree = true};

	return walk(f, args, &w);
}

int
icfs_search(struct icfs *f, const struct value *args)
{
	struct walk w = {.tree = false};

	if (icfs_arg_string(f, args, "pattern", &w.pattern) == -1 ||
	    walk(f, args, &w) == -1)
		return -1;
	if (f->text.len == 0)
		buf_adds(&f->text, "No matches found");
	return 0;
}
