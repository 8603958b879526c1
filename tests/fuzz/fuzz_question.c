/* SPDX-License-Identifier: ISC */
/*
 * A server's form and an answer to it: a schema, a newline, the words of a
 * person. A form that is taken has names and options that can be shown; a value
 * that is made of words passes the check, and so does the answer that it is in;
 * a reason is printable. The same words are an address.
 */
#include <string.h>

#include "asks/address.h"
#include "asks/form.h"
#include "check.h"
#include "common/hidden.h"
#include "common/json/json.h"

static void
check_why(const struct form *f)
{
	CHECK(memchr(f->why, '\0', sizeof(f->why)) != NULL);
	for (const char *p = f->why; *p != '\0'; p++)
		CHECK(*p >= 0x20 && *p < 0x7f);
}

static void
check_field(struct value_pool *pool, struct form *f,
    const struct form_field *k, struct span words)
{
	struct value *answer = value_new(pool, VALUE_OBJECT), *v;
	struct span o, label;

	CHECK(k->name.len != 0 && k->name.len <= FORM_MAX_NAME &&
	      !hidden_in(k->name) && k->min <= k->max);
	for (unsigned i = 0; (o = form_option(k, i, &label)).p != NULL; i++)
		CHECK(o.len != 0 && !hidden_in(o) && i < FORM_MAX_OPTIONS);
	CHECK(form_find(f, k->name) == k);
	v = form_value(f, pool, k, words);
	check_why(f);
	if (v == NULL || value_set(answer, k->name, v) == -1)
		return;
	/* Only fields that are required can be missing. */
	if (form_check(f, answer) == -1)
		CHECK(strstr(f->why, "must be answered") != NULL);
	if (k->preset != NULL) {
		answer = value_new(pool, VALUE_OBJECT);
		if (value_set(answer, k->name, value_copy(pool, k->preset)) ==
			0 &&
		    form_check(f, answer) == -1)
			CHECK(strstr(f->why, "must be answered") != NULL);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	const uint8_t *line = len == 0 ? NULL : memchr(p, '\n', len);
	struct span schema = span_of(p, len), words = SPAN("");
	struct value_pool *pool = value_pool_new(16U << 20);
	char host[HOSTNAME_MAX + 1];
	const struct value *v;
	struct form f;
	bool foreign;

	if (line != NULL) {
		schema.len = (size_t)(line - p);
		words = span_of(line + 1, len - schema.len - 1);
	}
	if (address_check(words, host, &foreign) == NULL)
		CHECK(strchr(host, '.') != NULL && words.len <= ADDRESS_MAX &&
		      !hidden_in(words));
	if ((v = json_read(pool, schema, NULL)) != NULL) {
		if (form_from_schema(&f, v) == 0) {
			CHECK(f.n <= FORM_MAX_FIELDS);
			(void)form_wants_secret(&f, words);
			for (unsigned i = 0; i < f.n; i++)
				check_field(pool, &f, &f.fields[i], words);
		}
		check_why(&f);
	}
	value_pool_free(pool);
	return 0;
}
