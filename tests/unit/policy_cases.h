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

extern const struct policy_group policy_groups[];
extern const size_t policy_ngroups;

#endif
