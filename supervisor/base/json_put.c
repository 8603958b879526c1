/* SPDX-License-Identifier: ISC */
#include "json_put.h"

#include "base/json_get.h"
#include "common/json/value.h"
#include "common/log.h"

struct json_object *
json_text(const char *s)
{
	char vis[4096];

	if (!utf8_valid(span_str(s)))
		s = log_vis(span_str(s), vis, sizeof(vis));
	return json_object_new_string(s);
}

void
put_str(struct json_object *o, const char *key, const char *s)
{
	json_object_object_add(o, key, json_text(s));
}

void
put_int(struct json_object *o, const char *key, int64_t n)
{
	json_object_object_add(o, key, json_object_new_int64(n));
}

void
put_bool(struct json_object *o, const char *key, bool b)
{
	json_object_object_add(o, key, json_object_new_boolean(b));
}

void
put_digest(struct json_object *o, const char *key, const uint8_t digest[32])
{
	char hex[65];

	put_str(o, key, hex_string(digest, 32, hex));
}

struct json_object *
put_child(struct json_object *o, const char *key)
{
	struct json_object *v = get_typed(o, key, json_type_object);

	if (v == NULL) {
		v = json_object_new_object();
		json_object_object_add(o, key, v);
	}
	return v;
}
