/* SPDX-License-Identifier: ISC */
/*
 * The agent of a session for which none is named: Claude Code, if it is
 * installed, and otherwise the built-in agent, which needs nothing but a key.
 */
#include "builtin.h"

#include <stdlib.h>
#include <string.h>

#include "box/locate.h"
#include "core/sup.h"

static struct {
	bool chosen;
} builtin_env;

/* Returns true if config.json or PATH has the adapter's program. */
static bool
builtin_installed(const struct adapter *a)
{
	const struct config_agent *own = config_agent(&sup.config, a->name);
	const struct locate l = {
	    .paths = &sup.paths, .path_env = getenv("PATH")};
	char *found;

	if (own != NULL && own->path != NULL)
		return true;
	for (size_t i = 0; a->program != NULL && a->program[i] != NULL; i++) {
		if ((found = locate_in_path(&l, a->program[i])) == NULL)
			continue;
		free(found);
		return true;
	}
	return false;
}

void
builtin_default(void)
{
	struct adapter a;
	struct fault ignored;
	bool there;

	if (sup.opt.agent != NULL || sup.opt.command != NULL ||
	    sup.opt.runtime != RUNTIME_BWRAP || sup.opt.check ||
	    sup.opt.trial != NULL ||
	    adapter_load(&a, &sup.paths, BUILTIN_USUAL, &ignored) == -1)
		return;
	there = builtin_installed(&a);
	adapter_free(&a);
	if (there)
		return;
	sup.opt.agent = BUILTIN_NAME;
	builtin_env.chosen = true;
}

void
builtin_say(void)
{
	if (!builtin_env.chosen)
		return;
	sup_warn("no agent is named, and claude is not installed: this is the "
		 "built-in agent (`icctl agents` lists the others)");
}
