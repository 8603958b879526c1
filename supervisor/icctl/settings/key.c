/* SPDX-License-Identifier: ISC */
#include "icctl/settings/settings.h"

#include <stdlib.h>
#include <string.h>

int
key_parse(struct settings_key *k, const char *text, struct fault *fault)
{
	const char by = text[0] == '/' ? '/' : '.';
	char *p;

	*k = (struct settings_key){.n = 0};
	if ((k->text = strdup(text[0] == '/' ? text + 1 : text)) == NULL)
		return fault_errno(fault, "%.100s", text);
	for (p = k->text; p != NULL;) {
		if (k->n == SETTINGS_DEPTH)
			return fault_set(fault, "%.100s: it has more than %u "
						"names", text, SETTINGS_DEPTH);
		k->names[k->n++] = p;
		if ((p = strchr(p, by)) != NULL)
			*p++ = '\0';
	}
	for (unsigned i = 0; i < k->n; i++)
		if (k->names[i][0] == '\0')
			return fault_set(fault,
			    "%.100s: not a key. Keys are names with dots "
			    "between them: limits.homeMb", text);
	return 0;
}

void
key_free(struct settings_key *k)
{
	free(k->text);
}

/* Returns the object that holds the last name, or NULL. */
static json_object *
key_above(json_object *root, const struct settings_key *k)
{
	json_object *o = root;

	for (unsigned i = 0; i + 1 < k->n; i++)
		if (!json_object_is_type(o, json_type_object) ||
		    !json_object_object_get_ex(o, k->names[i], &o))
			return NULL;
	return json_object_is_type(o, json_type_object) ? o : NULL;
}

bool
key_get(json_object *root, const struct settings_key *k, json_object **out)
{
	json_object *o = key_above(root, k);

	return o != NULL && json_object_object_get_ex(
				o, k->names[k->n - 1], out);
}

int
key_set(json_object *root, const struct settings_key *k, json_object *value,
    struct fault *fault)
{
	json_object *o = root, *next;

	for (unsigned i = 0; i + 1 < k->n; i++) {
		if (!json_object_object_get_ex(o, k->names[i], &next)) {
			next = json_object_new_object();
			json_object_object_add(o, k->names[i], next);
		}
		if (!json_object_is_type(next, json_type_object)) {
			json_object_put(value);
			return fault_set(fault,
			    "%.100s has a value of its own and no members: "
			    "icctl config unset it first",
			    k->names[i]);
		}
		o = next;
	}
	json_object_object_add(o, k->names[k->n - 1], value);
	return 0;
}

void
key_unset(json_object *root, const struct settings_key *k)
{
	struct settings_key up = *k;
	json_object *o;

	while (up.n != 0 && (o = key_above(root, &up)) != NULL) {
		json_object_object_del(o, up.names[up.n - 1]);
		if (json_object_object_length(o) != 0)
			return;
		up.n--;
	}
}

bool
key_is_secret(const struct settings_key *k)
{
	return k->n != 0 && strcmp(k->names[0], "serverCredentials") == 0;
}
