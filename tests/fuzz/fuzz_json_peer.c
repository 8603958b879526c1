/* SPDX-License-Identifier: ISC */
/*
 * The JSON reader beside json-c in strict mode. A text that our reader accepts,
 * json-c must accept, and must read as the same value as what we write of it. A
 * text that json-c alone accepts must be one of those that we refuse on
 * purpose.
 */
#include <json.h>

#include "check.h"
#include "common/json/json.h"

/* json-c counts the levels of scalars, too. */
#define DEPTH (VALUE_MAX_DEPTH + 2)

static struct json_object *
peer_read(struct span text)
{
	struct json_object *o;
	struct json_tokener *t;
	bool whole;

	CHECK((t = json_tokener_new_ex(DEPTH)) != NULL);
	json_tokener_set_flags(
	    t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(t, (const char *)text.p, (int)text.len);
	/* A number ends with the character behind it. */
	if (json_tokener_get_error(t) == json_tokener_continue) {
		json_object_put(o);
		o = json_tokener_parse_ex(t, "", 1);
	}
	whole = json_tokener_get_error(t) == json_tokener_success;
	json_tokener_free(t);
	if (!whole) {
		json_object_put(o);
		return NULL;
	}
	return o == NULL ? json_object_new_string("null") : o;
}

/* Returns true if a member's name has a NUL, at which json-c ends it. */
static bool
has_short_name(struct span text)
{
	for (size_t i = 0; i + 6 <= text.len; i++)
		if (memcmp(text.p + i, "\\u0000", 6) == 0)
			return true;
	return false;
}

/* Returns true if the bytes before or at `at` are those of a number. */
static bool
is_at_number(struct span text, size_t at)
{
	static const char of_number[] = "0123456789.eE+-NI";

	return (at > 0 && strchr(of_number, text.p[at - 1]) != NULL) ||
	       (at < text.len && strchr(of_number, text.p[at]) != NULL);
}

/*
 * Returns true for what json-c accepts against RFC 8259, numbers such as "1."
 * and NaN and control characters in strings, or we refuse beyond it, whose list
 * is in json.h.
 */
static bool
is_ours_to_refuse(struct span text, const struct json_fail *fail)
{
	switch (fail->error) {
	case JSON_DUPLICATE:
	case JSON_UTF8:
	case JSON_DEPTH:
	case JSON_LIMIT:
		return true;
	case JSON_SYNTAX:
	case JSON_NUMBER:
	case JSON_TRUNCATED:
		return is_at_number(text, fail->at) ||
		       (fail->at < text.len && text.p[fail->at] < ' ');
	case JSON_OK:
	case JSON_TRAILING:
		return false;
	}
	return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	const struct span text = span_of(p, len);
	struct json_object *theirs, *again;
	struct value_pool *pool;
	const struct value *v;
	struct json_fail fail;
	struct buf out;

	/* json-c takes an int, and ends at a NUL. */
	if (len > 1 << 20 || memchr(p, '\0', len) != NULL)
		return 0;
	CHECK((pool = value_pool_new((size_t)16 << 20)) != NULL);
	buf_init(&out, (size_t)16 << 20);
	theirs = peer_read(text);
	if ((v = json_read(pool, text, &fail)) == NULL) {
		CHECK(theirs == NULL || is_ours_to_refuse(text, &fail));
		goto out;
	}
	CHECK(theirs != NULL);
	if (has_short_name(text))
		goto out;
	CHECK(json_write(&out, v) == 0);
	CHECK((again = peer_read(buf_span(&out))) != NULL);
	CHECK(json_object_equal(theirs, again) == 1);
	json_object_put(again);
out:
	json_object_put(theirs);
	buf_free(&out);
	value_pool_free(pool);
	return 0;
}
