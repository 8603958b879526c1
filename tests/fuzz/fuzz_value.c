/* SPDX-License-Identifier: ISC */
/*
 * The decoder of value trees. Accepted input must encode to the same bytes, and
 * be written as JSON that reads as the same value.
 */
#include <errno.h>

#include "check.h"
#include "common/json/json.h"

#define ROOMY	((size_t)16 << 20)

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct value_pool *pool, *spare;
	const struct value *v, *again;
	struct buf text, wire;

	CHECK((pool = value_pool_new(ROOMY)) != NULL);
	CHECK((spare = value_pool_new(ROOMY)) != NULL);
	buf_init(&text, ROOMY);
	buf_init(&wire, ROOMY);
	errno = 0;
	if ((v = value_decode(pool, span_of(p, len))) == NULL) {
		CHECK(errno == EBADMSG);
		goto out;
	}
	CHECK(value_encode(v, &wire) == 0);
	CHECK(span_eq(buf_span(&wire), span_of(p, len)));
	CHECK(json_write(&text, v) == 0);
	CHECK((again = json_read(spare, buf_span(&text), NULL)) != NULL);
	CHECK(value_eq(v, again));
out:
	buf_free(&text);
	buf_free(&wire);
	value_pool_free(pool);
	value_pool_free(spare);
	return 0;
}
