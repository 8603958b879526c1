/* SPDX-License-Identifier: ISC */
/*
 * Services of a project's file that each session starts: images, by digest.
 * Neither a program nor an address of this machine is described there.
 */
#include "icctl/project/members.h"

#include <stdio.h>
#include <string.h>

/* Say each variable of the service. */
static int
services_env(struct project *p, const struct jsonfile *j, const char *name,
    json_object *v)
{
	json_object *env = NULL;
	const char *s;

	if (!json_object_object_get_ex(v, "env", &env))
		return 0;
	if (!json_object_is_type(env, json_type_object) ||
	    json_object_object_length(env) > (int)MEMBER_LIST)
		return jsonfile_bad(j, "services", name,
		    "may have an \"env\" of at most %u variables", MEMBER_LIST);
	json_object_object_foreach(env, key, val)
	{
		if (!member_plain(key, 64) || !member_name_ok(key))
			return jsonfile_bad(j, "services", name,
			    "has a variable that cannot be shown");
		if (member_text(j, "services", val, 512, &s) == -1)
			return -1;
		project_say(p, PROJECT_ASKS,
		    "the variable %s of the service %s is \"%s\"", key, name,
		    s);
	}
	return 0;
}

/* Say a list of words, whole. */
static int
services_words(struct project *p, const struct jsonfile *j, const char *name,
    json_object *v, const char *key, const char *does)
{
	json_object *list = NULL;
	const char *s;

	if (!json_object_object_get_ex(v, key, &list))
		return 0;
	if (!json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > MEMBER_LIST)
		return jsonfile_bad(j, "services", name,
		    "may have a \"%s\" of at most %u words", key, MEMBER_LIST);
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (member_text(j, "services",
			json_object_array_get_idx(list, i), 512, &s) == -1)
			return -1;
	project_say(p, PROJECT_ASKS, "the service %s %s %s", name, does,
	    json_object_to_json_string_ext(list, ICCTL_JSON));
	return 0;
}

static int
services_one(struct project *p, const struct jsonfile *j, const char *name,
    json_object *v)
{
	static const char *const keys[] = {
	    "port", "image", "env", "health", "tmpfs", NULL};
	const char *s = NULL;
	int64_t port = 0;
	char where[64];

	snprintf(where, sizeof(where), "services.%s", name);
	if (!json_object_is_type(v, json_type_object))
		return jsonfile_bad(j, "services", name,
		    "must be an object with \"port\" and \"image\"");
	if (jsonfile_known(j, v, where, keys) == -1 ||
	    jsonfile_str(j, v, where, "image", &s) == -1 ||
	    jsonfile_int(j, v, where, "port", 1024, UINT16_MAX, &port) == -1)
		return -1;
	if (s == NULL || !member_plain(s, 255) || strchr(s, ' ') != NULL ||
	    strstr(s, "@sha256:") == NULL)
		return jsonfile_bad(j, "services", name,
		    "must have an \"image\" with its digest, as "
		    "\"postgres@sha256:...\"");
	if (port == 0)
		return jsonfile_bad(j, "services", name,
		    "must have a \"port\": the one at which the service "
		    "listens");
	project_say(p, PROJECT_ASKS,
	    "each session starts a service %s of the image %s, at localhost:%u",
	    name, s, (unsigned)port);
	if (services_env(p, j, name, v) == -1)
		return -1;
	return services_words(p, j, name, v, "health",
		   "is asked for its health, in its sandbox, by") == -1 ||
		       services_words(p, j, name, v, "tmpfs",
			   "can write, in its container's memory, to") == -1
		   ? -1
		   : 0;
}

int
members_services(struct project *p, const struct jsonfile *j, json_object *v)
{
	if (json_object_object_length(v) > (int)MEMBER_LIST)
		return jsonfile_bad(j, "services", NULL,
		    "must be an object of at most %u services", MEMBER_LIST);
	json_object_object_foreach(v, name, val)
	{
		if (!member_plain(name, 32) || !member_name_ok(name))
			return jsonfile_bad(j, "services", NULL,
			    "has a name that is none of a service");
		if (services_one(p, j, name, val) == -1)
			return -1;
	}
	return 0;
}
