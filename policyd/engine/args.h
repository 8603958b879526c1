/* SPDX-License-Identifier: ISC */
/*
 * The arguments of a call, prepared (original.md 1.5): every string in an
 * argument with a role is found, also within objects and arrays, brought into
 * its one form, and put back: what is decided about is what is sent.
 */
#ifndef ARGS_H
#define ARGS_H

#include "engine/engine.h"

/* What one call may cost: strings with a role, components of all paths. */
#define ARGS_MAX_VALUES	10000U
#define ARGS_MAX_STEPS	65536U

/* One string that a role gives a meaning to. */
struct arg_value {
	const struct annot_arg *arg;
	const struct annot_roles *roles;	/* as the call came */
	uint32_t mask;		/* of them */
	struct value *node;	/* holds what is sent; NULL: not given */
	struct span text;	/* what list conditions compare */
	bool has_path, has_url;
	struct path path;	/* with a path role */
	struct url url;		/* with a URL role */
	/* By match type; made when a rule that asks or denies first looks. */
	struct spellings spelled[MATCH_TYPES];
};

struct call_args {
	struct value *tree;
	struct arg_value *values;
	size_t n;
	uint32_t roles;			/* of any argument of the tool */
	uint8_t order[ARG_COUNT];	/* resource roles, as in the file */
	unsigned norder;
	/* Why not, when preparing refused. */
	const char *rule;
	struct span reason;
};

/*
 * Prepares. The tree is changed in place. 0; or -1 with rule and reason, which
 * live in the pool or for ever.
 */
int args_prepare(const struct engine *, const struct server *,
    const struct annot_tool *, struct value *tree, struct value_pool *,
    struct call_args *);

/*
 * Against the tool's inputSchema (original.md 1.2, step 3): 0, or -1 with the
 * reason in the pool.
 */
int args_check(const struct value *args, const struct value *schema,
    struct value_pool *, struct span *reason);

/* Text that lives in the pool; cut when it is too long for a reason. */
struct span reason_printf(struct value_pool *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Without the full stops at its end: a sentence of ours goes on behind it. */
struct span reason_bare(struct span);

#endif
