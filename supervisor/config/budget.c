/* SPDX-License-Identifier: ISC */
/* Parses "resourceBudget" and "modelBodies" of config.json. */
#include "config/parse.h"

#include <stdio.h>

static int
config_limit(struct config *cfg, const struct jsonfile *j,
    struct json_object *o, enum budget_key key)
{
	const char *name = budget_name(key);
	struct json_object *v;
	double d;

	if (!json_object_object_get_ex(o, name, &v))
		return 0;
	if (v == NULL) {
		cfg->budget.on[key] = false;
		return 0;
	}
	if (!json_object_is_type(v, json_type_int) &&
	    !json_object_is_type(v, json_type_double))
		return jsonfile_bad(j, "resourceBudget", name,
		    "must be a number, or null for no limit, is %s",
		    jsonfile_kind(v));
	d = json_object_get_double(v);
	if (!budget_value_ok(key, d))
		return jsonfile_bad(j, "resourceBudget", name,
		    "%.15g is out of range%s", d,
		    key == BUDGET_USD || key == BUDGET_TURN_USD ? "" : ", or no whole number");
	cfg->budget.on[key] = true;
	cfg->budget.max[key] = d;
	return 0;
}

int
config_budget(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	static const char *const keys[] = {"maxTotalTokens", "maxSteps",
	    "maxSessionSeconds", "maxTurnSeconds", "maxEstimatedCostUsd",
	    "maxTurnTokens", "maxTurnSteps", "maxTurnEstimatedCostUsd",
	    "warnThresholdPercent", NULL};
	static const char *const body_keys[] = {"maxHeldMb", NULL};
	struct json_object *o = NULL;
	int64_t warn = budget_dflt.warn, mb = CONFIG_HELD_MB;

	cfg->budget = budget_dflt;
	if (jsonfile_object(j, root, "", "resourceBudget", &o) == -1)
		return -1;
	if (o != NULL) {
		if (jsonfile_known(j, o, "resourceBudget", keys) == -1 ||
		    jsonfile_int(j, o, "resourceBudget", "warnThresholdPercent",
			1, 100, &warn) == -1)
			return -1;
		for (unsigned i = 0; i < BUDGET_KEYS; i++) {
			if (config_limit(cfg, j, o, (enum budget_key)i) == -1)
				return -1;
		}
	}
	cfg->budget.warn = (unsigned)warn;
	o = NULL;
	if (jsonfile_object(j, root, "", "modelBodies", &o) == -1 ||
	    (o != NULL &&
		(jsonfile_known(j, o, "modelBodies", body_keys) == -1 ||
		    jsonfile_int(j, o, "modelBodies", "maxHeldMb", 96, 1024,
			&mb) == -1)))
		return -1;
	cfg->held_mb = (unsigned)mb;
	return 0;
}
