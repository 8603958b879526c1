/* SPDX-License-Identifier: ISC */
/*
 * Parses "resourceBudget", "policyBudget" and "modelBodies" of config.json.
 */
#include "files/parse.h"

#include <stdio.h>

/* A policy is compiled with at most so much. */
#define POLICY_TOKENS 2000000
#define POLICY_USD 10

static int
config_limit(struct budget_limits *b, const struct jsonfile *j,
    const char *where, struct json_object *o, enum budget_key key)
{
	const char *name = budget_name(key);
	struct json_object *v;
	double d;

	if (!json_object_object_get_ex(o, name, &v))
		return 0;
	if (v == NULL) {
		b->on[key] = false;
		return 0;
	}
	if (!json_object_is_type(v, json_type_int) &&
	    !json_object_is_type(v, json_type_double))
		return jsonfile_bad(j, where, name,
		    "must be a number, or null for no limit, is %s",
		    jsonfile_kind(v));
	d = json_object_get_double(v);
	if (!budget_value_ok(key, d))
		return jsonfile_bad(j, where, name,
		    "%.15g is out of range%s", d,
		    key == BUDGET_USD || key == BUDGET_TURN_USD ? "" : ", or no whole number");
	b->on[key] = true;
	b->max[key] = d;
	return 0;
}

/* Read the limits of the object of that name, on top of those in `*b`. */
static int
config_limits(struct budget_limits *b, const struct jsonfile *j,
    struct json_object *root, const char *where)
{
	static const char *const keys[] = {"maxTotalTokens", "maxSteps",
	    "maxSessionSeconds", "maxTurnSeconds", "maxEstimatedCostUsd",
	    "maxTurnTokens", "maxTurnSteps", "maxTurnEstimatedCostUsd",
	    "warnThresholdPercent", NULL};
	struct json_object *o = NULL;
	int64_t warn = b->warn;

	if (jsonfile_object(j, root, "", where, &o) == -1)
		return -1;
	if (o == NULL)
		return 0;
	if (jsonfile_known(j, o, where, keys) == -1 ||
	    jsonfile_int(
		j, o, where, "warnThresholdPercent", 1, 100, &warn) == -1)
		return -1;
	for (unsigned i = 0; i < BUDGET_KEYS; i++) {
		if (config_limit(b, j, where, o, (enum budget_key)i) == -1)
			return -1;
	}
	b->warn = (unsigned)warn;
	return 0;
}

int
config_budget(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	static const char *const body_keys[] = {"maxHeldMb", NULL};
	struct json_object *o = NULL;
	int64_t mb = CONFIG_HELD_MB;

	cfg->budget = cfg->policy_budget = budget_dflt;
	cfg->policy_budget.on[BUDGET_STEPS] = false;
	cfg->policy_budget.on[BUDGET_TOKENS] = true;
	cfg->policy_budget.max[BUDGET_TOKENS] = POLICY_TOKENS;
	cfg->policy_budget.max[BUDGET_USD] = POLICY_USD;
	if (config_limits(&cfg->budget, j, root, "resourceBudget") == -1 ||
	    config_limits(&cfg->policy_budget, j, root, "policyBudget") == -1)
		return -1;
	if (jsonfile_object(j, root, "", "modelBodies", &o) == -1 ||
	    (o != NULL &&
		(jsonfile_known(j, o, "modelBodies", body_keys) == -1 ||
		    jsonfile_int(j, o, "modelBodies", "maxHeldMb", 96, 1024,
			&mb) == -1)))
		return -1;
	cfg->held_mb = (unsigned)mb;
	return 0;
}
