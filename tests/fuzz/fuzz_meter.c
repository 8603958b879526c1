/* SPDX-License-Identifier: ISC */
/*
 * The meter on any input: the result is the same for the whole input and for
 * input cut where the first byte says.
 */
#include <stdlib.h>

#include "mitmd/body/meter.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct meter_usage a, b;
	struct meter m;
	size_t step;

	if (size < 2)
		return 0;
	step = 1 + data[0] / 2;
	meter_begin(&m, (data[0] & 1) != 0 ? METER_SSE : METER_JSON);
	meter_feed(&m, span_of(data + 1, size - 1));
	meter_read(&m, &a);
	meter_begin(&m, (data[0] & 1) != 0 ? METER_SSE : METER_JSON);
	for (size_t i = 1; i < size; i += step)
		meter_feed(
		    &m, span_of(data + i, size - i < step ? size - i : step));
	meter_read(&m, &b);
	if (a.in != b.in || a.out != b.out || a.cache_read != b.cache_read ||
	    a.cache_write != b.cache_write || a.reasoning != b.reasoning ||
	    a.seen != b.seen || strcmp(a.model, b.model) != 0)
		abort();
	return 0;
}
