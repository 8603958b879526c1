/* SPDX-License-Identifier: ISC */
/* Tests whether each member of a structure has a row of base/pack.h. */
#ifndef TEST_COVER_H
#define TEST_COVER_H

#include <stdio.h>
#include <string.h>

#include "supervisor/base/pack.h"
#include "tap.h"

/* Note the bytes of a row, and of all that belongs to a part. */
static inline void
cover(bool *seen, const struct pack_row *rows, size_t n, size_t base)
{
	const struct pack_row *r;
	size_t at;

	for (size_t i = 0; i < n; i++) {
		r = &rows[i];
		for (size_t k = 0; k < (r->n == 0 ? 1 : r->n); k++) {
			at = base + r->at + k * r->size;
			if (r->kind == PACK_PART)
				cover(seen, r->rows, r->nrows, at);
			else
				memset(seen + at, true, r->size);
		}
	}
}

/* Eight bytes that no row has are a member, and not padding. */
static inline void
covered(const bool *seen, size_t size, const char *what)
{
	size_t hole = 0, bad = 0;

	for (size_t i = 0; i < size; i++) {
		hole = seen[i] ? 0 : hole + 1;
		if (hole == 8 && bad++ == 0)
			printf("# no row has byte %zu\n", i);
	}
	is_int((int64_t)bad, 0, "%s", what);
}

#endif
