/* SPDX-License-Identifier: ISC */
/*
 * Approvals of the user for the session: a tool of a server, within
 * directories, at domains or with values that were shown before they were
 * granted. A grant allows a call that the same rule would escalate; it never
 * overrides a denial or covers another tool, another role, or a place beyond
 * those shown. Grants are kept in memory for this session only.
 */
#ifndef GRANTS_H
#define GRANTS_H

#include "engine/eval.h"

#define GRANTS_MAX	64U
#define GRANT_LIMITS	16U
#define GRANT_TEXT	2048U

/* Within limits; these very arguments; any plain arguments, N times. */
enum grant_form { GRANT_LIMITED, GRANT_SAME, GRANT_COUNTED };
enum grant_kind { GRANT_DIRECTORY, GRANT_DOMAIN, GRANT_EXACT };

/* Each value of the role must meet one of the role's limits. */
struct grant_limit {
	enum arg_role role;
	enum grant_kind kind;
	struct span value;
};

struct grant {
	uint64_t id;		/* id of the call that was approved */
	struct span server, tool, rule;
	enum grant_form form;
	struct grant_limit limits[GRANT_LIMITS];
	unsigned n;
	/*
	 * For the other forms: digests of the tool's definition and of the
	 * arguments.
	 */
	uint8_t def[32], args[32];
	bool counted;		/* GRANT_SAME that may be counted instead */
	unsigned left;		/* GRANT_COUNTED: remaining calls ... */
	uint64_t until;		/* ... and the end, in ms of the loop's clock */
};

struct grants {
	struct grant list[GRANTS_MAX];	/* owns its texts */
	unsigned n;
};

/*
 * Fill in what an approval of this escalated call would grant; the texts live
 * as long as the request. Returns 0, or -1 if nothing that could be granted is
 * narrow enough.
 */
int grant_offer(const struct engine *, const struct request *,
    const struct decision *, struct grant *);
/*
 * Write the grant as it is shown to people, in canonical JSON:
 *   GRANT_LIMITED {"constraints":[{"kind","role","value"}],"description",
 *     "rule"};
 *   GRANT_SAME {"description","exact":true,"rule","times":20}, with "times"
 *     only if it may be counted instead;
 *   GRANT_COUNTED {"description","rule","times"}.
 * Returns 0, or -1 if it is too long to be shown; it must not be granted then.
 */
int grant_text(const struct grant *, struct value_pool *, struct span *);
/* Returns "Allow SERVER/TOOL within DIR, at HOST" in the pool. */
struct span grant_describe(const struct grant *, struct value_pool *);

/*
 * Copy a grant. Returns 0, or -1 with errno: ENOBUFS after GRANTS_MAX grants.
 */
int grants_add(struct grants *, uint64_t id, const struct grant *);
void grants_free(struct grants *);
/* Remove the i-th grant; those after it move up. */
void grants_drop(struct grants *, unsigned i);
/*
 * Look for a grant that covers this escalated call. Returns it, with *d set to
 * an allow that names it in its reason; or NULL, with *d unchanged or set to
 * another escalation or a denial, which the grant does not cover.
 */
const struct grant *grants_apply(const struct grants *, const struct engine *,
    const struct request *, struct decision *d);

#endif
