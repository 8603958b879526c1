/* SPDX-License-Identifier: ISC */
/*
 * Calls of an agent to the API of a forge (GitHub, GitLab, Gitea), as GraphQL
 * or REST. Nothing here does I/O: mitmd reads a request into a call tree,
 * policyd checks that tree against tables of its own and composes what is sent
 * and what a person sees, and keyd looks up what the ids in it stand for.
 *
 *   mitmd    forge_request_read() -> tree; value_encode() onto the wire
 *   policyd  value_decode(); forge_check() -> struct forge_call;
 *            forge_compose() -> method, target and body;
 *            forge_say() -> sentence, notes and whole text
 *   keyd     forge_lookup_compose(), forge_lookup_read() for each reference
 *   mitmd    forge_answer_cut(), forge_refusal()
 *
 * Every process may call every function: the tables are compiled in, and a
 * check of another process is never taken for one's own.
 */
#ifndef FORGE_H
#define FORGE_H

#include "common/buf.h"
#include "common/json/value.h"

enum forge_kind {
	FORGE_GITHUB,
	FORGE_GITLAB,
	FORGE_GITEA,
	FORGE_KINDS,
};

/* Every call belongs to one class, for which the settings have a word. */
enum forge_class {
	FORGE_NEVER, /* whatever the settings say */
	FORGE_READ,
	FORGE_WRITE, /* issues, pull requests, comments, reviews, labels */
	FORGE_RUN,   /* starting and cancelling what CI runs */
	FORGE_MERGE,
	FORGE_RELEASE,
	FORGE_CLASSES,
};

enum forge_word {
	FORGE_DENY,
	FORGE_ASK,
	FORGE_ALLOW,
};

#define FORGE_MAX_QUERY_TEXT (64U << 10) /* the text of GraphQL */
#define FORGE_MAX_BODY (128U << 10)      /* with its variables; REST */
#define FORGE_MAX_TARGET 2048U
#define FORGE_MAX_REPOSITORIES 64U
#define FORGE_MAX_REPOSITORY 140U /* "owner/name", in GitLab deeper */
#define FORGE_MAX_REFS 48U        /* references in one call */
#define FORGE_MAX_ID 200U
#define FORGE_MAX_WHY 240U

/* A destination's settings; the caller owns what it points to. */
struct forge_grant {
	enum forge_kind kind;
	/*
	 * The API of GitHub is below /api/v3 and at /api/graphql on hosts other
	 * than api.github.com.
	 */
	bool enterprise;
	const struct span *repositories; /* "owner/name" */
	size_t nrepositories;
	enum forge_word word[FORGE_CLASSES];
	/* A token may be used that can do more than the list needs. */
	bool classic;
};

/* Why a request is refused, in printable ASCII, for the agent. */
struct forge_fail {
	char why[FORGE_MAX_WHY];
};

/* "read", "write" and so on, as in config.json. */
const char *forge_class_name(enum forge_class);
const char *forge_kind_name(enum forge_kind);
/* Find a kind by its name in config.json. Returns 0, or -1 with EINVAL. */
int forge_kind_find(struct span name, enum forge_kind *);
/*
 * Returns true if `name` is an owner and a name that this kind of forge
 * allows, and nothing that a path, a query or a shell would read differently.
 */
bool forge_repository_valid(enum forge_kind, struct span name);
/*
 * Returns true if this token can be used for every repository of its owner: a
 * classic one of GitHub, by its form.
 */
bool forge_token_is_classic(enum forge_kind, struct span token);
/* Returns the listed repository of this name, or a span with p == NULL. */
struct span forge_repository_find(const struct forge_grant *, struct span name);

/*
 * Read a request into a call tree, which is in the pool or points into `target`
 * and `body`. `target` is as received; `body` is whole, and empty if there was
 * none. It checks form and limits, not whether the call is allowed. Returns
 * NULL with `fail` filled in.
 */
const struct value *forge_request_read(const struct forge_grant *,
    struct value_pool *, struct span method, struct span target,
    struct span body, struct forge_fail *fail);

/*
 * Returns true if a request to `target` has to be read whole before
 * forge_request_read(): every method but GET and HEAD.
 */
bool forge_needs_body(struct span method);

#endif
