/* SPDX-License-Identifier: ISC */
/*
 * The decision about a prepared call: structural checks, then compiled rules.
 * Every allow names the rule or the structural reason for it; everything else
 * is denied.
 */
#ifndef EVAL_H
#define EVAL_H

#include "engine/args.h"

struct decision {
	enum proto_status status;
	struct span rule;
	struct span reason;
	uint32_t escalated;		/* roles that escalated the call */
	uint32_t by_domains;		/* roles that a rule about domains
					   decided */
	const struct rule *by;		/* the compiled rule, or NULL */
	bool person;			/* the settings leave it to a person,
					   each time: eval_narrow() */
};

struct request {
	struct span server_name, tool_name;
	const struct server *server;
	struct annot_tool *annot;	/* NULL: the tool is not annotated */
	const struct call_args *args;	/* NULL if `annot` is */
	struct value_pool *pool;
};

/*
 * The result of trying a rule: it is not about the role, a condition failed, it
 * keeps later rules from allowing, or it decided.
 */
enum eval_tried { EVAL_IRRELEVANT, EVAL_MISSED, EVAL_CAPPED, EVAL_MATCHED };

/*
 * Hooks for each step of evaluation; `role` and `rule` may be NULL. The role is
 * ARG_COUNT for a call without a resource role.
 */
struct eval_trace {
	void *arg;
	void (*role)(void *, enum arg_role, bool resolved);
	void (*rule)(void *, const struct request *, size_t index,
	    enum arg_role, enum eval_tried);
	void (*done)(void *, enum arg_role, const struct decision *);
};

/* Returns true if the server may use the sandbox without any rule. */
bool eval_has_sandbox(const struct request *);
void eval_request(const struct engine *, const struct request *,
    struct decision *);
/*
 * Evaluate the rules and the checks of an allow, but not the domain gate. The
 * tool is annotated and no path is protected.
 */
void eval_ungated(const struct engine *, const struct request *,
    struct decision *);
/*
 * Escalate an allowed call that may touch more than the names that were judged.
 */
void eval_caution(const struct request *, struct decision *);
/*
 * narrow.c: Returns true if the arguments are to be prepared: always, but for a
 * trusted server only if the settings name a path and the tool may have one.
 */
bool eval_judges_paths(const struct engine *, const struct request *);
/* Make a decision more severe where the settings say so. */
void eval_narrow(
    const struct engine *, const struct request *, struct decision *);
/*
 * Decide about a call without policyd, for `icctl policy eval`: look up the
 * annotation and the server (which need not run), prepare the arguments, and
 * judge. The tree is changed in place. The decision's texts live as long as the
 * pool.
 */
void eval_call(struct engine *, struct span server, struct span tool,
    struct value *tree, struct value_pool *, struct decision *);

/* Evaluate the compiled rules, except for the roles in `resolved`. */
void eval_rules(const struct engine *, const struct request *,
    uint32_t resolved, struct decision *);
/*
 * Returns the name of the first condition of the rule that the call does not
 * meet, or NULL if it meets all. *value is the value at fault, or NULL.
 */
const char *eval_miss(const struct engine *, const struct request *,
    size_t index, enum arg_role, const struct arg_value **value);
/*
 * Returns true if the path is in the place, by text or by inode: a limit holds
 * for the place where the path ends and for each that it passed, a grant for
 * the end alone.
 */
bool eval_within(const struct engine *, const struct path *,
    const struct place *);
/* Returns true if the path meets if.paths of the rule, which has one. */
bool eval_rule_within(
    const struct engine *, size_t index, const struct path *);
/* Returns true if this one point of a path is in the place. */
bool eval_point_within(const struct engine *, const struct path_point *,
    const struct place *);
/* Returns true if the path ends in the sandbox. */
bool eval_in_sandbox(const struct engine *, const struct path *);
/*
 * Returns true if the path ends in the sandbox, and a rule that denies or
 * asks takes it because of a place outside the sandbox that it passed.
 */
bool eval_withheld(const struct engine *, const struct request *,
    enum arg_role, const struct path *);
/*
 * Returns true if a rule that asks about the role is about a directory that the
 * point is in.
 */
bool eval_asks_about(const struct engine *, const struct request *,
    enum arg_role, const struct path_point *);

#endif
