/* SPDX-License-Identifier: ISC */
/*
 * Tool annotations: the roles of each argument of a tool. Some roles depend on
 * the value of another argument.
 */
#ifndef ANNOT_H
#define ANNOT_H

#include "engine/load.h"

#define ANNOT_MAX_ARGS	256U	/* arguments of one tool */
#define ANNOT_MAX_WHEN	64U	/* conditions of one argument */

struct annot_roles {
	uint32_t mask;
	unsigned n;
	uint8_t list[ARG_COUNT];	/* in the order of the file */
};

enum annot_test {
	ANNOT_EQUALS,
	ANNOT_IN,
	ANNOT_PRESENT,
	ANNOT_ABSENT,
	ANNOT_TRUTHY,
	ANNOT_FALSY,
};

struct annot_when {
	struct span arg;
	enum annot_test test;
	const struct value *value;	/* EQUALS: a scalar; IN: an array */
	struct annot_roles roles;
};

struct annot_arg {
	struct span name;
	struct annot_roles roles;	/* "default" */
	uint32_t all;			/* every role that it has in some
					   call */
	struct annot_when *when;
	unsigned nwhen;
	size_t position;
};

struct annot_tool {
	struct span server, tool;
	struct annot_arg *args;		/* in the order of the file */
	unsigned nargs;
	/*
	 * Indexes of the rules that name this server and tool, in order.
	 * Computed at the first call (eval_rules.c), dropped when the rules
	 * change.
	 */
	uint32_t *rules;
	uint32_t nrules;
	bool indexed;
};

struct annots {
	struct load_doc doc;
	struct annot_tool *tools;	/* sorted by server, then tool */
	size_t n;
};

int annots_load(struct annots *, struct span text, struct load *);
void annots_free(struct annots *);
/* Drop the tools' rule indexes, after other rules came into force. */
void annots_forget(struct annots *);
/* Returns NULL if the tool is not annotated; it must not be called then. */
struct annot_tool *annots_find(const struct annots *, struct span server,
    struct span tool);

/* Returns the argument's roles in a call with these arguments. */
const struct annot_roles *annot_arg_roles(const struct annot_arg *,
    const struct value *args);

#endif
