/* SPDX-License-Identifier: ISC */
/*
 * The decoders on any input: the output never exceeds the maximum or the ratio,
 * and complete input decodes the same again.
 */
#include <stdlib.h>

#include "mitmd/body/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static int
put(void *arg, struct span s)
{
	uint64_t *n = arg;

	for (size_t i = 0; i < s.len; i++)
		*n = *n * 31 + s.p[i];
	return 0;
}

static int
count(void *arg, struct span s)
{
	*(uint64_t *)arg += s.len;
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t max = 1U << 20;
	uint64_t n = 0, a = 0, b = 0;
	enum decode_coding c;
	struct span s;

	if (size == 0)
		return 0;
	c = (data[0] & 1) != 0 ? DECODE_GZIP : DECODE_ZSTD;
	s = span_of(data + 1, size - 1);
	if (decode_body(c, s, max, count, &n) == DECODE_OK &&
	    decode_body(c, s, n, put, &a) != DECODE_OK)
		abort();
	if (n > max || n > s.len * (uint64_t)DECODE_RATIO + DECODE_FREE)
		abort();
	(void)decode_body(c, s, n, put, &b);
	if (a != 0 && a != b)
		abort();
	return 0;
}
