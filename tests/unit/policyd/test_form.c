/* SPDX-License-Identifier: ISC */
/*
 * Tests forms of servers: schemas that fit and that do not, values that are
 * made of words, answers, secrets, and addresses.
 */
#include "asks/address.h"
#include "asks/form.h"
#include "common/json/json.h"
#include "tap.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

static struct value_pool *pool;
static struct form form;

static const struct value *
json(const char *text)
{
	const struct value *v = json_read(pool, span_str(text), NULL);

	if (v == NULL)
		errx(1, "not JSON: %s", text);
	return v;
}

/* Read a form with these properties. */
static int
reads(const char *properties)
{
	char text[4096];

	snprintf(text, sizeof(text),
	    "{\"type\":\"object\",\"properties\":{%s}}", properties);
	return form_from_schema(&form, json(text));
}

static void
test_schemas(void)
{
	/* clang-format off */
	static const struct { const char *text; int good; } rows[] = {
		{"\"a\":{\"type\":\"string\"}", 0},
		{"\"a\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":5}", 0},
		{"\"a\":{\"type\":\"string\",\"format\":\"email\"}", 0},
		{"\"a\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1.5}", 0},
		{"\"a\":{\"type\":\"integer\"}", 0},
		{"\"a\":{\"type\":\"boolean\",\"default\":true}", 0},
		{"\"a\":{\"type\":\"string\",\"enum\":[\"x\",\"y\"],\"enumNames\":[\"X\",\"Y\"]}", 0},
		{"\"a\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"x\",\"title\":\"X\"}]}", 0},
		{"\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"x\"]}}", 0},
		{"\"a\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"x\",\"title\":\"X\"}]}}", 0},
		{"", 0},
		{"\"a\":{}", -1}, {"\"a\":[]", -1}, {"\"a\":true", -1},
		{"\"\":{\"type\":\"string\"}", -1},
		{"\"a=b\":{\"type\":\"string\"}", -1},
		{"\"a\":{\"type\":\"null\"}", -1},
		{"\"a\":{\"type\":\"object\",\"properties\":{}}", -1},
		{"\"a\":{\"type\":[\"string\"]}", -1},
		{"\"a\":{\"type\":\"array\"}", -1},
		{"\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", -1},
		{"\"a\":{\"type\":\"array\",\"items\":{\"enum\":[[]]}}", -1},
		{"\"a\":{\"type\":\"string\",\"enum\":{}}", -1},
		{"\"a\":{\"type\":\"string\",\"enum\":[1]}", -1},
		{"\"a\":{\"type\":\"string\",\"enum\":[\"x\"],\"enumNames\":[]}", -1},
		{"\"a\":{\"type\":\"string\",\"enum\":[\"x\"],\"enumNames\":[5]}", -1},
		{"\"a\":{\"type\":\"string\",\"oneOf\":[{\"title\":\"X\"}]}", -1},
		{"\"a\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"x\",\"title\":5}]}", -1},
		{"\"a\":{\"type\":\"string\",\"minLength\":-1}", -1},
		{"\"a\":{\"type\":\"string\",\"minLength\":5,\"maxLength\":4}", -1},
		{"\"a\":{\"type\":\"string\",\"maxLength\":1e9}", -1},
		{"\"a\":{\"type\":\"string\",\"format\":5}", -1},
		{"\"a\":{\"type\":\"string\",\"title\":5}", -1},
		{"\"a\":{\"type\":\"string\",\"description\":[]}", -1},
		{"\"a\":{\"type\":\"number\",\"minimum\":\"0\"}", -1},
	};
	/* clang-format on */

	for (size_t i = 0; i < nitems(rows); i++) {
		is_int(reads(rows[i].text), rows[i].good, "%s: %s",
		    rows[i].text, form.why);
		value_pool_reset(pool);
	}
	is_int(form_from_schema(&form, NULL), -1, "no schema");
	is_int(form_from_schema(&form, json("[]")), -1, "an array");
	is_int(form_from_schema(&form, json("{\"properties\":{}}")), -1, "no type");
}

static void
value(const char *properties, const char *words, const char *want)
{
	struct value *v;
	struct buf b;

	if (reads(properties) == -1)
		errx(1, "%s: %s", properties, form.why);
	v = form_value(&form, pool, &form.fields[0], span_str(words));
	buf_init(&b, 4096);
	if (v != NULL)
		(void)json_write(&b, v);
	buf_addc(&b, '\0');
	is_str(v == NULL ? "" : (const char *)buf_span(&b).p, want,
	    "\"%s\" for %s", words, properties);
	buf_free(&b);
	value_pool_reset(pool);
}

static void
test_values(void)
{
#define ENUM "\"a\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"x\",\"title\":\"The X\"},{\"const\":\"y\"}]}"
#define LIST "\"a\":{\"type\":\"array\",\"maxItems\":2,\"items\":{\"enum\":[\"x\",\"y\",\"z\",\"p,q\"]}}"
	value("\"a\":{\"type\":\"string\"}", "", "\"\"");
	value("\"a\":{\"type\":\"string\",\"minLength\":1}", "", "");
	value("\"a\":{\"type\":\"string\",\"maxLength\":2}", "äö", "\"äö\"");
	value("\"a\":{\"type\":\"string\",\"maxLength\":2}", "äöü", "");
	value("\"a\":{\"type\":\"string\"}", "\xff", "");
	value("\"a\":{\"type\":\"string\",\"format\":\"email\"}", "a@b", "\"a@b\"");
	value("\"a\":{\"type\":\"string\",\"format\":\"email\"}", "a@b@c", "");
	value("\"a\":{\"type\":\"string\",\"format\":\"uri\"}", "x:y", "\"x:y\"");
	value("\"a\":{\"type\":\"string\",\"format\":\"uri\"}", "xy", "");
	value("\"a\":{\"type\":\"string\",\"format\":\"date\"}", "2026-02-29", "");
	value("\"a\":{\"type\":\"string\",\"format\":\"date\"}", "2024-02-29",
	    "\"2024-02-29\"");
	value("\"a\":{\"type\":\"string\",\"format\":\"date\"}", "2024-02-29x", "");
	value("\"a\":{\"type\":\"string\",\"format\":\"date-time\"}",
	    "2024-02-29T10:00:00.5+01:00", "\"2024-02-29T10:00:00.5+01:00\"");
	value("\"a\":{\"type\":\"string\",\"format\":\"date-time\"}",
	    "2024-02-29T10:00:00.Z", "");
	value("\"a\":{\"type\":\"string\",\"format\":\"date-time\"}",
	    "2024-02-29 10:00", "");
	value("\"a\":{\"type\":\"integer\",\"maximum\":3}", " 3 ", "3");
	value("\"a\":{\"type\":\"integer\",\"maximum\":3}", "4", "");
	value("\"a\":{\"type\":\"integer\"}", "1.5", "");
	value("\"a\":{\"type\":\"integer\"}", "1e3", "");
	value("\"a\":{\"type\":\"number\",\"minimum\":-1}", "-0.5", "-0.5");
	value("\"a\":{\"type\":\"number\",\"minimum\":-1}", "-1.5", "");
	value("\"a\":{\"type\":\"number\"}", "NaN", "");
	value("\"a\":{\"type\":\"number\"}", "0x10", "");
	value("\"a\":{\"type\":\"boolean\"}", "Yes", "true");
	value("\"a\":{\"type\":\"boolean\"}", "0", "false");
	value("\"a\":{\"type\":\"boolean\"}", "perhaps", "");
	value(ENUM, "x", "\"x\"");
	value(ENUM, "The X", "\"x\"");
	value(ENUM, "z", "");
	value(LIST, "x, y", "[\"x\",\"y\"]");
	value(LIST, "p,q", "[\"p,q\"]");
	value(LIST, "", "[]");
	value(LIST, "x,x", "");
	value(LIST, "x,y,z", "");
	value(LIST, "x,nope", "");
}

static void
test_answers(void)
{
	static const char schema[] =
	    "{\"type\":\"object\",\"required\":[\"a\"],\"properties\":{"
	    "\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"boolean\","
	    "\"default\":\"yes\"}}}";

	is_int(form_from_schema(&form, json(schema)), 0, "a form");
	ok(form_find(&form, SPAN("b"))->preset == NULL,
	    "a default that does not fit is none");
	is_int(form_check(&form, json("{\"a\":\"\"}")), 0, "an answer");
	is_int(form_check(&form, json("{}")), -1, "not all: %s", form.why);
	is_int(form_check(&form, json("{\"a\":1}")), -1, "type: %s", form.why);
	is_int(form_check(&form, json("{\"a\":\"\",\"c\":1}")), -1,
	    "a foreign field: %s", form.why);
	is_int(form_check(&form, json("[]")), -1, "no object: %s", form.why);
	value_pool_reset(pool);
}

static void
test_secrets(void)
{
	/* clang-format off */
	static const struct { const char *text, *message; bool secret; } rows[] = {
		{"\"password\":{\"type\":\"string\"}", "m", true},
		{"\"userPassword\":{\"type\":\"string\"}", "m", true},
		{"\"API-Key\":{\"type\":\"string\"}", "m", true},
		{"\"x\":{\"type\":\"string\",\"description\":\"the pass phrase\"}", "m", true},
		{"\"x\":{\"type\":\"string\",\"title\":\"密码在此\"}", "m", true},
		{"\"x\":{\"type\":\"string\",\"title\":\"Passwort\"}", "m", true},
		{"\"x\":{\"type\":\"string\",\"title\":\"Ваш Пароль:\"}", "m", true},
		{"\"x\":{\"type\":\"string\",\"format\":\"password\"}", "m", true},
		{"\"pin\":{\"type\":\"integer\"}", "m", true},
		{"\"x\":{\"type\":\"string\"}", "Your secret, please", true},
		{"\"ok\":{\"type\":\"boolean\"}", "Rotate the secret?", false},
		{"\"password\":{\"type\":\"boolean\"}", "m", false},
		{"\"token_kind\":{\"type\":\"string\",\"enum\":[\"a\"]}", "m", false},
		{"\"max_tokens\":{\"type\":\"integer\"}", "m", false},
		{"\"pinned\":{\"type\":\"string\"}", "m", false},
		{"\"name\":{\"type\":\"string\"}", "Your name?", false},
	};
	/* clang-format on */

	for (size_t i = 0; i < nitems(rows); i++) {
		is_int(reads(rows[i].text), 0, "a form");
		is_int(form_wants_secret(&form, span_str(rows[i].message)),
		    rows[i].secret, "%s, \"%s\": %s", rows[i].text,
		    rows[i].message, form.why);
		value_pool_reset(pool);
	}
}

static void
test_addresses(void)
{
	/* clang-format off */
	static const struct { const char *url, *host; } rows[] = {
		{"https://a.example.org", "a.example.org"},
		{"https://A.example.org:8443/x?y=z#f", "a.example.org"},
		{"https://a.example.org?x=@b", "a.example.org"},
		{"https://a.example.org:/", NULL}, {"https://a@b.example/", NULL},
		{"https://a.example.org:999999/", NULL}, {"HTTPS://a.example/", NULL},
		{"https:/a.example/", NULL}, {"https://[::1]/", NULL},
		{"https://0x7f000001/", NULL}, {"https://127.1/", NULL},
		{"https://10.0.0.1/", NULL}, {"https://a.example.org\t/", NULL},
		{"https://a.local/", NULL}, {"https://a.example.org/`id`", NULL},
		{"https://a.example.org/\xc3\xa4", NULL}, {"", NULL},
		{"https://%61.example.org/", NULL}, {"data:text/html,x", NULL},
	};
	/* clang-format on */
	char host[HOSTNAME_MAX + 1];
	const char *why;
	bool foreign;

	for (size_t i = 0; i < nitems(rows); i++) {
		why = address_check(span_str(rows[i].url), host, &foreign);
		ok((why == NULL) == (rows[i].host != NULL), "%s: %s",
		    rows[i].url, why == NULL ? "" : why);
		if (why == NULL && rows[i].host != NULL)
			is_str(host, rows[i].host, "its host");
	}
	ok(address_check(SPAN("https://xn--a-ecp.example.org/"), host,
	       &foreign) == NULL &&
		foreign,
	    "punycode is marked");
}

int
main(void)
{
	if ((pool = value_pool_new(8U << 20)) == NULL)
		err(1, NULL);
	test_schemas();
	test_values();
	test_answers();
	test_secrets();
	test_addresses();
	value_pool_free(pool);
	return tap_done();
}
