/* SPDX-License-Identifier: ISC */
/*
 * The agents that a person can start. Only "internal" is read here: adapter.c
 * lists the names when it does not know one, and must not be asked in turn.
 */
#include "files/adapter/adapter.h"

#include <sys/stat.h>

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/jsonfile.h"
#include "common/span.h"

/* Returns true if the agent's file says so. A file with a mistake does not. */
static bool
adapter_is_internal(const struct paths *p, const char *name)
{
	const char *dirs[] = {p->home, p->datadir};
	char path[4400], *text = NULL;
	json_object *o;
	struct fault ignored;
	struct stat st;
	size_t len = 0;
	bool is;

	for (size_t i = 0; i < nitems(dirs) && text == NULL; i++) {
		if (dirs[i] == NULL)
			continue;
		snprintf(path, sizeof(path), "%.4000s/agents/%.255s.json",
		    dirs[i], name);
		text = jsonfile_text(path, &len, &st, &ignored);
	}
	if (text == NULL)
		return false;
	o = jsonfile_parse(path, span_of(text, len), &ignored);
	free(text);
	is = get_true(o, "internal");
	json_object_put(o);
	return is;
}

void
adapter_list(struct names *ns, const struct paths *p)
{
	names_find_agents(ns, p);
	for (size_t i = ns->n; i > 0; i--)
		if (adapter_is_internal(p, names_agent(p, ns->list[i - 1])))
			names_drop(ns, i - 1);
}
