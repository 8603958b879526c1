/* SPDX-License-Identifier: ISC */
#include "json_get.h"

struct json_object *
get_member(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? v : NULL;
}

struct json_object *
get_typed(struct json_object *o, const char *key, json_type type)
{
	struct json_object *v = get_member(o, key);

	return json_object_is_type(v, type) ? v : NULL;
}

struct span
get_span(struct json_object *o, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v) ||
	    !json_object_is_type(v, json_type_string))
		return span_of(NULL, 0);
	return span_of(
	    json_object_get_string(v), (size_t)json_object_get_string_len(v));
}

const char *
get_str(struct json_object *o, const char *key, const char *none)
{
	struct span s = get_span(o, key);

	return s.p == NULL ? none : (const char *)s.p;
}

bool
get_true(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) &&
	       json_object_get_boolean(v);
}
