/* SPDX-License-Identifier: ISC */
/*
 * Redacts arguments for the audit log: masks secrets (common/mask/mask.h), also
 * those that only the name of a member tells, and replaces long strings by their
 * head, length and digest.
 */
#ifndef REDACT_H
#define REDACT_H

#include "common/json/value.h"
#include "common/mask/mask.h"

#define REDACT_LONG	16384U	/* longer strings are cut ... */
#define REDACT_HEAD	256U	/* ... to at most this length */

enum redact_role {
	REDACT_FREE,	/* no rule judges it */
	REDACT_JUDGED,	/* a rule may compare its text */
	REDACT_ADDRESS,	/* never cut: its host and path are judged */
	REDACT_PATH,	/* stays whole */
};

/* Returns the role of a string. */
typedef enum redact_role redact_role_fn(const struct value *, void *arg);

struct redact {
	struct value_pool *pool;
	bool secrets;			/* mask them */
	const struct mask_known *known;	/* or NULL */
	redact_role_fn *role;
	void *arg;
	bool judged;	/* set if text that a rule may judge is changed */
};

/*
 * Redact the tree in place. Returns 1 if it changed, 0 if not, or -1 with
 * ENOBUFS; the tree must not be used then.
 */
int redact_tree(struct redact *, struct value *);
/*
 * Mask a string. *out is in the pool, or the same span if nothing is masked.
 * Returns 1 if it is masked, 0 if not, or -1 with ENOBUFS.
 */
int redact_string(
    const struct redact *, struct span, struct span *out);

#endif
