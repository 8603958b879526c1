/* SPDX-License-Identifier: ISC */
/*
 * Chooses the policy of a persona: the one that persona.json names, or the one
 * that was made of its constitution. A person who wrote a constitution is told
 * if it is not what decides.
 */
#include "icctl/start_persona.h"

#include <err.h>
#include <stddef.h>

const char *
start_persona_policy(const struct persona *p, const char *name)
{
	struct persona_state s;

	if (p->policy != NULL) {
		if (p->text != NULL)
			warnx("persona %s: its constitution.md has no effect, "
			      "because its persona.json names the policy %s",
			    name, p->policy);
		return p->policy;
	}
	persona_state_read(p, &s);
	if (!s.compiled) {
		if (p->text != NULL)
			warnx("persona %s: its constitution.md is not in force "
			      "yet, and your usual policy decides. Next: icctl "
			      "policy compile --persona %s",
			    name, name);
		return NULL;
	}
	if (!s.current)
		warnx("persona %s: its constitution.md %s since its policy was "
		      "made, which decides as before. Next: icctl policy "
		      "compile --persona %s",
		    name, p->text == NULL ? "was removed" : "was changed",
		    name);
	return p->own;
}
