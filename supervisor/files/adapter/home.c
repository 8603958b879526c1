/* SPDX-License-Identifier: ISC */
/*
 * In ic-reader: the members of an adapter that are about the agent's home:
 * "homeFiles", "caches" and "state".
 */
#include "files/adapter/adapter.h"

#include <string.h>

#include "base/jsonfile.h"

/* Read "caches" and "state": a cache is emptied, and may hold no state. */
static int
home_state(
    struct adapter *a, const struct jsonfile *j, struct json_object *root)
{
	static const char *const always[] = {".cache", ".npm/_cacache"};

	if (jsonfile_strings(
		j, root, "", "caches", ADAPTER_MAX_ARGS, &a->caches) == -1 ||
	    jsonfile_strings(
		j, root, "", "state", ADAPTER_MAX_ARGS, &a->state) == -1)
		return -1;
	for (char **p = a->state; p != NULL && *p != NULL; p++) {
		if (!paths_below_ok(*p))
			return jsonfile_bad(j, "state", *p,
			    "must be a path below the agent's home");
		for (size_t i = 0; i < nitems(always); i++)
			if (paths_under(*p, always[i]))
				return jsonfile_bad(j, "state", *p,
				    "is in %s, which is always emptied",
				    always[i]);
		for (char **c = a->caches; c != NULL && *c != NULL; c++)
			if (paths_under(*p, *c))
				return jsonfile_bad(j, "state", *p,
				    "is in %s of \"caches\", which is emptied",
				    *c);
	}
	return 0;
}

/*
 * Read "homeFiles". A text of "home" can be continued by the user's file of the
 * same name; JSON cannot.
 */
static int
home_list(struct adapter *a, const struct jsonfile *j, struct json_object *root)
{
	struct json_object *home = NULL, *own;

	if (jsonfile_strings(j, root, "", "homeFiles", ADAPTER_MAX_ARGS,
		&a->home_files) == -1 ||
	    jsonfile_object(j, root, "", "home", &home) == -1)
		return -1;
	for (char **p = a->home_files; p != NULL && *p != NULL; p++) {
		if (strlen(*p) > 512 || !paths_below_ok(*p))
			return jsonfile_bad(j, "homeFiles", *p,
			    "must be a path below your home, such as "
			    "\".claude/skills\"");
		if (home != NULL && json_object_object_get_ex(home, *p, &own) &&
		    !json_object_is_type(own, json_type_string))
			return jsonfile_bad(j, "homeFiles", *p,
			    "is a file of \"home\", in JSON, which your file "
			    "cannot continue");
	}
	return 0;
}

int
adapter_home_read(
    struct adapter *a, const struct jsonfile *j, struct json_object *root)
{
	return home_state(a, j, root) == -1 ? -1 : home_list(a, j, root);
}
