/* SPDX-License-Identifier: ISC */
/*
 * Composes the requests that look up what an id or a number stands for. Their
 * texts are fixed but for the id, which was checked when the reference was
 * made, and is checked again here.
 */
#include "common/forge/say.h"

#include <errno.h>

#include "common/forge/forge_priv.h"
#include "common/json/json.h"

/* Aliases keep fields of different types apart. */
static const char node_query[] =
    "query($id:ID!){node(id:$id){__typename "
    "...on Repository{nameWithOwner} "
    "...on Issue{number title issueState:state repository{nameWithOwner}} "
    "...on PullRequest{number title pullState:state base:baseRefName "
    "head:headRefName repository{nameWithOwner}} "
    "...on IssueComment{issue{number title} repository{nameWithOwner}} "
    "...on PullRequestReview{pullRequest{number title} "
    "repository{nameWithOwner}} "
    "...on Label{name repository{nameWithOwner}} "
    "...on Milestone{title repository{nameWithOwner}} "
    "...on User{login} ...on Bot{login} "
    "...on Team{slug organization{login}}}}";

static const char number_query[] =
    "query($owner:String!,$name:String!,$number:Int!){"
    "repository(owner:$owner,name:$name){"
    "node:issueOrPullRequest(number:$number){__typename "
    "...on Issue{number title issueState:state repository{nameWithOwner}} "
    "...on PullRequest{number title pullState:state base:baseRefName "
    "head:headRefName repository{nameWithOwner}}}}}";

static void
put_graphql(const struct forge_grant *grant, struct forge_request *r)
{
	r->method = "POST";
	buf_adds(&r->target, grant->enterprise ? "/api/graphql" : "/graphql");
}

static void
compose_node(const struct forge_ref *ref, struct buf *b)
{
	buf_printf(b, "{\"query\":\"%s\",\"variables\":{\"id\":", node_query);
	(void)json_write_string(b, ref->id);
	buf_adds(b, "}}");
}

static void
compose_number(const struct forge_ref *ref, struct buf *b)
{
	const uint8_t *slash =
	    memchr(ref->repository.p, '/', ref->repository.len);
	size_t n = (size_t)(slash - ref->repository.p);

	buf_printf(
	    b, "{\"query\":\"%s\",\"variables\":{\"owner\":", number_query);
	(void)json_write_string(b, span_of(ref->repository.p, n));
	buf_adds(b, ",\"name\":");
	(void)json_write_string(
	    b, span_of(slash + 1, ref->repository.len - n - 1));
	buf_adds(b, ",\"number\":");
	buf_addspan(b, ref->id);
	buf_adds(b, "}}");
}

/* The end of the path of a thing in its repository, by the kind of forge. */
static const char *
rest_path(enum forge_kind kind, const struct forge_ref *ref)
{
	bool lab = kind == FORGE_GITLAB;

	switch (ref->kind) {
	case FORGE_REF_NUMBER:
		if (!lab)
			return "/issues/";
		return ref->is & FORGE_IS_ISSUE ? "/issues/"
						: "/merge_requests/";
	case FORGE_REF_COMMENT:
		return "/issues/comments/";
	case FORGE_REF_RUN:
		return lab ? "/pipelines/" : "/actions/runs/";
	case FORGE_REF_JOB:
		return lab ? "/jobs/" : "/actions/jobs/";
	case FORGE_REF_RELEASE:
		return "/releases/";
	case FORGE_REF_ARTIFACT:
	case FORGE_REF_NODE:
	case FORGE_REF_PROJECT:
	case FORGE_REF_USER:
		break;
	}
	return NULL;
}

static int
compose_rest(const struct forge_grant *grant, const struct forge_ref *ref,
    struct forge_request *r)
{
	const char *tail = rest_path(grant->kind, ref);
	bool lab = grant->kind == FORGE_GITLAB;

	r->method = "GET";
	buf_adds(&r->target, forge_prefix(grant));
	if (ref->kind == FORGE_REF_PROJECT) {
		buf_adds(&r->target, "/projects/");
	} else if (ref->kind == FORGE_REF_USER) {
		buf_adds(&r->target, "/users/");
	} else if (tail == NULL || ref->repository.p == NULL) {
		errno = EINVAL;
		return -1;
	} else {
		buf_adds(&r->target, lab ? "/projects/" : "/repos/");
		for (size_t i = 0; i < ref->repository.len; i++) {
			if (ref->repository.p[i] == '/' && lab)
				buf_adds(&r->target, "%2F");
			else
				buf_addc(&r->target, ref->repository.p[i]);
		}
		buf_adds(&r->target, tail);
	}
	buf_addspan(&r->target, ref->id);
	return 0;
}

int
forge_lookup_compose(const struct forge_grant *grant,
    const struct forge_ref *ref, struct forge_request *r)
{
	bool hub = grant->kind == FORGE_GITHUB;

	buf_reset(&r->target, FORGE_MAX_TARGET);
	buf_reset(&r->body, FORGE_MAX_BODY);
	if (ref->kind == FORGE_REF_NODE ? !hub || !forge_id_valid(ref->id)
					: !forge_digits_valid(ref->id)) {
		errno = EINVAL;
		return -1;
	}
	if (ref->kind == FORGE_REF_NODE) {
		put_graphql(grant, r);
		compose_node(ref, &r->body);
	} else if (ref->kind == FORGE_REF_NUMBER && hub) {
		put_graphql(grant, r);
		compose_number(ref, &r->body);
	} else if (compose_rest(grant, ref, r) == -1) {
		return -1;
	}
	return buf_check(&r->target) == -1 ? -1 : buf_check(&r->body);
}

size_t
forge_lookup_max(const struct forge_grant *grant, const struct forge_ref *ref)
{
	if (grant->kind == FORGE_GITHUB &&
	    (ref->kind == FORGE_REF_NODE || ref->kind == FORGE_REF_NUMBER))
		return FORGE_MAX_LOOKUP;
	return FORGE_MAX_LOOKUP_REST;
}
