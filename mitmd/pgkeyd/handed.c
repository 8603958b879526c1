/* SPDX-License-Identifier: ISC */
/*
 * The keys of connections that were handed on. egressd gives its clients other
 * ones, and names the connection by its id. The newest PGKEYD_MAX_HANDED are
 * kept: what a client cancels is hardly ever older.
 */
#include "pgkeyd/pgkeyd.h"

static struct {
	uint32_t id, pid;
	uint8_t key[4];
} handed[PGKEYD_MAX_HANDED];
static unsigned handed_next;

void
handed_add(uint32_t id, uint32_t pid, const uint8_t key[4])
{
	handed[handed_next].id = id;
	handed[handed_next].pid = pid;
	memcpy(handed[handed_next].key, key, sizeof(handed[0].key));
	handed_next = (handed_next + 1) % PGKEYD_MAX_HANDED;
}

bool
handed_cancel(uint32_t id, struct buf *out)
{
	size_t at;

	for (unsigned i = 0; i < PGKEYD_MAX_HANDED; i++) {
		if (handed[i].id != id || id == 0)
			continue;
		at = pg_begin(out, 0);
		pg_put_u32(out, PG_CANCEL);
		pg_put_u32(out, handed[i].pid);
		buf_add(out, handed[i].key, sizeof(handed[i].key));
		pg_end(out, at);
		return true;
	}
	return false;
}
