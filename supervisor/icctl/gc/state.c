/* SPDX-License-Identifier: ISC */
#include "icctl/gc/state.h"

#include <errno.h>
#include <stdlib.h>

/* Without options: log and workspace stay for a month, the last ten always. */
#define GC_OLDER (30LL * 86400)
#define GC_NEWEST 10

enum gc_state
gc_state(const struct gc_facts *f)
{
	bool ended = f->json && !f->says_runs;

	if (f->owner == HERE_ELSEWHERE || f->other_host)
		return GC_ELSEWHERE;
	if (f->lock == GC_LOCK_TAKEN)
		return GC_LIVING;
	/* Somebody may have removed the lock of a session that lives. */
	if (!ended && f->named && !f->other_boot && f->runs)
		return GC_LIVING;
	if (ended)
		return GC_ENDED;
	if (!f->json && f->fresh)
		return GC_STARTING;
	/* Without a lock, only the process itself can tell. */
	if (f->lock == GC_LOCK_CANNOT && !f->named && !f->other_boot)
		return GC_UNKNOWN;
	if (f->json || f->log)
		return GC_CRASHED;
	return GC_REFUSED;
}

int64_t
gc_span(const char *text)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = {{'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
	char *end;
	long n;

	if (text[0] < '0' || text[0] > '9')
		return -1;
	errno = 0;
	n = strtol(text, &end, 10);
	if (errno != 0 || n > 100000)
		return -1;
	if (n == 0 && *end == '\0')
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (end[0] == units[i].unit && end[1] == '\0')
			return n * units[i].seconds;
	return -1;
}

bool
gc_removes(const struct gc_rule *r, int64_t age, unsigned rank)
{
	int64_t older = r->older, newest = r->newest;

	if (older == -1 && newest == -1) {
		older = GC_OLDER;
		newest = GC_NEWEST;
	}
	return age >= (older == -1 ? 0 : older) &&
	       rank >= (newest == -1 ? 0 : newest);
}
