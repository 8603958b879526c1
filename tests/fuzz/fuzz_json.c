/* SPDX-License-Identifier: ISC */
/*
 * Fuzz target: the JSON reader.  What it takes must be written, read again
 * and carried over the wire as the same value; what it refuses must say where.
 */
#include <stdlib.h>

#include "json.h"

#define ROOMY	((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check(bool good)
{
	if (!good)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct value_pool *pool, *spare;
	const struct value *v, *again;
	struct buf text, second, wire;
	struct json_fail fail;

	check((pool = value_pool_new(ROOMY)) != NULL);
	check((spare = value_pool_new(ROOMY)) != NULL);
	buf_init(&text, ROOMY);
	buf_init(&second, ROOMY);
	buf_init(&wire, ROOMY);
	if ((v = json_read(pool, span_of(p, len), &fail)) == NULL) {
		check(fail.error != JSON_OK && fail.at <= len);
		goto out;
	}
	check(fail.error == JSON_OK);
	check(json_write(&text, v) == 0);
	check((again = json_read(spare, buf_span(&text), NULL)) != NULL);
	check(value_eq(v, again));
	check(json_write(&second, again) == 0);
	check(span_eq(buf_span(&text), buf_span(&second)));
	check(value_encode(v, &wire) == 0);
	value_pool_reset(spare);
	check((again = value_decode(spare, buf_span(&wire))) != NULL);
	check(value_eq(v, again));
	value_pool_reset(spare);
	check((again = value_copy(spare, v)) != NULL && value_eq(v, again));
out:
	buf_free(&text);
	buf_free(&second);
	buf_free(&wire);
	value_pool_free(pool);
	value_pool_free(spare);
	return 0;
}
