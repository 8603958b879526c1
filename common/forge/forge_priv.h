/* SPDX-License-Identifier: ISC */
/* Shared by the files of this folder. */
#ifndef FORGE_PRIV_H
#define FORGE_PRIV_H

#include "common/forge/table.h"

/* target.c: a request target, taken apart and decoded. */
#define FORGE_MAX_PARTS	24U
#define FORGE_MAX_QUERY	40U

struct forge_target {
	struct span parts[FORGE_MAX_PARTS];
	size_t nparts;
	struct {
		struct span name, value;
	} query[FORGE_MAX_QUERY];
	size_t nquery;
};

/* The prefix of REST on this forge's hosts: "", "/api/v3" and so on. */
const char *forge_prefix(const struct forge_grant *);
/* Decode `target` without its prefix into the pool. Returns 0 or -1. */
int forge_target_read(const struct forge_grant *, struct value_pool *,
    struct span target, struct forge_target *, struct forge_fail *);
/* Append text with all but unreserved characters encoded. */
void forge_target_put(struct buf *, struct span);
/* Returns true for text without controls, hidden characters, "." and "..". */
bool forge_text_valid(struct span, size_t max);
/* Returns true for the name of a branch, a tag or a commit, or A...B. */
bool forge_ref_valid(struct span);
/* Returns true for 1 to 19 digits without a zero before them. */
bool forge_digits_valid(struct span);

/* route.c */
const struct value *forge_rest_read(const struct forge_grant *,
    struct value_pool *, struct span method, struct span target,
    struct span body, struct forge_fail *);
int forge_rest_check(struct forge_call *, struct forge_fail *);
int forge_rest_compose(const struct forge_call *, struct forge_request *);
/* Returns why nothing permits this path, or NULL. */
const char *forge_never_why(const struct forge_table *, struct span method,
    const struct forge_target *);

/* graphql.c */
/* Read a request, whose fields begin at this type, unless it is a mutation. */
const struct value *forge_graphql_read(const struct forge_type *query,
    struct value_pool *, struct span body, struct forge_fail *);

/* check_graphql.c */
int forge_graphql_check(struct forge_call *, struct forge_fail *);
/* Find the field of an object of a tree that an edge leads along. */
const struct forge_edge *forge_edge_find(
    const struct forge_type *, struct span name);
/* Find a type that "... on" may name within `in`, or return NULL. */
const struct forge_type *forge_part_find(
    const struct forge_type *in, struct span name);

/* compose_graphql.c */
int forge_graphql_compose(const struct forge_call *, struct forge_request *);

/* member.c */
/*
 * Check the members of an object, which may be NULL, against a closed list, and
 * gather their references. `what` names the object for messages.
 */
int forge_members_check(struct forge_call *, const struct forge_member *,
    const struct value *object, const char *what, struct forge_fail *);
/* Add a reference, or join it with one of the same thing. */
int forge_ref_add(struct forge_call *, const struct forge_ref *,
    struct forge_fail *);
/* Returns the index of the reference to such a thing, or call->nrefs. */
size_t forge_ref_find(
    const struct forge_call *, struct span id, uint32_t is);
bool forge_id_valid(struct span);

/* command.c */
/* Returns true if a line of a text is a command, as GitLab reads them. */
bool forge_quick_action(struct span text, struct span *word);

/* search.c */
/*
 * Check that a search is bound to listed repositories: it has one `repo:` or
 * more, each of a listed repository, and nothing that could widen it.
 */
int forge_search_check(
    const struct forge_grant *, struct span query, struct forge_fail *);

#endif
