/* SPDX-License-Identifier: ISC */
/*
 * The JSON reader. Accepted text must be written, read again and encoded for
 * messages as the same value; a refusal must give the position.
 */
#include "check.h"
#include "common/json/json.h"

#define ROOMY	((size_t)16 << 20)

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct value_pool *pool, *spare;
	const struct value *v, *again;
	struct buf text, second, wire;
	struct json_fail fail;

	CHECK((pool = value_pool_new(ROOMY)) != NULL);
	CHECK((spare = value_pool_new(ROOMY)) != NULL);
	buf_init(&text, ROOMY);
	buf_init(&second, ROOMY);
	buf_init(&wire, ROOMY);
	if ((v = json_read(pool, span_of(p, len), &fail)) == NULL) {
		CHECK(fail.error != JSON_OK && fail.at <= len);
		goto out;
	}
	CHECK(fail.error == JSON_OK);
	CHECK(json_write(&text, v) == 0);
	CHECK((again = json_read(spare, buf_span(&text), NULL)) != NULL);
	CHECK(value_eq(v, again));
	CHECK(json_write(&second, again) == 0);
	CHECK(span_eq(buf_span(&text), buf_span(&second)));
	CHECK(value_encode(v, &wire) == 0);
	value_pool_reset(spare);
	CHECK((again = value_decode(spare, buf_span(&wire))) != NULL);
	CHECK(value_eq(v, again));
	value_pool_reset(spare);
	CHECK((again = value_copy(spare, v)) != NULL && value_eq(v, again));
out:
	buf_free(&text);
	buf_free(&second);
	buf_free(&wire);
	value_pool_free(pool);
	value_pool_free(spare);
	return 0;
}
