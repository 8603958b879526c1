/* SPDX-License-Identifier: ISC */
/*
 * Event streams, whole and cut where the first byte says. If its lowest bit is
 * set, the frames' checksums are corrected first, as few inputs would pass them
 * otherwise.
 */
#include <stdlib.h>
#include <zlib.h>

#include "mitmd/body/meter.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
put(uint8_t *p, size_t n, const uint8_t *of)
{
	uint32_t v = (uint32_t)crc32(0, of, (uInt)n);

	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void
mend(uint8_t *p, size_t n)
{
	size_t len;

	while (n >= 16) {
		/* Frames of a few hundred bytes suffice. */
		p[0] = p[1] = p[4] = p[5] = 0;
		len = (size_t)p[2] << 8 | p[3];
		put(p + 8, 8, p);
		if (len < 16 || len > n)
			return;
		put(p + len - 4, len - 4, p);
		p += len;
		n -= len;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct meter_usage a, b;
	struct meter m;
	uint8_t *copy;
	size_t step, part, n = size - 1;

	if (size < 2 || (copy = malloc(n)) == NULL)
		return 0;
	memcpy(copy, data + 1, n);
	step = 1 + data[0] / 2;
	if ((data[0] & 1) != 0)
		mend(copy, n);
	meter_begin(&m, METER_AWS);
	meter_feed(&m, span_of(copy, n));
	meter_read(&m, &a);
	part = meter_aws_part(&m);
	meter_begin(&m, METER_AWS);
	for (size_t i = 0; i < n; i += step)
		meter_feed(&m, span_of(copy + i, n - i < step ? n - i : step));
	meter_read(&m, &b);
	free(copy);
	if (a.in != b.in || a.out != b.out || a.cache_read != b.cache_read ||
	    a.cache_write != b.cache_write || a.seen != b.seen ||
	    strcmp(a.model, b.model) != 0 || meter_aws_part(&m) != part ||
	    (part > n && part != SIZE_MAX))
		abort();
	return 0;
}
