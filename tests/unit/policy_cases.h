/* SPDX-License-Identifier: ISC */
/*
 * Calls and what becomes of them, group by group: the rules of the group, then
 * the calls.  Each names the statement of original.md that it is about, or
 * "safe" where we differ on purpose.
 */
#ifndef POLICY_CASES_H
#define POLICY_CASES_H

#include "eval.h"

struct policy_case {
	const char *statement;
	const char *server, *tool, *args;
	enum proto_status status;
	const char *rule;
	uint32_t escalated;
};

struct policy_group {
	const char *rules;	/* the array's inside */
	const char *lists;	/* dynamic-lists.json, or NULL */
	const struct policy_case *cases;
	size_t n;
};

/* Of policy_cases.c and of policy_cases_more.c. */
extern const struct policy_group policy_groups[];
extern const size_t policy_ngroups;
extern const struct policy_group policy_more[];
extern const size_t policy_nmore;

/* For the tables. */
#define A PROTO_ALLOW
#define D PROTO_DENY
#define E PROTO_ESCALATE
#define RP ARG_BIT(ARG_READ_PATH)
#define WP ARG_BIT(ARG_WRITE_PATH)
#define FU ARG_BIT(ARG_FETCH_URL)
#define GU ARG_BIT(ARG_GIT_REMOTE_URL)
#define RULE(name, cond, then)						\
	"{\"name\":\"" name "\",\"if\":{" cond "},\"then\":\"" then	\
	"\",\"reason\":\"because " name "\"}"
#define GROUP(rules, lists, cases)					\
	{rules, lists, cases, sizeof(cases) / sizeof((cases)[0])}

#endif
