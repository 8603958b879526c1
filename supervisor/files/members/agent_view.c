/* SPDX-License-Identifier: ISC */
/*
 * Reads "agentView": directories of this machine that agents see, read-only and
 * at their own paths.
 */
#include "files/parse.h"

#include <stdlib.h>
#include <string.h>

/* Take one path of the list. Returns 0, or -1 with the fault set. */
static int
agent_view_path(const struct jsonfile *j, const char *user_home, char **at)
{
	char *path;
	size_t n;

	if (strpbrk(*at, "*?[") != NULL)
		return jsonfile_bad(j, "agentView", "allowRead",
		    "\"%s\": patterns are not allowed; name a directory", *at);
	if ((path = config_path(j->file, user_home, *at)) == NULL)
		return fault_errno(j->fault, "%s", j->file);
	for (n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
	if (path[0] != '/' || strstr(path, "/../") != NULL ||
	    strstr(path, "/./") != NULL || strstr(path, "//") != NULL ||
	    (n >= 3 && strcmp(path + n - 3, "/..") == 0)) {
		free(path);
		return jsonfile_bad(j, "agentView", "allowRead",
		    "\"%s\": must be absolute, or begin with ~/, without \".\" "
		    "and \"..\"",
		    *at);
	}
	free(*at);
	*at = path;
	return 0;
}

int
config_agent_view(struct config *cfg, const struct jsonfile *j,
    struct json_object *root, const char *user_home)
{
	static const char *const keys[] = {"allowRead", NULL};
	struct json_object *o = NULL;
	int rv;

	if (jsonfile_object(j, root, "", "agentView", &o) == -1)
		return -1;
	if (o == NULL)
		return 0;
	if (jsonfile_known(j, o, "agentView", keys) == -1)
		return -1;
	rv = jsonfile_strings(j, o, "agentView", "allowRead", CONFIG_MAX_SHOWN,
	    &cfg->shown);
	if (rv == -1)
		return -1;
	for (size_t i = 0; rv == 1 && cfg->shown[i] != NULL; i++)
		if (agent_view_path(j, user_home, &cfg->shown[i]) == -1)
			return -1;
	return 0;
}
