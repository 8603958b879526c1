/* SPDX-License-Identifier: ISC */
/*
 * The first bytes of a server's tunnel. Cutting the input must not change the
 * result, only its time; a result is there with HELLO_MAX_RAW bytes at the
 * latest; a name is one that lists may have, and stands in the input.
 */
#include <string.h>
#include <strings.h>

#include "check.h"
#include "mitmd/egressd/hello.h"

static void
check_name(const struct hello *h, struct span in, enum hello_result r)
{
	char again[EGRESS_MAX_HOST + 1];

	if (r != HELLO_NAMED) {
		CHECK(r == HELLO_BAD || h->name[0] == '\0');
		return;
	}
	CHECK(egress_host(span_str(h->name), again) == 0);
	CHECK(strcmp(again, h->name) == 0);
	CHECK(in.len > strlen(h->name) + 9);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hello whole, part;
	enum hello_result r = hello_parse(span_of(data, size), &whole), s;
	uint8_t *copy;

	check_name(&whole, span_of(data, size), r);
	CHECK(r != HELLO_MORE || size < HELLO_MAX_RAW);
	for (size_t n = 0; n < size; n += 1 + n / 16) {
		/* A copy of that size, so that no byte more can be read. */
		if ((copy = malloc(n + 1)) == NULL)
			abort();
		memcpy(copy, data, n);
		s = hello_parse(span_of(copy, n), &part);
		free(copy);
		CHECK(s == HELLO_MORE || s == r);
		if (s == HELLO_NAMED)
			CHECK(strcmp(part.name, whole.name) == 0);
	}
	return 0;
}
