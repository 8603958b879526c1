/* SPDX-License-Identifier: ISC */
/*
 * Approvals of the user for the session: a tool of a server, within
 * directories, at domains or with values that were shown before they were
 * granted. A grant allows a call that the same rule would escalate; it never
 * overrides a denial or covers another tool, another role, or a place beyond
 * those shown. One that is not counted may be restored in a later run of the
 * session, if what it is bound to is still the same.
 */
#ifndef GRANTS_H
#define GRANTS_H

#include "engine/eval.h"

#define GRANTS_MAX	64U
#define GRANT_LIMITS	16U
#define GRANT_TEXT	2048U

/* Within limits; these very arguments; any plain arguments, N times. */
enum grant_form { GRANT_LIMITED, GRANT_SAME, GRANT_COUNTED };
enum grant_kind { GRANT_DIRECTORY, GRANT_DOMAIN, GRANT_EXACT, GRANT_LINK };

/*
 * Each value of the role must meet one of the role's limits. A path meets a
 * directory with its end. If a rule that asks is about a place that it passed,
 * that place must meet a GRANT_LINK, too: the link itself.
 */
struct grant_limit {
	enum arg_role role;
	enum grant_kind kind;
	struct span value;
	uint64_t dev, ino;	/* when it was granted, or 0: the directory's,
				   or those of the link's target */
};

struct grant {
	uint64_t id;		/* id of the call that was approved */
	struct span server, tool, rule;
	enum grant_form form;
	struct grant_limit limits[GRANT_LIMITS];
	unsigned n;
	/*
	 * Digests of the tool's definition, and, unless GRANT_LIMITED, of the
	 * arguments.
	 */
	uint8_t def[32], args[32];
	uint8_t law[32];	/* digest of the rule; 0: it is in no file */
	bool waits;		/* restored, but not yet judged again */
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
 * Returns true if the directory is or contains the user's home directory, or
 * cannot be looked up; *here is what is there.
 */
bool grant_too_wide(const struct engine *, struct value_pool *, struct span dir,
    struct path *here);
/*
 * Write what the grant is bound to, in canonical JSON:
 *   {"args","form","limits":[{"dev","ino","kind","role","value"}],"rule",
 *    "ruleDigest","server","tool","toolDigest"}
 * with numbers as texts, because JSON's are too small. It is empty for
 * GRANT_COUNTED, which is never restored. Returns 0, or -1 if it is too long.
 */
int grant_bound(const struct grant *, struct value_pool *, struct span *);
/*
 * Read such a text; the texts of the grant live as long as the pool and as
 * `text`. Returns 0, or -1 with *g empty.
 */
int grant_unbound(struct grant *g, struct value_pool *, struct span text);
/*
 * Check that the directories of the grant are still those that were granted,
 * and its rule the one that asked. Returns NULL, or the reason why not.
 */
const char *grant_changed(
    const struct engine *, const struct grant *, struct value_pool *);

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
