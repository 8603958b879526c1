/* SPDX-License-Identifier: ISC */
/*
 * Reads what a forge answered to a lookup, and refuses what the call may not
 * name. A forge may lie about its own things and gains nothing by it; a name
 * that it makes up is shown escaped, as all names are.
 */
#include "common/forge/say.h"

#include <errno.h>

#include "common/forge/forge_priv.h"
#include "common/json/json.h"
#include "common/visible.h"

#define FOUND_MAX_TITLE 1024U

static const struct {
	uint32_t is;
	const char *name; /* in GraphQL, and on the wire */
} types[] = {
    {FORGE_IS_REPOSITORY, "Repository"},
    {FORGE_IS_ISSUE, "Issue"},
    {FORGE_IS_PULL, "PullRequest"},
    {FORGE_IS_COMMENT, "IssueComment"},
    {FORGE_IS_REVIEW, "PullRequestReview"},
    {FORGE_IS_LABEL, "Label"},
    {FORGE_IS_MILESTONE, "Milestone"},
    {FORGE_IS_USER, "User"},
    {FORGE_IS_BOT, "Bot"},
    {FORGE_IS_TEAM, "Team"},
    {FORGE_IS_RUN, "Run"},
    {FORGE_IS_JOB, "Job"},
    {FORGE_IS_RELEASE, "Release"},
    {FORGE_IS_PROJECT, "Project"},
};

static const char *
type_name(uint32_t is)
{
	for (size_t i = 0; i < nitems(types); i++) {
		if (types[i].is == is)
			return types[i].name;
	}
	return "something else";
}

static uint32_t
type_find(struct span name)
{
	for (size_t i = 0; i < nitems(types); i++) {
		if (span_is(name, types[i].name))
			return types[i].is;
	}
	return 0;
}

static void
set_number(struct forge_found *f, const struct value *v)
{
	int64_t n;

	if (value_int(v, 1, INT64_MAX, &n) == 0)
		f->number = (uint64_t)n;
}

/* The number at the end of an address, such as that of a comment's issue. */
static void
set_number_of(struct forge_found *f, struct span url)
{
	const uint8_t *p = url.p;
	size_t n = 0;

	while (n < url.len && p[url.len - n - 1] >= '0' &&
	       p[url.len - n - 1] <= '9')
		n++;
	if (span_u64(span_of(p + url.len - n, n), INT64_MAX, &f->number) == -1)
		f->number = 0;
}

static struct span
name_of(const struct value *v, const char *key)
{
	return value_str(value_get(v, key), "nameWithOwner");
}

/* Read a node of GraphQL. */
static void
read_node(const struct value *v, struct forge_found *f)
{
	const struct value *in = v;

	f->is = type_find(value_str(v, "__typename"));
	f->repository = name_of(v, "repository");
	if (f->is == FORGE_IS_REPOSITORY)
		f->repository = value_str(v, "nameWithOwner");
	if (f->is == FORGE_IS_COMMENT)
		in = value_get(v, "issue");
	else if (f->is == FORGE_IS_REVIEW)
		in = value_get(v, "pullRequest");
	set_number(f, value_get(in, "number"));
	f->title = value_str(
	    in, f->is == FORGE_IS_LABEL                           ? "name"
		: f->is == FORGE_IS_TEAM                          ? "slug"
		: f->is == FORGE_IS_USER || f->is == FORGE_IS_BOT ? "login"
								  : "title");
	f->state =
	    value_str(v, f->is == FORGE_IS_ISSUE ? "issueState" : "pullState");
	f->base = value_str(v, "base");
	f->head = value_str(v, "head");
}

/* Read an issue or a pull request of REST. */
static void
read_numbered(const struct forge_grant *grant, const struct forge_ref *ref,
    const struct value *v, struct forge_found *f)
{
	const struct value *pull = value_get(v, "pull_request");

	f->is = pull != NULL && pull->type == VALUE_OBJECT ? FORGE_IS_PULL
							   : FORGE_IS_ISSUE;
	if (grant->kind == FORGE_GITLAB) {
		f->is =
		    ref->is & FORGE_IS_ISSUE ? FORGE_IS_ISSUE : FORGE_IS_PULL;
		f->base = value_str(v, "target_branch");
		f->head = value_str(v, "source_branch");
	}
	set_number(
	    f, value_get(v, grant->kind == FORGE_GITLAB ? "iid" : "number"));
	f->title = value_str(v, "title");
	f->state = value_str(v, "state");
}

static void
read_run(const struct value *v, bool job, struct forge_found *f)
{
	f->is = job ? FORGE_IS_JOB : FORGE_IS_RUN;
	set_number(f, value_get(v, "id"));
	f->title = value_str(v, "name");
	f->head = value_str(v, "head_branch");
	if (f->head.p == NULL)
		f->head = value_str(v, "ref");
}

static void
read_rest(const struct forge_grant *grant, const struct forge_ref *ref,
    const struct value *v, struct forge_found *f)
{
	f->repository = ref->repository;
	switch (ref->kind) {
	case FORGE_REF_NUMBER:
		read_numbered(grant, ref, v, f);
		return;
	case FORGE_REF_COMMENT:
		f->is = FORGE_IS_COMMENT;
		set_number_of(f, value_str(v, "issue_url"));
		if (f->number == 0)
			set_number_of(f, value_str(v, "pull_request_url"));
		return;
	case FORGE_REF_RUN:
	case FORGE_REF_JOB:
		read_run(v, ref->kind == FORGE_REF_JOB, f);
		return;
	case FORGE_REF_RELEASE:
		f->is = FORGE_IS_RELEASE;
		set_number(f, value_get(v, "id"));
		f->title = value_str(v, "tag_name");
		return;
	case FORGE_REF_PROJECT:
		f->is = FORGE_IS_PROJECT;
		set_number(f, value_get(v, "id"));
		f->repository = value_str(v, "path_with_namespace");
		return;
	case FORGE_REF_USER:
		f->is = FORGE_IS_USER;
		set_number(f, value_get(v, "id"));
		f->title = value_str(v, "username");
		return;
	case FORGE_REF_NODE:
	case FORGE_REF_ARTIFACT:
		return;
	}
}

/* Cut a text that is longer than a forge's names are. */
static void
cut_text(struct span *s)
{
	if (s->p != NULL)
		s->len = visible_cut(*s, FOUND_MAX_TITLE);
}

/* Check a found thing against the reference and the list. */
static int
found_check(const struct forge_grant *grant, const struct forge_ref *ref,
    struct forge_found *f, struct forge_fail *fail)
{
	char brief[FORGE_BRIEF];
	struct span listed;
	uint64_t id;

	if (f->is == 0 || (f->is & ref->is) == 0)
		return forge_refuse(fail,
		    "\"%s\" is %s, which is not "
		    "permitted here",
		    ref->role, type_name(f->is));
	cut_text(&f->title);
	cut_text(&f->state);
	cut_text(&f->base);
	cut_text(&f->head);
	if (ref->kind != FORGE_REF_NODE && ref->kind != FORGE_REF_COMMENT &&
	    (span_u64(ref->id, INT64_MAX, &id) == -1 || id != f->number))
		return forge_refuse(fail,
		    "the forge answered about another "
		    "number than the one that \"%s\" has",
		    ref->role);
	if ((f->is & FORGE_IS_OURS) == 0) {
		f->repository = (struct span){NULL, 0};
		return 0;
	}
	listed = f->repository.p == NULL
		     ? f->repository
		     : forge_repository_find(grant, f->repository);
	if (listed.p == NULL)
		return forge_refuse(fail,
		    "\"%s\" belongs to %s, which is not "
		    "on the list of this destination; do not try again",
		    ref->role,
		    f->repository.p == NULL
			? "another repository"
			: forge_brief(f->repository, brief));
	f->repository = listed;
	if (ref->repository.p != NULL && !span_eq(ref->repository, listed))
		return forge_refuse(fail,
		    "\"%s\" belongs to another "
		    "repository than the one that is named",
		    ref->role);
	return 0;
}

int
forge_lookup_read(const struct forge_grant *grant, struct value_pool *pool,
    const struct forge_ref *ref, struct span answer, struct forge_found *found,
    struct forge_fail *fail)
{
	bool graphql =
	    grant->kind == FORGE_GITHUB &&
	    (ref->kind == FORGE_REF_NODE || ref->kind == FORGE_REF_NUMBER);
	struct forge_found f = {0};
	const struct value *v;

	if (answer.len > forge_lookup_max(grant, ref))
		return forge_refuse(fail,
		    "the forge's answer about \"%s\" is "
		    "too long",
		    ref->role);
	if ((v = json_read(pool, answer, NULL)) == NULL)
		return forge_refuse(fail,
		    "the forge's answer about \"%s\" is "
		    "not JSON",
		    ref->role);
	if (graphql) {
		v = value_get(v, "data");
		if (ref->kind == FORGE_REF_NUMBER)
			v = value_get(v, "repository");
		v = value_get(v, "node");
	}
	if (v == NULL || v->type != VALUE_OBJECT)
		return forge_refuse(fail,
		    "the forge knows nothing that \"%s\" "
		    "could be, or does not show it to this credential",
		    ref->role);
	if (graphql)
		read_node(v, &f);
	else
		read_rest(grant, ref, v, &f);
	if (found_check(grant, ref, &f, fail) == -1)
		return -1;
	*found = f;
	return 0;
}

static int
put(struct value_pool *pool, struct value *to, const char *key, struct span s)
{
	if (s.p == NULL)
		return 0;
	return value_set(to, span_str(key), value_new_string(pool, s));
}

const struct value *
forge_found_tree(struct value_pool *pool, const struct forge_found *f)
{
	struct value *v;

	if ((v = value_new(pool, VALUE_OBJECT)) == NULL ||
	    put(pool, v, "base", f->base) == -1 ||
	    put(pool, v, "head", f->head) == -1 ||
	    put(pool, v, "is", span_str(type_name(f->is))) == -1 ||
	    value_set(v, SPAN("number"),
		value_new_number(pool, (int64_t)f->number)) == -1 ||
	    put(pool, v, "repository", f->repository) == -1 ||
	    put(pool, v, "state", f->state) == -1 ||
	    put(pool, v, "title", f->title) == -1)
		return NULL;
	return v;
}

/* Take a text off a tree. Returns -1 if it is no string or too long. */
static int
take(const struct value *v, const char *key, uint32_t *left, struct span *s)
{
	const struct value *m = value_get(v, key);

	*s = (struct span){NULL, 0};
	if (m == NULL)
		return 0;
	if (m->type != VALUE_STRING || m->text.len > FOUND_MAX_TITLE)
		return -1;
	(*left)--;
	*s = m->text;
	return 0;
}

int
forge_found_read(const struct forge_grant *grant, const struct forge_ref *ref,
    const struct value *v, struct forge_found *found)
{
	struct forge_found f = {0};
	struct forge_fail fail;
	uint32_t left;
	struct span is;
	int64_t n;

	if (v == NULL || v->type != VALUE_OBJECT)
		goto bad;
	left = v->count;
	if (take(v, "base", &left, &f.base) == -1 ||
	    take(v, "head", &left, &f.head) == -1 ||
	    take(v, "is", &left, &is) == -1 ||
	    take(v, "repository", &left, &f.repository) == -1 ||
	    take(v, "state", &left, &f.state) == -1 ||
	    take(v, "title", &left, &f.title) == -1 ||
	    value_int(value_get(v, "number"), 0, INT64_MAX, &n) == -1 ||
	    left != 1)
		goto bad;
	f.is = type_find(is);
	f.number = (uint64_t)n;
	if (found_check(grant, ref, &f, &fail) == -1)
		goto bad;
	*found = f;
	return 0;
bad:
	errno = EBADMSG;
	return -1;
}
