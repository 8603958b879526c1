/* SPDX-License-Identifier: ISC */
/*
 * Makes settings of config.json of a profile of the founding text's
 * orchestrator: its sandbox, network allow-list, models and providers.
 */
#ifndef ICCTL_SETTINGS_AMELIA_H
#define ICCTL_SETTINGS_AMELIA_H

#include <json-c/json.h>

#include "base/fault.h"
#include "base/names.h"

#define AMELIA_ROWS 512U
#define AMELIA_BECAME 512U

struct amelia {
	struct json_object *config; /* config.json, which the rows change */
	struct json_object *rows;   /* {"key", "value", "became", "taken"} */
	struct names providers;
	struct json_object
	    *hosts;             /* the hosts of each provider, by their name */
	struct fault fault;     /* why nothing of the profile can be taken */
	bool container, listed; /* sandbox.mode, network_allowlist_enabled */
	unsigned taken;         /* keys that changed config.json */
};

/*
 * Say for every key of the profile what it became, and change am->config.
 * Returns 0, or -1 with am->fault set: then nothing must be written.
 */
int amelia_take(struct amelia *, struct json_object *profile);

#endif
