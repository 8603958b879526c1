/* SPDX-License-Identifier: ISC */
/* One request on its way through all steps, for the tests of common/forge. */
#ifndef FORGE_CASE_H
#define FORGE_CASE_H

#include "common/forge/say.h"

#define CASE_REPOSITORIES 2

struct forge_case {
	struct forge_grant grant;
	struct span repositories[CASE_REPOSITORIES];
	struct value_pool *pool;
	struct forge_call call;
	struct forge_request request;
	struct forge_said said;
	struct forge_fail fail;
	const struct value *tree;
};

/* A grant for me/shop and me/tools, with every class allowed to be asked. */
void case_init(struct forge_case *, enum forge_kind);
void case_free(struct forge_case *);
/*
 * Read, put on the wire, decode, check and compose a request, and read what was
 * composed again: it has to give the same tree and the same bytes. Returns 0,
 * or -1 with the reason in c->fail.
 */
int case_run(struct forge_case *, const char *method, const char *target,
    struct span body);
/* case_run() for GraphQL: composes the body from a query and variables. */
int case_query(struct forge_case *, const char *query, const char *variables);
/* The composed body or target, as a string that the next call overwrites. */
const char *case_body(const struct forge_case *);
const char *case_target(const struct forge_case *);
/* Say the call, with things found; returns the sentence. */
const char *case_say(struct forge_case *, const struct forge_found *);

#endif
