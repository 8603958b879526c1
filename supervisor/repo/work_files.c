/* SPDX-License-Identifier: ISC */
/*
 * The files of a clone as a tree. An index of our own is used, because that of
 * the clone may hide files, and the clone is not written.
 */
#include "repo/work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/small_file.h"
#include "common/log.h"
#include "repo/user.h"

#define FILES_TRIES 5U
#define FILES_TEXT ((size_t)64 << 20)
#define FILES_NAMED 10U
#define FILES_SETTINGS 524288U
#define NONE span_of("", 0)

static void
say(const struct repo_work *w, const char *fmt, struct span what)
{
	char line[800], shown[512];

	if (w->say == NULL)
		return;
	snprintf(line, sizeof(line), "%s%s", fmt,
	    log_vis(what, shown, sizeof(shown)));
	w->say(line);
}

/* Returns the name of the tree that no file is in. */
static const char *
files_empty(const struct repo_work *w)
{
	return strcmp(w->record.format, "sha256") == 0
		   ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74"
		     "decc5321"
		   : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
}

/* Put the files as they are now into the index, and write its tree. */
static int
files_take(
    struct repo_work *w, struct span leave, bool tell, struct fault *fault)
{
	struct fault why;
	struct buf out;
	struct span s;
	int r;

	/* One unreadable file must not keep the others. */
	r = leave.len == 0 ? REPO_WORK_GIT(w, NONE, NULL, &why, "add", "-A",
				 "--ignore-errors")
			   : REPO_WORK_GIT(w, leave, NULL, &why, "add", "-A",
				 "--ignore-errors", "--pathspec-from-file=-",
				 "--pathspec-file-nul");
	if (r != 0 && r != 1) {
		*fault = why;
		return -1;
	}
	if (r == 1 && tell)
		say(w, "not everything could be read: ", span_str(why.text));
	buf_init(&out, 4096);
	r = REPO_WORK_GIT(w, NONE, &out, fault, "write-tree");
	s = repo_line(&out);
	if (r == 0 && repo_oid_ok(s))
		(void)span_copy(s, w->tree, REPO_OID);
	else
		r = r == 0 ? fault_set(fault, "git gave no tree") : -1;
	buf_free(&out);
	return r;
}

/* Take a line ":MODE MODE ..." and the name behind it. */
static bool
files_entry(struct span *rest, struct span *line, struct span *name)
{
	return repo_next(rest, line) && line->len > 15 && line->p[0] == ':' &&
	       repo_next(rest, name);
}

/*
 * Returns true if the filter turns files of the user's into what is committed:
 * the start of the session has noted those that the user's git has.
 */
static bool
files_filter(struct span noted, struct span name)
{
	struct buf b;
	bool found;

	buf_init(&b, 8192);
	repo_section_put(&b, "filter", name);
	found = span_find(noted, buf_span(&b)) != NULL;
	buf_free(&b);
	return found;
}

/* Ask for the filters of these files: "NAME NUL filter NUL VALUE NUL". */
static int
files_filters(const struct repo_work *w, struct span changed, struct buf *to,
    struct fault *fault)
{
	struct span line, name;
	struct buf names;
	int r;

	buf_init(&names, FILES_TEXT);
	while (files_entry(&changed, &line, &name)) {
		buf_addspan(&names, name);
		buf_addc(&names, '\0');
	}
	r = REPO_WORK_GIT(w, buf_span(&names), to, fault, "check-attr", "-z",
	    "--stdin", "filter");
	buf_free(&names);
	return r;
}

/*
 * Returns why the file does not belong into the tree, or NULL: of a repository
 * inside of the clone git would write down a name of its commit and none of its
 * files, and a filter does not run here, so that a file would go in as it is.
 */
static const char *
files_wrong(struct span line, struct span noted, struct span *filters)
{
	struct span name, what, value;

	if (filters == NULL)
		return span_is(span_of(line.p, 15), ":000000 160000 ")
			   ? "left out: a repository of its own: "
			   : NULL;
	if (!repo_next(filters, &name) || !repo_next(filters, &what) ||
	    !repo_next(filters, &value) || span_is(value, "unspecified") ||
	    span_is(value, "unset") || span_is(value, "set") ||
	    span_is(span_of(line.p + 8, 6), "000000") ||
	    !files_filter(noted, value))
		return NULL;
	return "left out, because a filter of your git must run on it: copy it "
	       "from the session's sandbox/ and git add it: ";
}

/* Put those that do not belong there back to how they are in `base`. */
static int
files_back(struct repo_work *w, const char *base, struct buf *filters,
    struct fault *fault)
{
	static char text[FILES_SETTINGS];
	struct span rest, line, name, f, noted = NONE;
	struct buf out, in;
	const char *why;
	unsigned n = 0;
	ssize_t len;
	int r;

	buf_init(&out, FILES_TEXT);
	buf_init(&in, FILES_TEXT);
	r = REPO_WORK_GIT(w, NONE, &out, fault, "diff-index", "--cached",
	    "--raw", "-z", "--no-renames", base);
	if (r == 0 && filters != NULL && out.len != 0)
		r = files_filters(w, buf_span(&out), filters, fault);
	rest = buf_span(&out);
	f = filters != NULL ? buf_span(filters) : NONE;
	if (f.len != 0 &&
	    (len = small_file_read(w->session, "orientation/gitconfig", text,
		 sizeof(text))) > 0)
		noted = span_of(text, (size_t)len);
	while (r == 0 && files_entry(&rest, &line, &name)) {
		why = files_wrong(line, noted, filters != NULL ? &f : NULL);
		if (why == NULL)
			continue;
		buf_printf(&in, "%.6s %.*s\t", (const char *)line.p + 1,
		    (int)strlen(files_empty(w)), (const char *)line.p + 15);
		buf_addspan(&in, name);
		buf_addc(&in, '\0');
		if (n++ < FILES_NAMED)
			say(w, why, name);
	}
	if (r == 0 && n != 0)
		r = REPO_WORK_GIT(w, buf_span(&in), NULL, fault, "update-index",
		    "-z", "--index-info");
	buf_reset(&out, 4096);
	if (r == 0 && n != 0)
		r = REPO_WORK_GIT(w, NONE, &out, fault, "write-tree");
	rest = buf_span(&out);
	if (r == 0 && n != 0 && rest.len != 0 &&
	    repo_oid_ok(span_of(rest.p, rest.len - 1)))
		(void)span_copy(
		    span_of(rest.p, rest.len - 1), w->tree, REPO_OID);
	buf_free(&in);
	buf_free(&out);
	return r == 0 ? 0 : -1;
}

static int
files_inner(struct repo_work *w, struct fault *fault)
{
	const char *head = w->head[0] != '\0' ? w->head : files_empty(w);
	const bool pulled =
	    w->record.unsaved[0] != '\0' && w->last_tree[0] != '\0';
	struct buf filters;
	int rv;

	/* Nothing was added. */
	if (w->tree[0] != '\0' && strcmp(w->tree, w->head_tree) == 0)
		return 0;
	buf_init(&filters, 2 * FILES_TEXT);
	rv = files_back(w, head, NULL, fault);
	/* A file that was pulled without a filter once stays as it was. */
	if (rv == 0)
		rv = files_back(
		    w, pulled ? w->last_tree : head, &filters, fault);
	buf_free(&filters);
	return rv;
}

/* Take the files until they are twice the same: there was such a moment. */
static int
files_still(struct repo_work *w, struct span leave, struct fault *fault)
{
	char before[REPO_OID];

	if (files_take(w, leave, true, fault) == -1)
		return -1;
	if (w->ended)
		return files_inner(w, fault);
	for (unsigned i = 0; i < FILES_TRIES; i++) {
		(void)strlcpy(before, w->tree, sizeof(before));
		if (files_take(w, leave, false, fault) == -1)
			return -1;
		if (strcmp(before, w->tree) == 0)
			return files_inner(w, fault);
	}
	return fault_set(fault,
	    "the files of the clone change all the time: the agent is writing. "
	    "Try again when it waits, or end the session first: icctl stop");
}

int
repo_work_snapshot(struct repo_work *w, struct fault *fault)
{
	struct buf leave;
	int r;

	r = w->head[0] != '\0'
		? REPO_WORK_GIT(w, NONE, NULL, fault, "read-tree", w->head)
		: 1;
	/* It has no files, or names that git refuses. */
	if (r > 0)
		r = REPO_WORK_GIT(w, NONE, NULL, fault, "read-tree", "--empty");
	if (r != 0)
		return -1;
	buf_init(&leave, FILES_TEXT);
	r = repo_work_sizes(w, &leave, fault);
	if (r == 0)
		r = files_still(w, buf_span(&leave), fault);
	buf_free(&leave);
	return r;
}

int
repo_work_differ(const struct repo_work *w, const char *a, const char *b,
    int64_t *n, struct fault *fault)
{
	struct span rest, line, name;
	struct buf out;
	int r;

	buf_init(&out, FILES_TEXT);
	r = REPO_WORK_GIT(w, NONE, &out, fault, "diff-tree", "-r", "--raw",
	    "-z", "--no-renames", a[0] != '\0' ? a : files_empty(w), b);
	rest = buf_span(&out);
	*n = 0;
	while (r == 0 && files_entry(&rest, &line, &name))
		++*n;
	buf_free(&out);
	return r == 0 ? 0 : -1;
}
