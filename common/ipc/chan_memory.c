/* SPDX-License-Identifier: ISC */
/* Shared memory of either kind for a channel. */
#include "common/ipc/chan_priv.h"

int
chan_memory_give(const int pair[2], enum proto_memory memory)
{
	switch (memory) {
	case PROTO_MEMORY_NONE:
		break;
	case PROTO_MEMORY_RINGS:
		return chan_ring_give(pair);
	case PROTO_MEMORY_ARENA:
		return chan_arena_give(pair);
	}
	return 0;
}
