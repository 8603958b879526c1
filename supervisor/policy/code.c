/* SPDX-License-Identifier: ISC */
/*
 * The code of MCP servers, as ic-locate has found it (box/locate.h), and as it
 * was in the last session: a package can be exchanged without a change of the
 * server's entry, or of what its tools say of themselves.
 */
#include "policy/pins.h"

#include <stdio.h>
#include <string.h>

#include "core/sup.h"

/* The digest and a blank stand before the name and the version. */
#define CODE_NAMED 65U

/* Compose "2.1.0 -> 2.1.1", or what else has changed. */
static void
code_change(const char *was, const char *now, char *text, size_t cap)
{
	const char *from = strrchr(was, ' '), *to = strrchr(now, ' ');

	if (strlen(was) <= CODE_NAMED || from == NULL || to == NULL)
		snprintf(text, cap, "another one");
	else if (strcmp(from, to) != 0)
		snprintf(text, cap, "%.100s -> %.100s", from + 1, to + 1);
	else if (strcmp(to, " -") != 0)
		snprintf(text, cap, "other files of the same version, %.100s",
		    to + 1);
	else
		snprintf(
		    text, cap, "other contents of %.200s", now + CODE_NAMED);
}

void
code_start(void)
{
	const struct server *s;
	const char *was;
	char text[300];

	/* Nobody reads what is told in a session that compiles a policy. */
	if (sup.opt.policy_work)
		return;
	for (unsigned i = 0; i < sup.nservers; i++) {
		s = &sup.servers[i];
		if (s->program.code == NULL || s->program.ours)
			continue;
		was = pins_code(s->def->name);
		if (was != NULL && strcmp(was, s->program.code) == 0)
			continue;
		if (was != NULL) {
			code_change(was, s->program.code, text, sizeof(text));
			sup_warn("MCP server %s has other code since the last "
				 "session: %s%s%s",
			    s->def->name, text,
			    pins_code_held(i)
				? ". Its tools are in quarantine; to "
				  "use it as it is now: icctl trust "
				: "",
			    pins_code_held(i) ? s->def->name : "");
		}
		if (!pins_code_held(i))
			pins_add_code(i);
	}
}
