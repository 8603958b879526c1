/* SPDX-License-Identifier: ISC */
/* Members of JSON objects: of the right type, of another one, and none. */
#include "base/json_get.h"

#include <err.h>

#include "tap.h"

static void
test_str(struct json_object *o)
{
	struct span s = get_span(o, "nul");

	is_str(get_str(o, "text", "none"), "a", "a string");
	is_str(get_str(o, "empty", "none"), "", "an empty one");
	is_str(get_str(o, "number", "none"), "none", "a number is no string");
	is_str(get_str(o, "null", "none"), "none", "nor is null");
	is_str(get_str(o, "missing", "none"), "none", "no such member");
	is_int(s.len, 3, "a NUL byte is a part of the text");
	ok(get_span(o, "empty").p != NULL, "an empty text is one");
	ok(get_span(o, "object").p == NULL, "an object is none");
}

static void
test_true(struct json_object *o)
{
	ok(get_true(o, "yes"), "true");
	ok(!get_true(o, "no"), "false");
	ok(!get_true(o, "null"), "null is not true");
	ok(!get_true(o, "missing"), "no such member is not true");
}

static void
test_others(struct json_object *o)
{
	struct json_object *list = json_object_new_array();

	is_str(get_str(NULL, "text", "none"), "none", "NULL has no strings");
	ok(!get_true(NULL, "yes"), "and nothing that is true");
	is_str(get_str(list, "text", "none"), "none", "an array, neither");
	ok(!get_true(list, "yes"), "and nothing that is true");
	json_object_put(list);
	json_object_put(o);
}

int
main(void)
{
	struct json_object *o;

	o = json_tokener_parse("{\"text\": \"a\", \"empty\": \"\", \"number\": "
			       "1, \"null\": null, \"nul\": \"a\\u0000b\", "
			       "\"object\": {}, \"yes\": true, \"no\": false}");
	if (o == NULL)
		errx(1, "json");
	test_str(o);
	test_true(o);
	test_others(o);
	return tap_done();
}
