/* SPDX-License-Identifier: ISC */
/*
 * The call tree: a request as it travels from mitmd to policyd, where it is
 * hostile input that value_decode() has read. The tree of a GraphQL request is
 *
 *   {"call": "query" or "mutation", "select": [FIELD or FRAGMENT, ...]}
 *   FIELD     {"name": N, "alias": N, "args": {N: VALUE}, "select": [...]}
 *   FRAGMENT  {"on": TYPE, "select": [...]}
 *
 * with alias, args and select only where there is one, variables and fragments
 * put in place, and enum values as strings, whose type the table knows. The
 * tree of a REST request is
 *
 *   {"call": "rest", "method": M, "route": N, "path": {N: STRING},
 *    "query": {N: STRING}, "body": {N: VALUE}}
 *
 * with the name of a row in the table of routes, and path, query and body
 * decoded.
 */
#ifndef FORGE_TREE_H
#define FORGE_TREE_H

#include "common/forge/forge.h"

/* A thing that a call names by an id or a number, to be looked up by keyd. */
enum forge_ref_kind {
	FORGE_REF_NODE,     /* a node id of GraphQL */
	FORGE_REF_NUMBER,   /* an issue or a pull request, by its number */
	FORGE_REF_COMMENT,  /* a comment, by its number */
	FORGE_REF_RUN,      /* a run of CI, by its number */
	FORGE_REF_JOB,      /* a job of CI, by its number */
	FORGE_REF_ARTIFACT, /* an artifact of CI, by its number */
	FORGE_REF_RELEASE,  /* a release, by its number */
	FORGE_REF_PROJECT,  /* a project of GitLab, by its number */
	FORGE_REF_USER,     /* a person on GitLab, by their number */
};

/* The types that an id may have, as bits: a node of another type is refused. */
#define FORGE_IS_REPOSITORY 0x0001U
#define FORGE_IS_ISSUE 0x0002U
#define FORGE_IS_PULL 0x0004U
#define FORGE_IS_COMMENT 0x0008U /* on an issue or a pull request */
#define FORGE_IS_REVIEW 0x0010U
#define FORGE_IS_LABEL 0x0020U
#define FORGE_IS_MILESTONE 0x0040U
#define FORGE_IS_USER 0x0080U
#define FORGE_IS_BOT 0x0100U
#define FORGE_IS_TEAM 0x0200U
#define FORGE_IS_RUN 0x0400U
#define FORGE_IS_RELEASE 0x0800U
#define FORGE_IS_PROJECT 0x1000U /* a repository of GitLab */
#define FORGE_IS_COMMIT 0x2000U
#define FORGE_IS_THREAD 0x4000U /* within a review */
#define FORGE_IS_JOB 0x8000U

/* These belong to a repository, which has to be on the list. */
#define FORGE_IS_OURS                                                          \
	(FORGE_IS_REPOSITORY | FORGE_IS_ISSUE | FORGE_IS_PULL |                \
	    FORGE_IS_COMMENT | FORGE_IS_REVIEW | FORGE_IS_LABEL |              \
	    FORGE_IS_MILESTONE | FORGE_IS_RUN | FORGE_IS_RELEASE |             \
	    FORGE_IS_PROJECT | FORGE_IS_COMMIT | FORGE_IS_THREAD |             \
	    FORGE_IS_JOB)

struct forge_ref {
	enum forge_ref_kind kind;
	uint32_t is;            /* FORGE_IS_* that are permitted */
	struct span id;         /* the id, or the digits of the number */
	struct span repository; /* as listed; p == NULL for a node id */
	const char *role;       /* the member that holds it: "labelIds" */
};

struct forge_field;
struct forge_route;

/*
 * A call that forge_check() has accepted. Its spans point into the tree, into
 * the grant or into tables.
 */
struct forge_call {
	const struct forge_grant *grant;
	const struct value *tree;
	enum forge_class class;
	/*
	 * The repository that the call names, as listed; p == NULL if only
	 * its references tell.
	 */
	struct span repository;
	const struct forge_field *mutation; /* NULL: none */
	const struct forge_route *route;    /* NULL: GraphQL */
	/*
	 * `follow`: an answer that redirects may be followed, once, to a host
	 * of forge_follow_host(), without the credential.
	 */
	bool follow;
	/* `cut`: the answer has to go through forge_answer_cut(). */
	bool cut;
	struct forge_ref refs[FORGE_MAX_REFS];
	size_t nrefs;
};

/*
 * Check a tree that may be hostile against the tables and the grant. Returns 0
 * with `*call`, or -1 with `fail` filled in. The caller still has to ask
 * call->grant->word[call->class], and to have every reference looked up.
 */
int forge_check(const struct forge_grant *, const struct value *tree,
    struct forge_call *call, struct forge_fail *fail);

/* A request as it is sent; the buffers have a maximum that fits every call. */
struct forge_request {
	const char *method;
	struct buf target;
	struct buf body; /* empty: no body is sent */
};

void forge_request_init(struct forge_request *);
void forge_request_free(struct forge_request *);
/*
 * Compose the request of a checked call from its tree alone, in one canonical
 * form. Returns 0, or -1 with errno ENOBUFS.
 */
int forge_compose(const struct forge_call *, struct forge_request *);

/* Returns true if a blob host's name, lower case, may be redirected to. */
bool forge_follow_host(enum forge_kind, struct span host);

/* A place that an answer redirects to; both point into its Location. */
struct forge_place {
	struct span host;   /* lower case, port 443 */
	struct span target; /* path and query, at most `most` bytes */
};
/*
 * Read the Location of an answer. Returns NULL, or why it is not followed, in
 * words that have nothing of it.
 */
const char *forge_place_read(
    enum forge_kind, struct span location, size_t most, struct forge_place *);
/*
 * Returns true if the answer for this value of Accept is a text, which has no
 * members: all others have to be JSON, or nothing can be cut out of them.
 */
bool forge_accept(const struct forge_call *, struct span value);

/* The most of an answer that is held, so that members can be cut out. */
#define FORGE_MAX_ANSWER (16U << 20)
/*
 * Returns true if the answer to a request has to go through forge_answer_cut(),
 * with a call that is good for that alone. The request was checked before.
 */
bool forge_cuts(const struct forge_grant *, struct span method,
    struct span target, struct forge_call *);
/*
 * Append the answer `json` without the members that no agent may see. Returns
 * 0, or -1 with errno EBADMSG if it is not JSON within the limits, or EACCES if
 * it has what GitLab shows to those alone who may administer a project, and the
 * grant is not `classic`: then nothing of it may be passed on.
 */
int forge_answer_cut(
    const struct forge_call *, struct span json, struct buf *out);

/*
 * Append the JSON that a tool prints for a refusal: `errors` for GraphQL,
 * `message` for REST. `graphql` says which. Returns the HTTP status, 200 for
 * GraphQL, or -1 with errno ENOBUFS.
 */
int forge_refusal(bool graphql, const char *why, struct buf *out);
/* Returns true if a request to this target is GraphQL. */
bool forge_is_graphql(const struct forge_grant *, struct span target);

#endif
