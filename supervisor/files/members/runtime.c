/* SPDX-License-Identifier: ISC */
/*
 * Reads "runtime", "transport", "image" and the TypeScript IronCurtain's
 * "containerRuntime": the kind of sandbox in which agents run.
 */
#include "files/parse.h"

#include <string.h>

int
config_image(const struct jsonfile *j, struct json_object *o, const char *where,
    char **out)
{
	return jsonfile_copy(j, o, where, "image", config_is_image,
	    "must be an image's name: letters, digits and ._:/@-, not "
	    "beginning with -",
	    out);
}

int
config_transport(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	const char *s = NULL;

	if (jsonfile_str(j, root, "", "transport", &s) == -1)
		return -1;
	cfg->tcp = s != NULL && strcmp(s, "tcp") == 0;
	if (s == NULL || cfg->tcp || strcmp(s, "unix") == 0)
		return 0;
	return jsonfile_bad(j, "", "transport",
	    "must be \"unix\" or \"tcp\", is \"%s\"", s);
}

int
config_runtime(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	static const char *const names[] = {"bwrap", "docker", "podman"};
	const char *key = "runtime", *s = NULL;

	cfg->runtime = names[0];
	if (config_image(j, root, "", &cfg->image) == -1 ||
	    jsonfile_str(j, root, "", "runtime", &s) == -1)
		return -1;
	if (s == NULL) {
		key = "containerRuntime";
		if (jsonfile_str(j, root, "", key, &s) == -1)
			return -1;
		/* The TypeScript IronCurtain's own default. */
		if (s == NULL || strcmp(s, "auto") == 0)
			return 0;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(s, names[i]) == 0) {
			cfg->runtime = names[i];
			return 0;
		}
	return jsonfile_bad(j, "", key,
	    "must be \"bwrap\", \"docker\" or \"podman\", is \"%s\"", s);
}
