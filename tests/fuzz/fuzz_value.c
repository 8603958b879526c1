/* SPDX-License-Identifier: ISC */
/*
 * Fuzz target: the decoder of value trees.  What it takes must be encoded as
 * exactly the same bytes, and be written as JSON that reads as the same value.
 */
#include <errno.h>
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
	struct buf text, wire;

	check((pool = value_pool_new(ROOMY)) != NULL);
	check((spare = value_pool_new(ROOMY)) != NULL);
	buf_init(&text, ROOMY);
	buf_init(&wire, ROOMY);
	errno = 0;
	if ((v = value_decode(pool, span_of(p, len))) == NULL) {
		check(errno == EBADMSG);
		goto out;
	}
	check(value_encode(v, &wire) == 0);
	check(span_eq(buf_span(&wire), span_of(p, len)));
	check(json_write(&text, v) == 0);
	check((again = json_read(spare, buf_span(&text), NULL)) != NULL);
	check(value_eq(v, again));
out:
	buf_free(&text);
	buf_free(&wire);
	value_pool_free(pool);
	value_pool_free(spare);
	return 0;
}
