/* SPDX-License-Identifier: ISC */
/*
 * The arena of a pair: two memories, one for each end. An end gets its own one
 * to write to, and the other's through a descriptor that is open for reading
 * only, so that the kernel refuses a mapping that could be written to.
 */
#include "common/ipc/chan_priv.h"

#include <sys/mman.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/confine/pledge.h"

_Static_assert(
    ARENA_MAP == PLEDGE_ARENA_BYTES, "a worker may map an arena");

/* Open the memory once more.  Returns -1 with errno set on failure. */
static int
chan_arena_reader(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int
chan_arena_give(const int pair[2])
{
	int one[ARENA_FDS] = {-1, -1}, two[ARENA_FDS] = {-1, -1}, rv = -1;

	if ((one[ARENA_FD_MINE] = chan_shared_new(ARENA_MAP)) != -1 &&
	    (two[ARENA_FD_MINE] = chan_shared_new(ARENA_MAP)) != -1 &&
	    (one[ARENA_FD_THEIRS] = chan_arena_reader(two[ARENA_FD_MINE])) !=
		-1 &&
	    (two[ARENA_FD_THEIRS] = chan_arena_reader(one[ARENA_FD_MINE])) !=
		-1 &&
	    /* A message sent to one end is received from the other. */
	    chan_first_send(pair[1], 0, one, ARENA_FDS) == 0 &&
	    chan_first_send(pair[0], 0, two, ARENA_FDS) == 0)
		rv = 0;
	chan_first_close(one, ARENA_FDS);
	chan_first_close(two, ARENA_FDS);
	return rv;
}

void
chan_arena_free(struct chan *c)
{
	struct arena *a = c->arena;

	if (a == NULL)
		return;
	arena_stop(a);
	munmap(a->mine, ARENA_MAP);
	munmap((void *)(uintptr_t)a->theirs, ARENA_MAP);
	free(a);
	c->arena = NULL;
}

struct arena *
chan_arena(const struct chan *c)
{
	return c->arena;
}
