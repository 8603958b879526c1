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

#include "common/log.h"

#define FILES_TRIES 5U
#define FILES_TEXT ((size_t)64 << 20)
#define FILES_NAMED 10U
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
 * Remove repositories inside of the clone from the index: git would write down
 * a name of their commit and none of their files.
 */
static int
files_inner(struct repo_work *w, struct fault *fault)
{
	struct buf out, in;
	struct span rest, line, name;
	unsigned n = 0;
	int r;

	/* Nothing was added. */
	if (w->tree[0] != '\0' && strcmp(w->tree, w->head_tree) == 0)
		return 0;
	buf_init(&out, FILES_TEXT);
	buf_init(&in, FILES_TEXT);
	r = REPO_WORK_GIT(w, NONE, &out, fault, "diff-index", "--cached",
	    "--raw", "-z", "--no-renames",
	    w->head[0] != '\0' ? w->head : files_empty(w));
	rest = buf_span(&out);
	while (r == 0 && files_entry(&rest, &line, &name)) {
		if (!span_is(span_of(line.p, 15), ":000000 160000 "))
			continue;
		buf_addspan(&in, name);
		buf_addc(&in, '\0');
		if (n++ < FILES_NAMED)
			say(w, "left out: a repository of its own: ", name);
	}
	if (r == 0 && n != 0)
		r = REPO_WORK_GIT(w, buf_span(&in), NULL, fault, "update-index",
		    "-z", "--force-remove", "--stdin");
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
