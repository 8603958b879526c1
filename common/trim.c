/* SPDX-License-Identifier: ISC */
/*
 * When to return memory to the kernel.  Each time costs a walk over the heap,
 * so it is paid for by at least a dozen things that ended.  Holds a number.
 */
#include "trim.h"

#include <malloc.h>

void
trim_freed(struct trim *t, unsigned left)
{
	if (left >= t->most)
		t->most = left + 1;
	if (t->most < TRIM_MIN || left > t->most / 4)
		return;
	t->most = left;
	(void)malloc_trim(0);
}
