/* SPDX-License-Identifier: ISC */
/* Values that fit schemas, and values that do not, with the reason. */
#include <stdlib.h>

#include "common/json/json.h"
#include "common/json/schema.h"
#include "tap.h"

static const struct {
	const char *schema, *value, *why; /* why: NULL if it fits */
} cases[] = {
    {"{}", "[1,{\"a\":null}]", NULL},
    {"true", "1", NULL},
    {"{\"properties\":{\"a\":false}}", "{\"a\":1}", "/a is not allowed"},
    {"{\"properties\":{\"n\":{\"type\":\"integer\"}}}", "{\"n\":1.0}", NULL},
    {"{\"properties\":{\"n\":{\"type\":\"integer\"}}}", "{\"n\":1e2}", NULL},
    {"{\"properties\":{\"n\":{\"type\":\"integer\"}}}", "{\"n\":1.5}",
	"/n is a number, not integer"},
    {"{\"properties\":{\"n\":{\"type\":\"integer\"}}}",
	"{\"n\":\"not a number\"}", "/n is a string, not integer"},
    {"{\"type\":[\"string\",\"null\"]}", "null", NULL},
    {"{\"type\":[\"string\",\"null\"]}", "[]", "it is an array"},
    {"{\"required\":[\"a\",\"b\"]}", "{\"a\":1}", "it lacks \"b\""},
    {"{\"properties\":{\"a\":{}},\"additionalProperties\":false}",
	"{\"a\":1,\"b\":2}", "/b is not allowed"},
    {"{\"patternProperties\":{\"^b\":{}},\"additionalProperties\":false}",
	"{\"b\":2}", NULL},
    {"{\"items\":{\"type\":\"string\"}}", "[\"a\",1]",
	"/1 is a number, not string"},
    {"{\"prefixItems\":[{\"type\":\"null\"}],\"items\":{\"type\":\"string\"}}",
	"[null,\"a\"]", NULL},
    {"{\"maxItems\":1}", "[1,2]", "it has more than maxItems allows"},
    {"{\"minLength\":2}", "\"\xc3\xa9\"", "it has less than minLength allows"},
    {"{\"maxLength\":1}", "\"\xc3\xa9\"", NULL},
    {"{\"maximum\":0.3}", "0.3", NULL},
    {"{\"minimum\":-1e3}", "-1001", "it is less than minimum allows"},
    {"{\"exclusiveMaximum\":5}", "5.0",
	"it is more than exclusiveMaximum allows"},
    {"{\"enum\":[1,\"a\",{\"b\":[]}]}", "{\"b\":[]}", NULL},
    {"{\"enum\":[1,\"a\"]}", "\"b\"",
	"it is none of the values that are allowed"},
    {"{\"const\":1}", "1.0", NULL},
    {"{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"string\"}]}", "1",
	"it fits nothing of anyOf"},
    {"{\"allOf\":[{\"type\":\"number\"},{\"maximum\":1}]}", "2",
	"it is more than maximum allows"},
    {"{\"$defs\":{\"a/b\":{\"type\":\"null\"}},\"items\":{\"$ref\":"
     "\"#/$defs/a~1b\"}}",
	"[null]", NULL},
    {"{\"$defs\":{\"x\":{\"type\":\"null\"}},\"items\":{\"$ref\":"
     "\"#/$defs/x\"}}",
	"[1]", "/0 is a number, not null"},
    {"{\"$ref\":\"https://x/y\"}", "1", NULL},
    {"{\"pattern\":\"^a\",\"not\":{},\"type\":5}", "\"b\"", NULL},
    /* A schema that refers to itself without end, and one tree that it fits. */
    {"{\"$ref\":\"#\"}", "1", "it takes too many steps to check"},
    {"{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"type\":\"object\"}",
	"{\"a\":{\"a\":{}}}", NULL},
    {"{\"allOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}", "1",
	"it takes too many steps to check"},
};

int
main(void)
{
	struct value_pool *p = value_pool_new((size_t)1 << 20);
	const struct value *schema, *v;
	char why[SCHEMA_WHY];
	int r;

	for (size_t i = 0; p != NULL && i < nitems(cases); i++) {
		value_pool_reset(p);
		schema = json_read(p, span_str(cases[i].schema), NULL);
		v = json_read(p, span_str(cases[i].value), NULL);
		if (schema == NULL || v == NULL)
			abort();
		r = schema_value_check(schema, v, why);
		ok(r == (cases[i].why != NULL ? -1 : 0) &&
			strcmp(why, cases[i].why != NULL ? cases[i].why : "") ==
			    0,
		    "%s for %s (%s)", cases[i].value, cases[i].schema, why);
	}
	value_pool_free(p);
	return tap_done();
}
