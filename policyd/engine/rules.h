/* SPDX-License-Identifier: ISC */
/*
 * Compiled rules (original.md 1.9), as read from compiled-policy.json.  A rule
 * with a condition that we do not know is refused: leaving it out would widen
 * the rule.  Sets and places on the host are derived when all files are there
 * (engine.c).
 */
#ifndef RULES_H
#define RULES_H

#include "common/ipc/proto.h"
#include "engine/lists.h"

#define RULES_MAX	50000U
#define RULES_MAX_LISTS	16U		/* list conditions of one rule */

struct rule_list {
	uint32_t roles;
	enum match_type type;
	const struct value *allowed;
};

struct rule {
	struct span name;
	struct span reason;
	enum proto_status then;
	/* Which conditions there are. */
	bool has_roles, has_paths, has_domains;
	uint32_t roles;
	const struct value *servers;	/* array of names, or NULL: any */
	const struct value *tools;
	uint32_t path_roles;
	struct span within;		/* as written */
	uint32_t domain_roles;
	const struct value *domains;
	struct rule_list *lists;
	unsigned nlists;
	uint32_t list_roles;		/* of any list condition */
};

struct rules {
	struct load_doc doc;
	struct rule *rules;
	size_t n;
	struct span constitution;	/* hash, or empty */
};

int rules_load(struct rules *, struct span text, struct load *);
void rules_free(struct rules *);

/* Is the name among the strings of the array? NULL: any is. */
bool rule_names(const struct value *array, struct span name);

#endif
