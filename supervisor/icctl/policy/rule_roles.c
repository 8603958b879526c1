/* SPDX-License-Identifier: ISC */
/* The roles of arguments that a rule can apply to. */
#include "icctl/policy/lint.h"

#include "common/log.h"

#define ALL_ROLES ((ARG_BIT(ARG_COUNT)) - 1)

uint32_t
policy_rule_roles(const struct rule *r)
{
	uint32_t mask = ALL_ROLES;

	if (r->has_roles)
		mask &= r->roles;
	if (r->has_paths)
		mask &= r->path_roles;
	if (r->has_domains)
		mask &= r->domain_roles;
	if (r->nlists != 0)
		mask &= r->list_roles;
	return mask;
}

uint32_t
policy_tool_roles(const struct annots *as, const struct rule *r, size_t *tools)
{
	const struct annot_tool *t;
	uint32_t mask = 0;

	*tools = 0;
	for (size_t i = 0; i < as->n; i++) {
		t = &as->tools[i];
		if (!rule_names(r->servers, t->server) ||
		    !rule_names(r->tools, t->tool))
			continue;
		(*tools)++;
		for (unsigned k = 0; k < t->nargs; k++)
			mask |= t->args[k].all;
	}
	return mask;
}
