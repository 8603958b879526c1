/* SPDX-License-Identifier: ISC */
/*
 * Names the servers that a policy has rules for and that the user's sessions do
 * not have: a constitution may speak of web pages where nothing fetches one.
 */
#include "icctl/policy/compile/compile.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "files/config.h"
#include "files/servers.h"

static bool
absent_has(const struct servers *s, struct span name)
{
	for (unsigned i = 0; i < s->n; i++)
		if (span_is(name, s->defs[i].name))
			return true;
	return false;
}

static void
absent_print(const struct compile *c, const struct servers *have)
{
	const struct compile_server *s;
	char vis[100];

	for (unsigned i = 0; i < c->nservers; i++) {
		s = &c->servers[i];
		if (s->skipped || s->rules == NULL || s->rules->count == 0 ||
		    absent_has(have, s->name))
			continue;
		log_vis(s->name, vis, sizeof(vis));
		printf("Your sessions have no server %s, so its rules wait "
		       "until it is in ~/.ironcurtain/mcp-servers.json",
		    vis);
		if (span_is(s->name, "fetch"))
			puts(": man icfetch has the entry");
		else
			puts(": icctl mcp import, or man ironcurtain-config");
	}
}

void
absent_say(const struct compile *c)
{
	struct paths paths = {
	    .home = c->ctl->home, .user_home = getenv("HOME")};
	struct servers_how how = {.checking = true};
	struct fault ignored;
	struct config cfg;
	struct servers s;

	/* A session reports mistakes in these files. */
	if (paths.user_home == NULL ||
	    config_load(&cfg, NULL, c->ctl->home, paths.user_home, NULL,
		&ignored) == -1)
		return;
	if (servers_find(&s, &how, servers_text, &cfg, &paths, &ignored) == 0) {
		absent_print(c, &s);
		servers_free(&s);
	}
	config_free(&cfg);
}
