/* SPDX-License-Identifier: ISC */
/* Compares what rules of two policies allow. */
#ifndef COMPILE_COVER_H
#define COMPILE_COVER_H

#include "icctl/policy/policy.h"
#include "policyd/engine/annot.h"
#include "policyd/engine/lists.h"
#include "policyd/engine/rules.h"

/* A policy as policyd reads it. */
struct cover_policy {
	struct rules rules;
	struct annots annots;
	struct lists lists;
};

/*
 * Load the files, of which any may be absent. Returns 0, or -1 with the fault
 * set.
 */
int cover_load(
    struct cover_policy *, const struct policy_set *, struct fault *);
void cover_free(struct cover_policy *);
/* Returns true if a rule is about the tool. */
bool cover_names_tool(const struct rule *, const struct annot_tool *);
/*
 * Call `fn` for every value of a condition, with lists replaced by their
 * effective values.
 */
typedef void cover_value_fn(void *arg, struct span value);
void cover_values(const struct cover_policy *, const struct value *allowed,
    cover_value_fn *, void *arg);
/* Returns true if the condition has this very value. */
bool cover_has_value(
    const struct cover_policy *, const struct value *allowed, struct span);
/*
 * Returns true if everything that the rule `n` of `new` allows was allowed by
 * one rule of `old`, and nothing that limited that rule is gone.
 */
bool cover_rule(const struct cover_policy *old, const struct cover_policy *new,
    size_t n);
/*
 * Returns true if the rule `n` of `old`, which asks or denies, may keep a file
 * of the workspace from being used that is reached through a link elsewhere,
 * and no rule of `new` does.
 */
bool cover_links_freed(const struct cover_policy *old,
    const struct cover_policy *new, size_t n);
/*
 * whole.c: Returns false if it is plain that no call of the tool which is not
 * allowed in `old` is allowed in `new` by the rule, because another role of
 * such a call is not; `usual`: no call without anything on which its roles
 * depend.
 */
bool cover_whole(const struct cover_policy *old,
    const struct cover_policy *new, const struct rule *,
    const struct annot_tool *, bool usual);
/*
 * Returns true if nothing that only a person could answer in `old`, because of
 * "autoApprove": false, is asked by the rule `n` of `new`, which has no such
 * mark.
 */
bool cover_asks(const struct cover_policy *old, const struct cover_policy *new,
    size_t n);

#endif
