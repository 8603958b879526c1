/* SPDX-License-Identifier: ISC */
/*
 * Destinations of the kind registry in config.json: where packages may be
 * installed from, and which ones. mitmd/provider/dest_registry.c says what that
 * means. `packageInstall`, a key of the TypeScript IronCurtain, gives defaults
 * for what a destination leaves out.
 */
#include "files/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "files/providers/destinations.h"

#define REGISTRY_MAX_DAYS 3650
#define REGISTRY_MAX_GLOBS 1024U

static const char *const registries[] = {
    "npm", "pypi", "crates", "debian", NULL};

static bool
registry_glob_ok(const char *s)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++)
		if (s[i] <= 0x20 || s[i] > 0x7e)
			return false;
	return n != 0 && n <= 256;
}

/*
 * Copy a list of patterns to `*out`. Returns 1, 0 if it is absent, or -1 with
 * the fault set.
 */
static int
registry_globs(const struct jsonfile *j, const char *where,
    struct json_object *o, const char *key, struct json_object **out)
{
	struct json_object *list;
	char **globs = NULL;
	int rv;

	rv = jsonfile_strings(j, o, where, key, REGISTRY_MAX_GLOBS, &globs);
	if (rv != 1)
		return rv;
	list = json_object_new_array();
	for (size_t i = 0; globs[i] != NULL && rv == 1; i++) {
		if (!registry_glob_ok(globs[i]))
			rv = jsonfile_bad(j, where, key,
			    "\"%s\" is not a pattern of package "
			    "names",
			    globs[i]);
		for (size_t k = 0; k < i && rv == 1; k++)
			if (strcmp(globs[i], globs[k]) == 0)
				rv = jsonfile_bad(j, where, key,
				    "\"%s\" is listed twice", globs[i]);
		json_object_array_add(list, json_object_new_string(globs[i]));
	}
	jsonfile_strings_free(globs);
	if (rv == 1)
		*out = list;
	else
		json_object_put(list);
	return rv;
}

/*
 * Parse packageInstall: {"enabled", "quarantineDays", "allowedPackages",
 * "deniedPackages"}.
 */
int
config_package_install(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	static const char *const keys[] = {"enabled", "quarantineDays",
	    "allowedPackages", "deniedPackages", NULL};
	static const char where[] = "packageInstall";
	struct json_object *o = NULL;
	bool on = true;

	cfg->package_days = -1;
	if (jsonfile_object(j, root, "", where, &o) == -1)
		return -1;
	if (o == NULL)
		return 0;
	if (jsonfile_known(j, o, where, keys) == -1 ||
	    jsonfile_bool(j, o, where, "enabled", &on) == -1 ||
	    jsonfile_int(j, o, where, "quarantineDays", 0, REGISTRY_MAX_DAYS,
		&cfg->package_days) == -1 ||
	    registry_globs(
		j, where, o, "allowedPackages", &cfg->package_allow) == -1 ||
	    registry_globs(j, where, o, "deniedPackages", &cfg->package_deny) ==
		-1)
		return -1;
	cfg->package_off = !on;
	return 0;
}

/* Copy a destination's own list to `file`, or else packageInstall's. */
static int
registry_list(const struct jsonfile *j, const char *where,
    struct json_object *o, const char *key, struct json_object *dflt,
    struct json_object *file)
{
	struct json_object *list = NULL;
	int rv = registry_globs(j, where, o, key, &list);

	if (rv == 0 && dflt != NULL)
		list = json_object_get(dflt);
	if (list != NULL)
		json_object_object_add(file, key, list);
	return rv == -1 ? -1 : 0;
}

int
destination_registry_read(const struct jsonfile *j, const char *where,
    struct json_object *o, const struct config *cfg, struct json_object *file)
{
	const char *name = NULL;
	int64_t days = cfg->package_days;
	size_t i = 0;

	if (jsonfile_str(j, o, where, "registry", &name) == -1)
		return -1;
	while (registries[i] != NULL &&
	       (name == NULL || strcmp(name, registries[i]) != 0))
		i++;
	if (registries[i] == NULL)
		return jsonfile_bad(j, where, "registry",
		    "must be \"npm\", \"pypi\", \"crates\" or \"debian\"");
	if (cfg->package_off)
		return jsonfile_bad(j, where, NULL,
		    "opens a registry, but packageInstall.enabled is false. "
		    "Remove one of the two");
	put_str(file, "registry", registries[i]);
	if (jsonfile_int(j, o, where, "quarantineDays", 0, REGISTRY_MAX_DAYS,
		&days) == -1 ||
	    registry_list(j, where, o, "allow", cfg->package_allow, file) ==
		-1 ||
	    registry_list(j, where, o, "deny", cfg->package_deny, file) == -1)
		return -1;
	if (days != -1)
		put_int(file, "quarantineDays", days);
	return 0;
}
