/* SPDX-License-Identifier: ISC */
/*
 * The decision about a prepared call: structural checks, then compiled rules
 * (original.md 1.3 and 1.4).  Every allow names the rule or the structural
 * reason for it; whatever falls through is denied.
 */
#ifndef EVAL_H
#define EVAL_H

#include "engine/args.h"

struct decision {
	enum proto_status status;
	struct span rule;
	struct span reason;
	uint32_t escalated;		/* roles that asked for it */
	uint32_t by_domains;		/* that a rule about domains decided */
	const struct rule *by;		/* the compiled rule, or NULL */
};

struct request {
	struct span server_name, tool_name;
	const struct server *server;
	struct annot_tool *annot;	/* NULL: not annotated */
	const struct call_args *args;	/* NULL with annot == NULL */
	struct value_pool *pool;
};

/*
 * The result of looking at a rule: not about the role, a condition failed, no
 * later rule may allow any more, or it decided.
 */
enum eval_tried { EVAL_IRRELEVANT, EVAL_MISSED, EVAL_CAPPED, EVAL_MATCHED };

/* Told of each step of evaluation. role: ARG_COUNT for a call without one. */
struct eval_trace {
	void *arg;
	void (*role)(void *, enum arg_role, bool resolved);
	void (*rule)(void *, const struct request *, size_t index,
	    enum arg_role, enum eval_tried);
	void (*done)(void *, enum arg_role, const struct decision *);
};

/* Is the sandbox open to this server, whatever rules say (1.3, 3c)? */
bool eval_has_sandbox(const struct request *);
void eval_request(const struct engine *, const struct request *,
    struct decision *);
/*
 * The same behind the domain gate, for a tool that is annotated and whose
 * paths are not protected: the rules, and what makes them cautious.
 */
void eval_ungated(const struct engine *, const struct request *,
    struct decision *);
/*
 * What would be allowed, but where the name that was judged is not all that
 * will be touched: a person decides.
 */
void eval_caution(const struct request *, struct decision *);
/*
 * The engine by itself, as `icctl policy eval` asks it: looks up annotation
 * and server (which need not be running), prepares, judges. The tree is
 * changed in place. What the decision points at lives as long as the pool.
 */
void eval_call(struct engine *, struct span server, struct span tool,
    struct value *tree, struct value_pool *, struct decision *);

/* eval_rules.c: the compiled rules, without the roles in `resolved`. */
void eval_rules(const struct engine *, const struct request *,
    uint32_t resolved, struct decision *);
/*
 * The condition of the rule that does not hold; NULL: each holds. *value is
 * the value that breaks it, NULL: there is none.
 */
const char *eval_miss(const struct engine *, const struct request *,
    size_t index, enum arg_role, const struct arg_value **value);
/* Is the path in the place, by text or by inode? */
bool eval_within(const struct engine *, const struct path *,
    const struct place *);
/* Is the path in the sandbox? */
bool eval_in_sandbox(const struct engine *, const struct path *);

#endif
