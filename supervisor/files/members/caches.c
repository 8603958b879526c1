/* SPDX-License-Identifier: ISC */
/*
 * Reads "packageCaches": caches of package managers on this machine that agents
 * can read.
 */
#include "files/parse.h"

#include <errno.h>
#include <string.h>

int
config_caches(struct config *cfg, const struct jsonfile *j,
    struct json_object *root, const char *user_home)
{
	/* The order of the enum. */
	static const char *const keys[] = {"cargo", "go", "npm", "pip", NULL};
	struct json_object *o = NULL, *v;
	const char *path;

	if (jsonfile_object(j, root, "", "packageCaches", &o) == -1)
		return -1;
	if (o == NULL)
		return 0;
	if (jsonfile_known(j, o, "packageCaches", keys) == -1)
		return -1;
	for (size_t i = 0; i < CONFIG_CACHES; i++) {
		if (!json_object_object_get_ex(o, keys[i], &v) ||
		    (json_object_is_type(v, json_type_boolean) &&
			!json_object_get_boolean(v)))
			continue;
		path = NULL;
		if (!json_object_is_type(v, json_type_boolean) &&
		    jsonfile_text_of(
			j, v, "packageCaches", keys[i], &path) == -1)
			return -1;
		/* pip's own cache is of no use where it cannot be written. */
		if ((path == NULL && i == CACHE_PIP) ||
		    (path != NULL && path[0] == '\0'))
			return jsonfile_bad(j, "packageCaches", keys[i],
			    "must be the path of a directory%s",
			    i == CACHE_PIP ? " of wheels, such as pip download "
					     "--dest DIR makes"
					   : ", or true for the usual one");
		cfg->caches[i] = path == NULL
				     ? strdup(CONFIG_CACHE_USUAL)
				     : config_path(j->file, user_home, path);
		if (cfg->caches[i] == NULL)
			return fault_errno(j->fault, "%s", j->file);
	}
	return 0;
}
