/* SPDX-License-Identifier: ISC */
/*
 * Checks the shape of replies and events, in one place, before any command uses
 * them: json-c would abort if a list is not an array.
 */
#include "icctl/icctl.h"

#include <string.h>

enum shape {
	SHAPE_LIST = 1,  /* an array of objects */
	SHAPE_WORDS = 2, /* an array of anything else */
	SHAPE_OBJECT = 4,
	SHAPE_SCALAR = 8, /* a string, number or boolean */
};

/* clang-format off */
static const struct {
	const char *key;
	unsigned shapes;
} members[] = {
    {"alarms", SHAPE_LIST},
    {"budget", SHAPE_OBJECT},
    {"constraints", SHAPE_LIST},
    {"counts", SHAPE_OBJECT},
    {"credentials", SHAPE_LIST},
    {"definitions", SHAPE_LIST},
    {"destinations", SHAPE_LIST},
    {"granted", SHAPE_LIST | SHAPE_SCALAR},
    {"hold", SHAPE_OBJECT},
    {"holds", SHAPE_LIST},
    {"instances", SHAPE_LIST},
    {"keys", SHAPE_LIST},
    {"limits", SHAPE_OBJECT},
    {"models", SHAPE_LIST},
    {"pendingIds", SHAPE_WORDS},
    {"proxy", SHAPE_OBJECT},
    {"quarantined", SHAPE_LIST},
    {"server", SHAPE_OBJECT | SHAPE_SCALAR},
    {"servers", SHAPE_LIST},
    {"tools", SHAPE_LIST | SHAPE_SCALAR},
    {"warnings", SHAPE_LIST | SHAPE_WORDS},
    {"workers", SHAPE_LIST},
};
/* clang-format on */

/* Returns every shape that `v` has: an empty array is a list of either kind. */
static unsigned
shapes_of(json_object *v)
{
	unsigned shapes = SHAPE_LIST | SHAPE_WORDS;

	switch (json_object_get_type(v)) {
	case json_type_null:
		return 0;
	case json_type_object:
		return SHAPE_OBJECT;
	case json_type_array:
		break;
	case json_type_boolean:
	case json_type_double:
	case json_type_int:
	case json_type_string:
		return SHAPE_SCALAR;
	}
	for (size_t i = 0; i < json_object_array_length(v); i++)
		shapes &= json_object_is_type(
			      json_object_array_get_idx(v, i), json_type_object)
			      ? SHAPE_LIST
			      : SHAPE_WORDS;
	return shapes;
}

/*
 * Returns true if every member below `v` that a command uses has the right
 * shape.
 */
static bool
members_ok(json_object *v)
{
	if (json_object_is_type(v, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(v); i++)
			if (!members_ok(json_object_array_get_idx(v, i)))
				return false;
		return true;
	}
	if (!json_object_is_type(v, json_type_object))
		return true;
	json_object_object_foreach(v, key, member)
	{
		for (size_t i = 0; i < nitems(members); i++)
			if (strcmp(members[i].key, key) == 0 &&
			    (shapes_of(member) & members[i].shapes) == 0)
				return false;
		if (!members_ok(member))
			return false;
	}
	return true;
}

bool
icctl_reply_ok(json_object *o)
{
	return json_object_is_type(o, json_type_object) && members_ok(o);
}
