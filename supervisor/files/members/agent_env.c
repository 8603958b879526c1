/* SPDX-License-Identifier: ISC */
/*
 * Reads "env": variables of the agent with constant values, such as the address
 * of a database. They are no place for secrets, as the agent sees them.
 */
#include "files/parse.h"

#include <string.h>
#include <strings.h>

/* Variables that decide what programs load, and those of IronCurtain. */
static bool
env_is_ours(const char *name)
{
	static const char *const prefixes[] = {"LD_", "IRONCURTAIN"};
	static const char *const names[] = {"GLIBC_TUNABLES", "http_proxy",
	    "https_proxy", "all_proxy", "no_proxy"};

	for (size_t i = 0; i < nitems(prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	for (size_t i = 0; i < nitems(names); i++)
		if (strcasecmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool
env_name_ok(const char *s)
{
	const size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n != 0 && n <= 64 && s[n] == '\0' &&
	       strchr("0123456789", s[0]) == NULL;
}

int
config_env(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	struct json_object *o = NULL;
	const char *s;

	if (jsonfile_object(j, root, "", "env", &o) == -1)
		return -1;
	if (o == NULL)
		return 0;
	if (json_object_object_length(o) > (int)CONFIG_MAX_VARIABLES)
		return jsonfile_bad(j, "", "env",
		    "at most %u variables are allowed", CONFIG_MAX_VARIABLES);
	json_object_object_foreach(o, name, val)
	{
		if (!env_name_ok(name))
			return jsonfile_bad(j, "env", name,
			    "is no name of a variable: letters, digits and _, "
			    "at most 64");
		if (env_is_ours(name))
			return jsonfile_bad(j, "env", name,
			    "is set by IronCurtain or read by the loader of "
			    "programs, and cannot be set here");
		if (jsonfile_text_of(j, val, "env", name, &s) == -1)
			return -1;
		if (strlen(s) > 4096 || strpbrk(s, "\r\n") != NULL)
			return jsonfile_bad(j, "env", name,
			    "must be one line of at most 4096 bytes");
	}
	cfg->env = json_object_get(o);
	return 0;
}
