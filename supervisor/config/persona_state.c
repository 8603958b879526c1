/* SPDX-License-Identifier: ISC */
/*
 * Compares the policy that was made of a persona's constitution with it. What
 * cannot be read counts as changed: a session says what is wrong with it.
 */
#include "config/persona.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/jsonfile.h"
#include "config/paths.h"
#include "config/policydir.h"

/* Copy a text member of a JSON file; "" if there is none. */
static void
state_text(const char *path, const char *key, char *dst, size_t cap)
{
	struct json_object *root, *v;
	struct fault ignored;
	struct stat st;
	size_t len;
	char *text;

	dst[0] = '\0';
	if ((text = jsonfile_text(path, &len, &st, &ignored)) == NULL)
		return;
	root = jsonfile_parse(path, span_of(text, len), &ignored);
	if (root != NULL && json_object_object_get_ex(root, key, &v) &&
	    json_object_is_type(v, json_type_string))
		(void)strlcpy(dst, json_object_get_string(v), cap);
	json_object_put(root);
	free(text);
}

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
		state_text(policy, "constitutionHash", hash, sizeof(hash));
		s->current = s->compiled && p->constitution[0] != '\0' &&
			     strcmp(hash, p->constitution) == 0;
		state_text(why, "status", s->why, sizeof(s->why));
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
