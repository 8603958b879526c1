/* SPDX-License-Identifier: ISC */
/*
 * Answers of git servers about objects of git-lfs: what is composed of one is
 * an answer, too, of which the same is composed.
 */
#include <stdlib.h>

#include "mitmd/wire/lfs_batch.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *why = NULL;
	struct buf one, two;

	buf_init(&one, 1U << 20);
	buf_init(&two, 1U << 20);
	if (lfs_batch(span_of(data, size), &one, &why) == -1) {
		if (why == NULL)
			abort();
	} else if (lfs_batch(buf_span(&one), &two, &why) == -1 ||
		   !span_eq(buf_span(&one), buf_span(&two))) {
		abort();
	}
	buf_free(&one);
	buf_free(&two);
	return 0;
}
