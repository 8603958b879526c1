/* SPDX-License-Identifier: ISC */
/*
 * Profiles: the providers under "profiles" replace those elsewhere in the file,
 * for a session that names the profile. They are merged into the JSON before it
 * is parsed, so that there is one parser and one set of messages.
 */
#include "files/parse.h"

#include <stdio.h>
#include <string.h>

static int
profile_keys(const struct jsonfile *j, struct json_object *root,
    const char *name, struct json_object **providers)
{
	static const char *const keys[] = {"providers", NULL};
	struct json_object *all = NULL, *one = NULL;
	char where[96];

	*providers = NULL;
	if (jsonfile_object(j, root, "", "profiles", &all) == -1)
		return -1;
	if (all == NULL && name != NULL)
		return fault_set(j->fault,
		    "--profile %s: %s has no \"profiles\"", name, j->file);
	if (all == NULL)
		return 0;
	json_object_object_foreach(all, key, val)
	{
		snprintf(where, sizeof(where), "profiles.%.64s", key);
		if (!json_object_is_type(val, json_type_object))
			return jsonfile_bad(
			    j, where, NULL, "must be an object");
		if (jsonfile_known(j, val, where, keys) == -1 ||
		    jsonfile_object(j, val, where, "providers", &one) == -1)
			return -1;
		if (name != NULL && strcmp(key, name) == 0)
			*providers = one;
		one = NULL;
	}
	if (name != NULL && *providers == NULL)
		return fault_set(j->fault,
		    "--profile %s: there is no such profile, or it names no "
		    "providers (%s: profiles)",
		    name, j->file);
	return 0;
}

/* Returns root.section.provider, which is created if necessary, or NULL. */
static struct json_object *
profile_place(
    struct json_object *root, const char *section, const char *provider)
{
	struct json_object *s, *p;

	if (!json_object_object_get_ex(root, section, &s)) {
		if ((s = json_object_new_object()) == NULL)
			return NULL;
		json_object_object_add(root, section, s);
	}
	if (!json_object_is_type(s, json_type_object))
		return NULL;
	if (!json_object_object_get_ex(s, provider, &p) ||
	    !json_object_is_type(p, json_type_object)) {
		if ((p = json_object_new_object()) == NULL)
			return NULL;
		json_object_object_add(s, provider, p);
	}
	return p;
}

int
config_profile(const struct jsonfile *j, struct json_object *root,
    const char *name, struct json_object **chosen)
{
	struct json_object *place, *s;
	char where[160];

	if (profile_keys(j, root, name, chosen) == -1)
		return -1;
	if (*chosen == NULL)
		return 0;
	json_object_object_foreach(*chosen, provider, settings)
	{
		snprintf(where, sizeof(where), "profiles.%.64s.providers.%.64s",
		    name, provider);
		if (!json_object_is_type(settings, json_type_object))
			return jsonfile_bad(
			    j, where, NULL, "must be an object");
		json_object_object_foreach(settings, key, val)
		{
			if (strcmp(key, "credential") == 0) {
				(void)profile_place(
				    root, "credentials", provider);
				if (json_object_object_get_ex(
					root, "credentials", &s) &&
				    json_object_is_type(s, json_type_object))
					json_object_object_add(
					    s, provider, json_object_get(val));
				continue;
			}
			place = profile_place(root, "providers", provider);
			if (place != NULL)
				json_object_object_add(
				    place, key, json_object_get(val));
		}
	}
	return 0;
}
