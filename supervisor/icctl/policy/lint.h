/* SPDX-License-Identifier: ISC */
/* Finds mistakes in policy files that policyd accepts. */
#ifndef ICCTL_POLICY_LINT_H
#define ICCTL_POLICY_LINT_H

#include <limits.h>

#include "icctl/policy/policy.h"
#include "policyd/engine/annot.h"
#include "policyd/engine/lists.h"
#include "policyd/engine/rules.h"

struct findings {
	bool json;
	struct buf out; /* for --json: objects, comma-separated */
	unsigned errors, warnings;
	size_t rules, tools; /* that were checked */
	const struct policy_set *set;
};

/* finding.c */
/* Report a finding; `line` 0 is unknown. */
void finding_report(struct findings *, bool error, const char *file,
    unsigned line, const char *kind, const char *place, const char *text);
/*
 * Report a finding. `kind` is "never-matches", "shadowed" ...; `place` is in
 * the file, or "".
 */
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

/* lint.c: Check rules against each other and against the annotations. */
void policy_lint(struct lint *);
/* running.c: Check the annotations against running sessions. */
void policy_lint_running(struct lint *, const char *home);
/* wide.c: Check a rule against its description. */
void policy_lint_wide(struct lint *, size_t index);
/* void.c: Check whether a rule's paths protect or grant nothing. */
void policy_lint_void(struct lint *, size_t index);
/*
 * Write a rule's directory as a path of this machine. Returns 0, or -1 if it
 * has none.
 */
int policy_host_path(struct span within, char dst[PATH_MAX]);
/* links.c: Find links that lead out of a directory that a rule withholds. */
void policy_lint_links(struct lint *, size_t index);
/* Check IRONCURTAIN_HOME as a session would. */
void policy_lint_home(struct lint *, const char *home);
/* rule_roles.c */
/* Returns the roles that a rule can apply to; all if it names none. */
uint32_t policy_rule_roles(const struct rule *);
/*
 * Returns the roles of all arguments of the tools that the rule names, and the
 * number of these tools.
 */
uint32_t policy_tool_roles(
    const struct annots *, const struct rule *, size_t *tools);

#endif
