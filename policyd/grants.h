/* SPDX-License-Identifier: ISC */
/*
 * What the user approved for the session (original.md 1.11): a tool of a
 * server, within directories, at domains or with values that were shown before
 * they were granted.  A grant turns an escalation of the rule that asked into
 * an allowance; it never touches a denial, another tool, another role, nor a
 * place beyond those shown.  Held in memory, for this session.
 */
#ifndef GRANTS_H
#define GRANTS_H

#include "engine/eval.h"

#define GRANTS_MAX	64U
#define GRANT_LIMITS	16U
#define GRANT_TEXT	2048U

/* Within limits; these arguments alone; any plain ones, so many times. */
enum grant_form { GRANT_LIMITED, GRANT_SAME, GRANT_COUNTED };
enum grant_kind { GRANT_DIRECTORY, GRANT_DOMAIN, GRANT_EXACT };

/* Each value of the role must meet one of the limits of that role. */
struct grant_limit {
	enum arg_role role;
	enum grant_kind kind;
	struct span value;
};

struct grant {
	uint64_t id;		/* the call that was approved */
	struct span server, tool, rule;
	enum grant_form form;
	struct grant_limit limits[GRANT_LIMITS];
	unsigned n;
	/* Of the other forms: the tool's definition, and the arguments. */
	uint8_t def[32], args[32];
	bool counted;		/* offered: so many times, too */
	unsigned left;		/* GRANT_COUNTED: calls, and until when */
	uint64_t until;		/* ms of the loop's clock */
};

struct grants {
	struct grant list[GRANTS_MAX];	/* texts are owned */
	unsigned n;
};

/*
 * What an approval of this escalated call would grant; its texts live as long
 * as the request. -1: nothing that could be granted is narrow enough.
 */
int grant_offer(const struct engine *, const struct request *,
    const struct decision *, struct grant *);
/*
 * As people are shown it, canonical JSON: {"constraints":[{"kind","role",
 * "value"}],"description","rule"}; of GRANT_SAME {"description","exact":true,
 * "rule","times":20}, the last where it may be counted instead; of
 * GRANT_COUNTED {"description","rule","times"}. -1: too long to be shown, so
 * not granted.
 */
int grant_text(const struct grant *, struct value_pool *, struct span *);
/* "Allow SERVER/TOOL within DIR, at HOST": in the pool. */
struct span grant_describe(const struct grant *, struct value_pool *);

/* Copies. -1 with errno: ENOBUFS when there are GRANTS_MAX already. */
int grants_add(struct grants *, uint64_t id, const struct grant *);
void grants_free(struct grants *);
/* Forget the i-th; those behind it move up. */
void grants_drop(struct grants *, unsigned i);
/*
 * Is this escalated call granted? Then *d becomes its allowance, named in its
 * reason.  NULL: it is not, or *d became another escalation or a denial, which
 * the grant does not speak of.
 */
const struct grant *grants_apply(const struct grants *, const struct engine *,
    const struct request *, struct decision *d);

#endif
