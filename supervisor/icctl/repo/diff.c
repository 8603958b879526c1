/* SPDX-License-Identifier: ISC */
/*
 * `icctl diff`: shows what a session has changed in its clone. The text is the
 * agent's, so that it is escaped, and nothing of it goes to a pager.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/near.h"
#include "common/plural.h"
#include "common/visible.h"
#include "icctl/repo/repo.h"
#include "json_put.h"

#define DIFF_MAX ((size_t)16 << 20)
#define NONE span_of("", 0)

static int
diff_arguments(bool *stat, const char **session, int argc, char **argv)
{
	static const char *const names[] = {"--stat", NULL};
	char hint[NEAR_HINT];

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--stat") == 0) {
			*stat = true;
		} else if (argv[i][0] != '-' && *session == NULL) {
			*session = argv[i];
		} else {
			if (argv[i][0] == '-')
				warnx("diff %s: no such option%s", argv[i],
				    near_hint(argv[i], names, hint));
			warnx("usage: icctl diff [SESSION] [--stat]");
			return ICCTL_USAGE;
		}
	}
	return 0;
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
diff_row(struct span item, json_object *list)
{
	char added[24], deleted[24], *name;
	const uint8_t *a, *b;
	json_object *o;

	if ((a = memchr(item.p, '\t', item.len)) == NULL ||
	    span_copy(span_of(item.p, (size_t)(a - item.p)), added,
		sizeof(added)) == -1)
		return false;
	item = span_of(a + 1, item.len - (size_t)(a + 1 - item.p));
	if ((b = memchr(item.p, '\t', item.len)) == NULL ||
	    span_copy(span_of(item.p, (size_t)(b - item.p)), deleted,
		sizeof(deleted)) == -1)
		return false;
	item = span_of(b + 1, item.len - (size_t)(b + 1 - item.p));
	if ((name = span_dup(item)) == NULL)
		return false;
	o = json_object_new_object();
	put_str(o, "file", name);
	/* A binary file has "-". */
	put_bool(o, "binary", added[0] == '-');
	put_int(o, "added", strtoll(added, NULL, 10));
	put_int(o, "deleted", strtoll(deleted, NULL, 10));
	json_object_array_add(list, o);
	free(name);
	return true;
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

	if (ctl->json) {
		kind = "--numstat";
		z = "-z";
	} else if (stat) {
		kind = "--stat=100,70";
	}
	buf_init(&out, DIFF_MAX);
	r = REPO_WORK_GIT(w, NONE, &out, &fault, "-c", "diff.noprefix=false",
	    "-c", "diff.mnemonicPrefix=false", "diff", "--no-color", kind, z,
	    "--no-renames", "-O/dev/null", "--src-prefix=a/", "--dst-prefix=b/",
	    "--submodule=short", "--end-of-options", from, w->tree, "--");
	if (r == 0 && ctl->json)
		diff_json(ctl, w, buf_span(&out));
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
	const char *session = NULL;
	bool stat = false;
	int status;

	if ((status = diff_arguments(&stat, &session, argc, argv)) != 0)
		return status;
	if ((status = repo_enter(ctl, session, &w)) == 0)
		status = diff_session(ctl, &w, stat);
	repo_leave(&w);
	return status;
}
