/* SPDX-License-Identifier: ISC */
/*
 * Shared by all fuzz targets: the entry function, and the check of conditions.
 */
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

#define CHECK(x)                                                               \
	do {                                                                   \
		if (!(x)) {                                                    \
			fprintf(stderr, "line %d: %s\n", __LINE__, #x);        \
			abort();                                               \
		}                                                              \
	} while (0)

#endif
