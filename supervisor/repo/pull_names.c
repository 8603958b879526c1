/* SPDX-License-Identifier: ISC */
/*
 * The names of pulled branches in the user's repository. A branch is moved only
 * forward, and never while it is checked out; otherwise the work comes under a
 * further name.
 */
#include "repo/pull_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


#define NAMES_MAX 1024U
#define NAMES_TRIES 200U
#define NONE span_of("", 0)

struct theirs {
	char ref[2 * REPO_NAME];
	char oid[REPO_OID];
	bool out; /* a working tree has it */
};

struct names {
	struct theirs list[NAMES_MAX];
	unsigned n;
};

/* Read "OID REF TREE", with an empty TREE for a branch in none. */
static int
names_take(struct names *names, struct span line)
{
	static const char prefix[] = "refs/heads/";
	struct theirs *t = &names->list[names->n];
	const uint8_t *space;
	struct span ref;

	if (names->n == NAMES_MAX ||
	    (space = memchr(line.p, ' ', line.len)) == NULL ||
	    span_copy(span_of(line.p, (size_t)(space - line.p)), t->oid,
		REPO_OID) == -1)
		return -1;
	ref = span_of(space + 1, line.len - (size_t)(space + 1 - line.p));
	if ((space = memchr(ref.p, ' ', ref.len)) == NULL)
		return -1;
	t->out = (size_t)(space + 1 - ref.p) != ref.len;
	ref.len = (size_t)(space - ref.p);
	if (!repo_oid_ok(span_str(t->oid)) || !span_starts(ref, SPAN(prefix)))
		return -1;
	/* A longer name is not one of ours, and cannot be in the way. */
	if (span_copy(span_of(ref.p + sizeof(prefix) - 1,
			  ref.len - (sizeof(prefix) - 1)),
		t->ref, sizeof(t->ref)) == 0)
		names->n++;
	return 0;
}

static int
names_list(struct pulling *p, struct names *names, struct fault *fault)
{
	char under[32 + REPO_NAME];
	struct span rest, line;
	struct buf out;
	int r;

	names->n = 0;
	snprintf(under, sizeof(under), "refs/heads/ironcurtain/%s/",
	    p->how->work->record.session);
	buf_init(&out, 4U << 20);
	r = REPO_GIT(p->env, &p->user.view, NONE, &out, fault, "for-each-ref",
	    "--format=%(objectname) %(refname) %(worktreepath)", under);
	rest = buf_span(&out);
	while (r == 0 && span_line(&rest, &line))
		if (names_take(names, line) == -1)
			r = fault_set(fault,
			    "%s has too many branches below ironcurtain/%s: "
			    "remove those that you do not need",
			    p->how->into, p->how->work->record.session);
	buf_free(&out);
	return r == 0 ? 0 : -1;
}

/* Returns true if one name is the other one, or a directory above it. */
static bool
names_clash(const char *a, const char *b)
{
	size_t i = 0;

	/* Some file systems fold case. */
	while (a[i] != '\0' && tolower((unsigned char)a[i]) ==
				   tolower((unsigned char)b[i]))
		i++;
	return (a[i] == '\0' || b[i] == '\0') &&
	       (a[i] == b[i] || a[i] == '/' || b[i] == '/');
}

/* Returns 1 if the user's branch may move to the commit, 0 if not, or -1. */
static int
names_forward(struct pulling *p, const struct theirs *t,
    const struct repo_pulled *r, struct fault *fault)
{
	int rv;

	if (strcmp(t->oid, r->oid) == 0)
		return 1;
	if (t->out)
		return 0;
	/* The quarantine has both: the user's objects are behind it. */
	rv = REPO_GIT(p->env, &p->view, NONE, NULL, fault, "merge-base",
	    "--is-ancestor", t->oid, r->oid);
	return rv == 0 || rv == 1 ? rv == 0 : -1;
}

/* Returns 1 if the branch may have this name, 0 if not, or -1. */
static int
names_try(struct pulling *p, const struct names *names, struct repo_pulled *r,
    struct fault *fault)
{
	const struct theirs *same = NULL;

	for (const struct repo_pulled *o = p->how->list; o != r; o++)
		if (names_clash(o->ref, r->ref))
			return 0;
	for (unsigned i = 0; i < names->n; i++) {
		if (strcmp(names->list[i].ref, r->ref) == 0)
			same = &names->list[i];
		else if (names_clash(names->list[i].ref, r->ref))
			return 0;
	}
	r->was[0] = '\0';
	r->same = false;
	if (same == NULL)
		return 1;
	(void)strlcpy(r->was, same->oid, sizeof(r->was));
	r->same = strcmp(same->oid, r->oid) == 0;
	return names_forward(p, same, r, fault);
}

static int
names_choose(struct pulling *p, const struct names *names,
    struct repo_pulled *r, struct fault *fault)
{
	const char *session = p->how->work->record.session;
	char flat[REPO_NAME];
	int ok;

	snprintf(r->ref, sizeof(r->ref), "ironcurtain/%s/%s", session,
	    r->from->name);
	if ((ok = names_try(p, names, r, fault)) != 0)
		return ok == 1 ? 0 : -1;
	/* A directory may be where the branch was: use none. */
	(void)strlcpy(flat, r->from->name, sizeof(flat));
	for (char *c = flat; *c != '\0'; c++)
		if (*c == '/')
			*c = '-';
	for (unsigned i = 2; i < NAMES_TRIES; i++) {
		snprintf(r->ref, sizeof(r->ref), "ironcurtain/%s/%s-%u",
		    session, flat, i);
		if ((ok = names_try(p, names, r, fault)) != 0)
			return ok == 1 ? 0 : -1;
	}
	return fault_set(fault,
	    "there are too many branches like ironcurtain/%s/%s: remove those "
	    "that you do not need",
	    session, r->from->name);
}

int
pull_names(struct pulling *p, struct fault *fault)
{
	static struct names names;

	if (names_list(p, &names, fault) == -1)
		return -1;
	for (unsigned i = 0; i < p->how->n; i++)
		if (names_choose(p, &names, &p->how->list[i], fault) == -1)
			return -1;
	return 0;
}
