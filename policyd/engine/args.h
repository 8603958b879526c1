/* SPDX-License-Identifier: ISC */
/*
 * The arguments of a call, prepared: every string in an argument with a role is
 * found, also within objects and arrays, and replaced by its canonical form.
 * The strings that are judged are therefore the strings that are sent.
 */
#ifndef ARGS_H
#define ARGS_H

#include "engine/engine.h"

/* Limits of one call: strings with a role, components of all paths. */
#define ARGS_MAX_VALUES	10000U
#define ARGS_MAX_STEPS	65536U

/* One string in an argument that has a role. */
struct arg_value {
	const struct annot_arg *arg;
	const struct annot_roles *roles;	/* its roles in this call */
	uint32_t mask;		/* the same roles as bits */
	struct value *node;	/* holds the text to send; NULL: the argument
				   is absent */
	struct span text;	/* the text that list conditions compare */
	struct span given;	/* the text as the agent wrote it */
	bool has_path, has_url;
	struct path path;	/* if has_path */
	struct url url;		/* if has_url */
	/*
	 * By match type; filled when the first rule that asks or denies needs
	 * it.
	 */
	struct spellings spelled[MATCH_TYPES];
};

struct call_args {
	struct value *tree;
	struct arg_value *values;
	size_t n;
	uint32_t roles;			/* roles of all arguments of the tool */
	uint8_t order[ARG_COUNT];	/* resource roles, in the order of
					   the file */
	unsigned norder;
	/* The rule and reason of the refusal, if args_prepare() failed. */
	const char *rule;
	struct span reason;
};

/*
 * Prepare the arguments, changing the tree in place. Returns 0, or -1 with
 * `rule` and `reason` set; they live in the pool or are constants.
 */
int args_prepare(const struct engine *, const struct server *,
    const struct annot_tool *, struct value *tree, struct value_pool *,
    struct call_args *);

/*
 * Check the arguments against the tool's inputSchema. Returns 0, or -1 with the
 * reason in the pool.
 */
int args_check(const struct value *args, const struct value *schema,
    struct value_pool *, struct span *reason);

/* Format a reason into the pool. Cuts text that is too long for one. */
struct span reason_printf(struct value_pool *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Strip trailing periods; the caller appends text. */
struct span reason_bare(struct span);

#endif
