/* SPDX-License-Identifier: ISC */
#include "repo/pull.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "repo/pull_priv.h"

#define NONE span_of("", 0)

/* Find which commits of the clone the user's repository has. */
static int
pull_look(struct pulling *p, struct fault *fault)
{
	const struct repo_work *w = p->how->work;
	struct span rest, line, oid;
	struct buf in, out;
	int r;

	buf_init(&in, 1U << 20);
	buf_init(&out, 1U << 20);
	for (unsigned i = 0; i < w->nknown; i++)
		buf_printf(&in, "%s\n", w->known[i]);
	for (unsigned i = 0; i < w->refs.n; i++)
		buf_printf(&in, "%s\n", w->refs.list[i].oid);
	r = REPO_GIT(p->env, &p->user.view, buf_span(&in), &out, fault,
	    "cat-file", "--batch-check=%(objectname) %(objecttype)");
	rest = buf_span(&out);
	while (r == 0 && p->nhave < nitems(p->have) &&
	       span_line(&rest, &line)) {
		oid = line.len > 7 ? span_of(line.p, line.len - 7) : line;
		if (span_is(span_of(line.p + oid.len, line.len - oid.len),
			" commit") &&
		    repo_oid_ok(oid))
			(void)span_copy(oid, p->have[p->nhave++], REPO_OID);
	}
	buf_free(&in);
	buf_free(&out);
	return r == 0 ? 0 : -1;
}

static int
pull_format(struct pulling *p, struct fault *fault)
{
	const char *format = p->how->work->record.format;
	struct buf out;
	int r;

	buf_init(&out, 4096);
	r = REPO_GIT(p->env, &p->user.view, NONE, &out, fault, "rev-parse",
	    "--show-object-format");
	if (r == 0 && !(out.len == strlen(format) + 1 &&
			  memcmp(buf_span(&out).p, format, out.len - 1) == 0))
		r = fault_set(fault,
		    "%s has another format of objects than the clone, %s",
		    p->how->into, format);
	buf_free(&out);
	return r == 0 ? 0 : -1;
}

/* Returns true if the user has asked for the branch. */
static bool
pull_asked(const struct repo_pull *how, const struct repo_ref *ref)
{
	if (how->branch == NULL || strcmp(how->branch, ref->name) == 0)
		return true;
	/* Work in no commit belongs to the branch that is checked out. */
	return strcmp(ref->name, REPO_UNSAVED) == 0 &&
	       strcmp(how->branch, how->work->branch) == 0;
}

static bool
pull_has(const struct pulling *p, const char *oid)
{
	for (unsigned i = 0; i < p->nhave; i++)
		if (strcmp(p->have[i], oid) == 0)
			return true;
	return false;
}

static void
pull_choose(struct pulling *p)
{
	struct repo_pull *how = p->how;
	const struct repo_work *w = how->work;

	how->n = 0;
	how->left = false;
	for (unsigned i = 0; i < w->refs.n; i++) {
		struct repo_pulled *r = &how->list[how->n];

		/* A branch that the user has removed stays so. */
		if (w->commits[i] == 0 && how->branch == NULL &&
		    pull_has(p, w->refs.list[i].oid))
			continue;
		if (!pull_asked(how, &w->refs.list[i])) {
			how->left = how->left || w->commits[i] != 0;
			continue;
		}
		*r = (struct repo_pulled){
		    .from = &w->refs.list[i], .commits = w->commits[i]};
		(void)strlcpy(r->oid, r->from->oid, sizeof(r->oid));
		how->n++;
	}
}

/* Make the branches, all or none. */
static int
pull_branches(struct pulling *p, struct fault *fault)
{
	static const char zero[] = "0000000000000000000000000000000000000000"
				   "000000000000000000000000";
	struct repo_pull *how = p->how;
	struct buf in;
	int r;

	buf_init(&in, 1U << 20);
	for (unsigned i = 0; i < how->n; i++) {
		const struct repo_pulled *l = &how->list[i];

		if (l->same)
			continue;
		buf_printf(&in, "update refs/heads/%s %s %s\n", l->ref, l->oid,
		    l->was[0] != '\0' ? l->was
				      : zero + 64 - strlen(l->oid));
	}
	r = REPO_GIT(p->env, &p->user.view, buf_span(&in), NULL, fault,
	    "update-ref", "-m", "icctl pull", "--stdin");
	buf_free(&in);
	return r == 0 ? 0 : -1;
}

static int
pull_into(struct pulling *p, struct fault *fault)
{
	struct repo_pull *how = p->how;

	if (repo_place_open(&p->user, how->into, REPO_PLACE_WRITE, fault) ==
		-1 ||
	    pull_format(p, fault) == -1 || pull_look(p, fault) == -1)
		return -1;
	pull_choose(p);
	if (how->n == 0)
		return 0;
	if (pull_quarantine(p, fault) == -1 ||
	    (how->signer != NULL && pull_sign(p, fault) == -1) ||
	    pull_names(p, fault) == -1 ||
	    pull_copy(p, fault) == -1)
		return -1;
	if (pull_branches(p, fault) == -1) {
		pull_uncopy(p);
		return -1;
	}
	return 0;
}

/* Note what the user has now. */
static int
pull_note(struct repo_pull *how, struct fault *fault)
{
	struct repo_work *w = how->work;
	struct repo_record *r = &w->record;

	for (unsigned i = 0; i < how->n; i++) {
		repo_record_pulled(r, how->list[i].oid);
		/* A signed commit has another name in the clone. */
		if (strcmp(how->list[i].oid, how->list[i].from->oid) != 0)
			repo_record_pulled(r, how->list[i].from->oid);
		if (strcmp(how->list[i].from->name, REPO_UNSAVED) == 0 &&
		    w->unsaved)
			(void)strlcpy(
			    r->unsaved, how->list[i].from->oid, REPO_OID);
	}
	r->looked = !how->left;
	r->commits = r->files = 0;
	if (repo_record_write(r, w->session) == -1)
		return fault_errno(fault,
		    "the branches are there, but %s/" REPO_RECORD
		    " could not be written",
		    w->dir);
	return 0;
}

int
repo_pull(struct repo_pull *how, struct fault *fault)
{
	static struct pulling p;
	int rv;

	memset(&p, 0, sizeof(p));
	p.how = how;
	p.env = how->work->env;
	p.quarantine = -1;
	rv = pull_into(&p, fault);
	repo_place_close(&p.user);
	repo_view_free(&p.view);
	if (p.quarantine != -1)
		close(p.quarantine);
	return rv == 0 ? pull_note(how, fault) : -1;
}
