/* SPDX-License-Identifier: ISC */
/*
 * `icctl diff`: shows what a session has changed in its clone. The text is the
 * agent's, so that it is escaped, and nothing of it goes to a pager.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "common/plural.h"
#include "common/visible.h"
#include "icctl/repo/repo.h"
#include "icctl/undo/diff.h"
#include "icctl/words.h"

#define DIFF_MAX ((size_t)16 << 20)
#define NONE span_of("", 0)
#define STAT_NAME 70U /* columns to which shorter names are filled up */
#define STAT_PLUS "++++++++++++++++++++++++++++++"
#define STAT_MINUS "------------------------------"
#define STAT_BAR ((long long)sizeof(STAT_PLUS) - 1)

struct diff_row {
	struct span name;
	bool binary;
	long long added, deleted; /* lines */
};

/* Returns how many signs show `n` lines, if the most are `most`. */
static int
stat_bar(long long n, long long most)
{
	if (most <= STAT_BAR)
		return (int)n;
	return n == 0 ? 0 : (int)(1 + (n - 1) * (STAT_BAR - 1) / most);
}

/* Print a text line by line, escaped but for its tabs. */
static void
diff_print(struct span text)
{
	struct span line, part;
	const uint8_t *tab;

	while (span_line(&text, &line)) {
		while ((tab = memchr(line.p, '\t', line.len)) != NULL) {
			part = span_of(line.p, (size_t)(tab - line.p));
			icctl_put(part, part.len, false);
			putchar('\t');
			line = span_of(tab + 1, line.len - part.len - 1);
		}
		icctl_put(line, line.len, false);
		putchar('\n');
	}
}

/* Take "ADDED\tDELETED\tNAME". */
static bool
diff_take(struct span item, struct diff_row *r)
{
	char added[24], deleted[24];
	const uint8_t *a, *b;

	if ((a = memchr(item.p, '\t', item.len)) == NULL ||
	    span_copy(span_of(item.p, (size_t)(a - item.p)), added,
		sizeof(added)) == -1)
		return false;
	item = span_of(a + 1, item.len - (size_t)(a + 1 - item.p));
	if ((b = memchr(item.p, '\t', item.len)) == NULL ||
	    span_copy(span_of(item.p, (size_t)(b - item.p)), deleted,
		sizeof(deleted)) == -1)
		return false;
	r->name = span_of(b + 1, item.len - (size_t)(b + 1 - item.p));
	/* A binary file has "-". */
	r->binary = added[0] == '-';
	r->added = strtoll(added, NULL, 10);
	r->deleted = strtoll(deleted, NULL, 10);
	return true;
}

static bool
diff_row(struct span item, json_object *list)
{
	struct diff_row r;
	json_object *o;
	char *name;

	if (!diff_take(item, &r) || (name = span_dup(r.name)) == NULL)
		return false;
	o = json_object_new_object();
	put_str(o, "file", name);
	put_bool(o, "binary", r.binary);
	put_int(o, "added", r.added);
	put_int(o, "deleted", r.deleted);
	json_object_array_add(list, o);
	free(name);
	return true;
}

/* Returns the columns that a name takes when it is printed escaped. */
static size_t
diff_columns(struct span name)
{
	struct buf shown;
	size_t n = 0;

	buf_init(&shown, 65536);
	(void)visible_add(&shown, name, 0);
	for (size_t i = 0; i < shown.len; i++)
		n += (shown.p[i] & 0xc0) != 0x80;
	buf_free(&shown);
	return n;
}

/* Print "NAME | LINES +++--" as git does, with names as they are. */
static void
diff_stat(struct span text)
{
	long long files = 0, added = 0, deleted = 0, most = 1, n;
	struct span rest = text, item;
	struct diff_row r;
	size_t width = 0, c;

	while (repo_next(&rest, &item))
		if (diff_take(item, &r)) {
			c = diff_columns(r.name);
			width = c > width && c <= STAT_NAME ? c : width;
			n = r.added + r.deleted;
			most = n > most ? n : most;
		}
	while (repo_next(&text, &item)) {
		if (!diff_take(item, &r))
			continue;
		putchar(' ');
		icctl_put(r.name, r.name.len, false);
		for (c = diff_columns(r.name); c < width; c++)
			putchar(' ');
		n = r.added + r.deleted;
		if (r.binary)
			printf(" | Bin\n");
		else
			printf(" | %4lld %.*s%.*s\n", n,
			    stat_bar(r.added, most), STAT_PLUS,
			    stat_bar(r.deleted, most), STAT_MINUS);
		files++;
		added += r.added;
		deleted += r.deleted;
	}
	if (files == 0)
		return;
	printf(" %lld file%s changed", files, plural((uint64_t)files));
	if (added != 0)
		printf(", %lld insertion%s(+)", added, plural((uint64_t)added));
	if (deleted != 0)
		printf(
		    ", %lld deletion%s(-)", deleted, plural((uint64_t)deleted));
	putchar('\n');
}

static void
diff_json(const struct icctl *ctl, const struct repo_work *w, struct span text)
{
	json_object *o = json_object_new_object(),
		    *list = json_object_new_array(),
		    *branches = json_object_new_array(), *b;
	struct span item;

	while (repo_next(&text, &item))
		(void)diff_row(item, list);
	put_bool(o, "ok", true);
	put_str(o, "session", repo_id(ctl));
	put_bool(o, "unsaved", w->unsaved);
	json_object_object_add(o, "files", list);
	for (unsigned i = 0; i < w->refs.n; i++) {
		b = json_object_new_object();
		put_str(b, "branch", w->refs.list[i].name);
		put_int(b, "commits", w->commits[i]);
		json_object_array_add(branches, b);
	}
	json_object_object_add(o, "branches", branches);
	icctl_put_json(o);
	json_object_put(o);
}

/* Tell what the comparison of files does not show. */
static void
diff_branches(const struct icctl *ctl, const struct repo_work *w)
{
	for (unsigned i = 0; i < w->refs.n; i++)
		if (w->commits[i] != 0)
			warnx("branch %s has %lld commit%s that you do not have",
		    w->refs.list[i].name, (long long)w->commits[i],
		    plural((uint64_t)w->commits[i]));
	if (w->unsaved)
		warnx("%lld file%s in no commit; icctl pull makes one of %s",
		    (long long)w->files, w->files == 1 ? " is" : "s are",
		    w->files == 1 ? "it" : "them");
	if (repo_work_commits(w) != 0 || w->unsaved)
		warnx("to get the work: icctl pull %s", repo_id(ctl));
}

static int
diff_session(struct icctl *ctl, const struct repo_work *w, bool stat)
{
	const char *from = w->record.start, *kind = "--patch", *z = "--no-color";
	struct fault fault;
	struct buf out;
	int r;

	if (ctl->json || stat) {
		kind = "--numstat";
		z = "-z";
	}
	buf_init(&out, DIFF_MAX);
	r = REPO_WORK_GIT(w, NONE, &out, &fault, "-c", "diff.noprefix=false",
	    "-c", "diff.mnemonicPrefix=false", "-c",
	    "core.quotePath=false", "diff", "--no-color", kind, z,
	    "--no-renames", "-O/dev/null", "--src-prefix=a/", "--dst-prefix=b/",
	    "--submodule=short", "--end-of-options", from, w->tree, "--");
	if (r == 0 && ctl->json)
		diff_json(ctl, w, buf_span(&out));
	else if (r == 0 && stat)
		diff_stat(buf_span(&out));
	else if (r == 0)
		diff_print(buf_span(&out));
	else if (out.failed)
		warnx("the changes are more than %zu MiB of text. See: icctl "
		      "diff --stat, or icctl pull and git",
		    DIFF_MAX >> 20);
	else
		(void)repo_failed(&fault);
	buf_free(&out);
	(void)fflush(stdout);
	if (r == 0 && !ctl->json)
		diff_branches(ctl, w);
	return r == 0 ? ICCTL_OK : ICCTL_FAILED;
}

int
icctl_diff(struct icctl *ctl, int argc, char **argv)
{
	static struct repo_work w;
	int status;

	if (argc > 2)
		return words_usage();
	if (words_given("--turn"))
		return undo_diff(ctl, words_option("--turn"), argv[1]);
	if ((status = repo_enter(ctl, argv[1], &w)) == 0)
		status = diff_session(ctl, &w, words_given("--stat"));
	repo_leave(&w);
	return status;
}
