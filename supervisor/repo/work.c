/* SPDX-License-Identifier: ISC */
#include "repo/work.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/wordlist.h"

#define NONE span_of("", 0)

static void __attribute__((format(printf, 2, 3)))
say(const struct repo_work *w, const char *fmt, ...)
{
	char line[2200];
	va_list ap;

	if (w->say == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	w->say(line);
}

/* Ask git for the name of one object. Returns 0, 1 if there is none, or -1. */
static int
work_object(const struct repo_work *w, const char *name, char oid[REPO_OID],
    struct fault *fault)
{
	struct buf out;
	struct span s;
	int r;

	oid[0] = '\0';
	buf_init(&out, 4096);
	r = REPO_WORK_GIT(w, NONE, &out, fault, "rev-parse", "--verify", "-q",
	    "--end-of-options", name);
	s = repo_line(&out);
	if (r == 0 && repo_oid_ok(s))
		(void)span_copy(s, oid, REPO_OID);
	else if (r == 0 || r > 1)
		r = r == 0 ? fault_set(fault, "git gave no name of an object")
			   : -1;
	buf_free(&out);
	return r;
}

/* The commit that a commit of unsaved work follows; "": none. */
static const char *
work_before(const struct repo_work *w)
{
	const struct repo_record *r = &w->record;

	if (r->unsaved[0] != '\0')
		return r->unsaved;
	return strcmp(r->start, r->base) != 0 ? r->start : "";
}

/* Take a line "OBJECT KIND", if it is of that kind. */
static void
work_take(struct span line, struct span kind, char oid[REPO_OID])
{
	const struct span name =
	    span_of(line.p, line.len < kind.len ? 0 : line.len - kind.len);

	oid[0] = '\0';
	if (span_is(span_of(line.p + name.len, line.len - name.len),
		(const char *)kind.p) &&
	    repo_oid_ok(name))
		(void)span_copy(name, oid, REPO_OID);
}

/*
 * Find, with one git: the commit that is checked out, its tree and that of the
 * last work, the newest stash, and which of the commits that the user had are
 * in the clone, too.
 */
static int
work_ask(struct repo_work *w, struct fault *fault)
{
	static const struct span commit = SPAN(" commit"), tree = SPAN(" tree");
	const struct repo_record *r = &w->record;
	const char *last = work_before(w);
	struct span rest, line = {NULL, 0};
	char *const dst[] = {w->head, w->stash, w->head_tree, w->last_tree};
	struct buf in, out;
	int rv;

	buf_init(&in, 1U << 20);
	buf_init(&out, 1U << 20);
	buf_printf(&in, "HEAD^{commit}\nrefs/stash^{commit}\nHEAD^{tree}\n");
	/* Without it, the next commit does not follow it. */
	buf_printf(&in, "%s^{tree}\n", last[0] != '\0' ? last : "HEAD");
	if (r->base[0] != '\0')
		buf_printf(&in, "%s\n", r->base);
	for (unsigned i = 0; i < r->npulled; i++)
		buf_printf(&in, "%s\n", r->pulled[i]);
	rv = REPO_WORK_GIT(w, buf_span(&in), &out, fault, "cat-file",
	    "--batch-check=%(objectname) %(objecttype)");
	rest = buf_span(&out);
	for (size_t i = 0; rv == 0 && i < nitems(dst); i++) {
		if (!span_line(&rest, &line))
			line.len = 0;
		work_take(line, i < 2 ? commit : tree, dst[i]);
	}
	w->nknown = 0;
	while (rv == 0 && w->nknown <= REPO_MAX_PULLED &&
	       span_line(&rest, &line)) {
		work_take(line, commit, w->known[w->nknown]);
		w->nknown += w->known[w->nknown][0] != '\0';
	}
	if (last[0] == '\0')
		w->last_tree[0] = '\0';
	buf_free(&in);
	buf_free(&out);
	return rv == 0 ? 0 : -1;
}

/* Count the commits of a branch that the user has not. Returns -1 if unknown.
 */
static int64_t
work_count(const struct repo_work *w, const char *tip, struct fault *fault)
{
	int64_t n = -1;
	struct buf in, out;

	for (unsigned i = 0; i < w->nknown; i++)
		if (strcmp(w->known[i], tip) == 0)
			return 0;
	buf_init(&in, 1U << 20);
	buf_init(&out, 4096);
	buf_printf(&in, "%s\n", tip);
	for (unsigned i = 0; i < w->nknown; i++)
		buf_printf(&in, "^%s\n", w->known[i]);
	if (REPO_WORK_GIT(w, buf_span(&in), &out, fault, "rev-list", "--count",
		"--stdin") == 0) {
		buf_addc(&out, '\0');
		if (!out.failed)
			n = strtoll((const char *)buf_span(&out).p, NULL, 10);
	}
	buf_free(&in);
	buf_free(&out);
	return n;
}

static void
work_refused(void *arg, struct span name, const char *why)
{
	char shown[512];

	say(arg, "left out: a branch, because its name has %s: %s", why,
	    log_vis(name, shown, sizeof(shown)));
}

/* Find the branch that is checked out, and commits that are on none. */
static int
work_head(struct repo_work *w, struct fault *fault)
{
	struct repo_refs *refs = &w->refs;
	struct buf out;
	struct span s;
	int r;

	buf_init(&out, 8192);
	r = REPO_WORK_GIT(w, NONE, &out, fault, "symbolic-ref", "-q", "HEAD");
	s = repo_line(&out);
	if (r == 0 && span_starts(s, SPAN("refs/heads/"))) {
		s = span_of(s.p + 11, s.len - 11);
		if (repo_name_wrong(s) == NULL)
			(void)span_copy(s, w->branch, REPO_NAME);
	}
	buf_free(&out);
	if (r == -1)
		return -1;
	for (unsigned i = 0; i < refs->n; i++)
		if (strcmp(refs->list[i].oid, w->head) == 0)
			return 0;
	if (w->head[0] == '\0' || refs->n == REPO_MAX_REFS)
		return 0;
	(void)strlcpy(refs->list[refs->n].oid, w->head, REPO_OID);
	(void)strlcpy(refs->list[refs->n++].name, REPO_DETACHED, REPO_NAME);
	return 0;
}

/* Changes that the agent has put aside with git stash, the newest of them. */
static void
work_stash(struct repo_work *w)
{
	struct repo_refs *refs = &w->refs;

	if (w->stash[0] == '\0' || refs->n == REPO_MAX_REFS)
		return;
	(void)strlcpy(refs->list[refs->n].oid, w->stash, REPO_OID);
	(void)strlcpy(refs->list[refs->n++].name, REPO_STASH, REPO_NAME);
}

static bool
work_pulled(const struct repo_work *w, const char *oid)
{
	for (unsigned i = 0; i < w->record.npulled; i++)
		if (strcmp(w->record.pulled[i], oid) == 0)
			return true;
	return false;
}

static int
work_refs(struct repo_work *w, struct fault *fault)
{
	struct repo_refs *refs = &w->refs;
	struct buf out;
	unsigned n = 0;
	int r;

	refs->refused = work_refused;
	refs->arg = w;
	buf_init(&out, 1U << 20);
	r = REPO_WORK_GIT(w, NONE, &out, fault, "for-each-ref", "--count=257",
	    REPO_REFS_FORMAT, "refs/heads/");
	if (r == 0 && repo_refs_parse(refs, buf_span(&out)) == -1)
		r = fault_set(fault,
		    "the clone has more than %u branches, or git did not list "
		    "them as it should. Its files are in %s/sandbox",
		    REPO_MAX_REFS, w->dir);
	buf_free(&out);
	if (r != 0 || work_head(w, fault) == -1)
		return -1;
	work_stash(w);
	w->all = *refs;
	for (unsigned i = 0; i < refs->n; i++) {
		if ((w->commits[n] = work_count(w, refs->list[i].oid, fault)) ==
		    -1)
			return -1;
		refs->list[n] = refs->list[i];
		n += w->commits[n] != 0 || work_pulled(w, refs->list[i].oid);
	}
	refs->n = n;
	return 0;
}

/* Returns 1 if commit `a` is `b` or an ancestor of it, 0 if not, or -1. */
static int
work_is_in(const struct repo_work *w, const char *a, const char *b,
    struct fault *fault)
{
	int r;

	if (a[0] == '\0' || strcmp(a, b) == 0)
		return 1;
	r = REPO_WORK_GIT(
	    w, NONE, NULL, fault, "merge-base", "--is-ancestor", a, b);
	return r == 0 || r == 1 ? r == 0 : -1;
}

static int
work_add(
    struct repo_work *w, struct span oid, int64_t commits, struct fault *fault)
{
	struct repo_refs *refs = &w->refs;

	if (refs->n == REPO_MAX_REFS)
		return fault_set(fault, "more than %u branches", REPO_MAX_REFS);
	(void)span_copy(oid, refs->list[refs->n].oid, REPO_OID);
	(void)strlcpy(refs->list[refs->n].name, REPO_UNSAVED, REPO_NAME);
	w->commits[refs->n++] = commits;
	return 0;
}

int
repo_work_look(struct repo_work *w, struct fault *fault)
{
	const char *last = work_before(w), *tree = w->head_tree;
	const char *before = w->last_tree;
	int r;

	if (work_ask(w, fault) == -1 || repo_work_snapshot(w, fault) == -1 ||
	    work_refs(w, fault) == -1)
		return -1;
	if (w->head[0] != '\0' && tree[0] == '\0')
		return fault_set(fault, "git gave no name of a tree");
	w->unsaved = strcmp(w->tree, tree) != 0;
	if (w->unsaved && before[0] != '\0' && strcmp(w->tree, before) == 0) {
		if ((r = work_is_in(w, w->head, last, fault)) == -1)
			return -1;
		w->unsaved = r == 0;
		if (r == 1 && work_pulled(w, last) &&
		    work_add(w, span_str(last), 0, fault) == -1)
			return -1;
	}
	w->files = 0;
	if (!w->unsaved)
		return 0;
	return repo_work_differ(
	    w, before[0] != '\0' ? before : tree, w->tree, &w->files, fault);
}

int
repo_work_commit(struct repo_work *w, struct fault *fault)
{
	const char *last = work_before(w), *list[24];
	struct wordlist words = WORDLIST_IN(list);
	const char *const *all;
	char text[REPO_NAME + 64], known[REPO_OID];
	struct buf out;
	struct span s;
	int r;

	/* The agent may have removed it. */
	if (last[0] != '\0' && work_object(w, last, known, fault) != 0)
		last = "";
	snprintf(text, sizeof(text), "Work of session %s that was in no commit",
	    w->record.session);
	wordlist_all(
	    &words, (const char *const[]){"-c", "user.name=IronCurtain", "-c",
			"user.email=ironcurtain@localhost", "commit-tree",
			w->tree, "-m", text, NULL});
	r = last[0] != '\0' ? work_is_in(w, w->head, last, fault) : 0;
	if (r == -1)
		return -1;
	if (r == 0 && w->head[0] != '\0')
		wordlist_all(
		    &words, (const char *const[]){"-p", w->head, NULL});
	if (last[0] != '\0')
		wordlist_all(&words, (const char *const[]){"-p", last, NULL});
	if ((all = (const char *const *)wordlist_end(&words)) == NULL)
		return fault_errno(fault, "git");
	buf_init(&out, 4096);
	r = repo_work_git(w, NONE, &out, fault, all);
	s = repo_line(&out);
	if (r == 0)
		r = repo_oid_ok(s) ? work_add(w, s, 1, fault)
				   : fault_set(fault, "git gave no commit");
	buf_free(&out);
	return r == 0 ? 0 : -1;
}

int64_t
repo_work_commits(const struct repo_work *w)
{
	int64_t n = 0;

	for (unsigned i = 0; i < w->refs.n; i++)
		n += w->commits[i];
	return n;
}
