/* SPDX-License-Identifier: ISC */
/*
 * Decides when to return memory to the kernel.  Each return walks the whole
 * heap, so it is done only after at least a dozen things have ended.
 */
#include "common/trim.h"

#include <malloc.h>

static void
trim_settled(struct loop_timer *t)
{
	struct trim *trim = t->arg;

	trim->begun = 0;
	(void)malloc_trim(0);
}

void
trim_begun(struct trim *t, struct loop *l)
{
	if (++t->begun >= TRIM_MIN && t->timer.at == 0)
		loop_timer_set(l, &t->timer, TRIM_MS, trim_settled, t);
}

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
