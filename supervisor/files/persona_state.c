/* SPDX-License-Identifier: ISC */
/*
 * Compares the policy that was made of a persona's constitution with it. What
 * cannot be read counts as changed: a session says what is wrong with it.
 */
#include "files/persona.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/paths.h"
#include "files/policydir.h"

void
persona_state_read(const struct persona *p, struct persona_state *s)
{
	char base[4400], hash[80], *policy;
	char *pending = paths_join(p->own, "pending");
	char *why = paths_join(p->own, "pending/status.json");

	policydir_base(p->own, base, sizeof(base));
	policy = paths_join(base, policydir_names[PROTO_RULES_POLICY]);
	memset(s, 0, sizeof(*s));
	if (policy != NULL && pending != NULL && why != NULL) {
		s->compiled = access(policy, F_OK) == 0;
		s->pending = access(pending, F_OK) == 0;
		jsonfile_peek(policy, "constitutionHash", hash, sizeof(hash));
		s->current = s->compiled && p->constitution[0] != '\0' &&
			     strcmp(hash, p->constitution) == 0;
		jsonfile_peek(why, "status", s->why, sizeof(s->why));
	}
	free(policy);
	free(pending);
	free(why);
}

bool
persona_has_server(const struct persona *p, const char *name)
{
	if (p->servers == NULL || strcmp(name, "filesystem") == 0)
		return true;
	for (size_t i = 0; p->servers[i] != NULL; i++)
		if (strcmp(p->servers[i], name) == 0)
			return true;
	return false;
}
