/* SPDX-License-Identifier: ISC */
/*
 * What is wrong with policy files beyond what policyd refuses.
 */
#ifndef ICCTL_POLICY_LINT_H
#define ICCTL_POLICY_LINT_H

#include "icctl/policy/policy.h"
#include "policyd/engine/annot.h"
#include "policyd/engine/lists.h"
#include "policyd/engine/rules.h"

struct findings {
	bool json;
	struct buf out; /* of --json: objects, comma-separated */
	unsigned errors, warnings;
	const struct policy_set *set;
};

/* icctl/policy/finding.c */
/* One finding; line 0: not known. */
void finding_report(struct findings *, bool error, const char *file,
    unsigned line, const char *kind, const char *place, const char *text);
/* kind: "never-matches", "shadowed", ...; place: within the file, or "". */
void finding(struct findings *, bool error, unsigned file, const char *kind,
    const char *place, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* The files as policyd reads them. */
struct lint {
	struct findings *f;
	const struct rules *rules;
	const struct annots *annots;
	const struct lists *lists; /* NULL: there are none */
};

/* icctl/policy/lint.c: rules against each other and the annotations. */
void policy_lint(struct lint *);
/* icctl/policy/running.c: the annotations against sessions that run. */
void policy_lint_running(struct lint *, const char *home);
/* icctl/policy/wide.c: a rule against its own description. */
void policy_lint_wide(struct lint *, size_t index);
/* icctl/policy/void.c: a rule whose paths protect or grant nothing. */
void policy_lint_void(struct lint *, size_t index);
/* IRONCURTAIN_HOME as a session would find it. */
void policy_lint_home(struct lint *, const char *home);
/* icctl/policy/rule_roles.c */
/* The roles that a rule can be asked for; all when it names none. */
uint32_t policy_rule_roles(const struct rule *);
/* The roles of all arguments of tools that the rule names. */
uint32_t policy_tool_roles(
    const struct annots *, const struct rule *, size_t *tools);

#endif
