/* SPDX-License-Identifier: ISC */
/* Reads members of records. */
#include "resume/carry_priv.h"

struct json_object *
carry_member(struct json_object *o, const char *key, enum json_type type)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) &&
		       json_object_is_type(v, type)
		   ? v
		   : NULL;
}

const char *
carry_text(struct json_object *o, const char *key)
{
	struct json_object *v = carry_member(o, key, json_type_string);

	return v == NULL ? "" : json_object_get_string(v);
}

uint64_t
carry_number(struct json_object *o, const char *key)
{
	struct json_object *v = carry_member(o, key, json_type_int);

	return v == NULL ? 0 : json_object_get_uint64(v);
}
