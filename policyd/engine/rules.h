/* SPDX-License-Identifier: ISC */
/*
 * Compiled rules, as read from compiled-policy.json. A rule with an unknown
 * condition is refused: ignoring the condition would widen the rule. The sets
 * and host places of the rules are derived once all files have been read
 * (engine.c).
 */
#ifndef RULES_H
#define RULES_H

#include "common/ipc/proto.h"
#include "engine/lists.h"

#define RULES_MAX	50000U
#define RULES_MAX_LISTS	16U		/* for one rule */

struct rule_list {
	uint32_t roles;
	enum match_type type;
	const struct value *allowed;
};

struct rule {
	const struct value *source;	/* as in the file */
	struct span name;
	struct span reason;
	enum proto_status then;
	bool person;	/* "autoApprove": false */
	/* The conditions that the rule has. */
	bool has_roles, has_paths, has_domains;
	uint32_t roles;
	const struct value *servers;	/* array of names, or NULL: any */
	const struct value *tools;
	uint32_t path_roles;
	struct span within;		/* as written in the file */
	const struct value *links;	/* the only links through which paths
					   may be named, in a rule that
					   allows; NULL: any */
	uint32_t domain_roles;
	const struct value *domains;
	/* Patterns of what servers offer beside tools. A rule that has one of
	   them is about that and about no tool. */
	const struct value *resources, *prompts, *completion;
	struct rule_list *lists;
	unsigned nlists;
	uint32_t list_roles;		/* the roles of all list conditions */
};

struct rules {
	struct load_doc doc;
	struct rule *rules;
	size_t n;
	struct span constitution;	/* hash of the constitution, or empty */
	bool read_only;			/* "workspace": "read-only" */
};

int rules_load(struct rules *, struct span text, struct load *);
void rules_free(struct rules *);

/*
 * Compute the digest of the rule as it was written, white space and the order of
 * members aside. Returns 0, or -1 with errno.
 */
int rule_digest(const struct rule *, uint8_t digest[32]);
/* Returns true if the rule is about resources, prompts or completion. */
bool rule_of_parts(const struct rule *);
/* Returns true if the pattern, in which * is any text, matches the name. */
bool rule_pattern(struct span pattern, struct span name);
/* Returns true if `array` is NULL or holds the name. */
bool rule_names(const struct value *array, struct span name);

#endif
