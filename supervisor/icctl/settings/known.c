/* SPDX-License-Identifier: ISC */
/* Names in config.json that stand for files: of an agent and of a policy. */
#include "icctl/settings/settings.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "common/near.h"
#include "files/policydir.h"
#include "icctl/policy/policy.h"

/* A name that is near another one is a mistake; others may be made later. */
static int
known_agent(const struct paths *paths, const char *name, bool *later,
    struct fault *fault)
{
	const char *whole = names_agent(paths, name), *near;
	struct names agents = {0};
	int rv = 0;

	names_find_agents(&agents, paths);
	near = near_name(name, (const char *const *)agents.list);
	if (strcmp(whole, name) != 0)
		rv = fault_set(fault,
		    "agent.%.100s: write its whole name: agent.%s", name,
		    whole);
	else if (!names_have(&agents, name) && near != NULL)
		rv = fault_set(fault,
		    "agent.%.100s: no agent has this name (did you mean %s?)",
		    name, names_agent(paths, near));
	*later = !names_have(&agents, name);
	names_free(&agents);
	return rv;
}

int
settings_known(const struct icctl *ctl, const struct settings_key *k,
    const char *value, bool *later, struct fault *fault)
{
	struct paths paths = {.home = (char *)(uintptr_t)ctl->home};
	char datadir[PATH_MAX], shipped[PATH_MAX + 16], *dir;

	if (k->n < 2 || policy_own_path("share/ironcurtain", datadir,
			    sizeof(datadir)) == -1)
		return 0;
	paths.datadir = datadir;
	if (strcmp(k->names[0], "agent") == 0)
		return known_agent(&paths, k->names[1], later, fault);
	/* One with a slash is a path, which may be made later. */
	if (k->n != 2 || strcmp(k->names[0], "policy") != 0 ||
	    strcmp(k->names[1], "name") != 0 || strchr(value, '/') != NULL)
		return 0;
	snprintf(shipped, sizeof(shipped), "%s/policies", datadir);
	if ((dir = policydir_find(ctl->home, shipped, value, fault)) == NULL)
		return -1;
	free(dir);
	return 0;
}
