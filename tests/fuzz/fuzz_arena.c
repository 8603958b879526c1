/* SPDX-License-Identifier: ISC */
/*
 * The ends of an arena whose other end writes anything. The input: steps of a
 * byte and a u32. A slot is never written again while its reader may still have
 * a right to it, and nothing outside of a piece is ever read.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "common/ipc/arena.h"

#define STREAMS 3U

enum { SAY_DONE, SAY_ROUND, TAKE, DROP, COPY, STEPS };

static struct arena_shared mine, theirs;
static struct arena a;
static struct loop loop;

/* The stream to which each slot was given, and for which round. */
static struct {
	uint32_t stream, round;
	bool closed;
} given[ARENA_SLOTS];

static void
check_take(uint32_t stream)
{
	struct arena_piece p;
	unsigned share = 0;

	if (arena_take(&a, stream, &p) == NULL)
		return;
	CHECK(p.slot < ARENA_SLOTS);
	CHECK(given[p.slot].stream == 0 || given[p.slot].closed ||
	      atomic_load(&theirs.done[p.slot]) == given[p.slot].round);
	CHECK(p.round != given[p.slot].round);
	CHECK(atomic_load(&mine.round[p.slot]) == p.round);
	given[p.slot].stream = stream;
	given[p.slot].round = p.round;
	given[p.slot].closed = false;
	for (unsigned i = 0; i < ARENA_SLOTS; i++)
		share += given[i].stream == stream && !given[i].closed &&
			 atomic_load(&theirs.done[i]) != given[i].round;
	CHECK(share <= ARENA_STREAM);
}

static void
check_copy(const uint8_t word[4])
{
	static uint8_t dst[ARENA_SLOT + 8];
	struct arena_piece p = {word[0], word[1], (uint32_t)word[2] << 11};
	uint32_t at = (uint32_t)word[3] << 10, n = at ^ 0x15555;

	n = n < ARENA_SLOT ? n : ARENA_SLOT;
	memset(dst + n, 0xa5, 8);
	if (arena_copy(&a, &p, at, dst, n)) {
		CHECK(arena_is_piece(&p) && at + n <= p.len);
		CHECK(atomic_load(&theirs.round[p.slot]) == p.round);
	}
	CHECK(dst[n] == 0xa5 && dst[n + 7] == 0xa5);
	arena_done(&a, &p);
}

static void
step(uint8_t what, const uint8_t word[4])
{
	unsigned slot = word[0] % ARENA_SLOTS;
	uint32_t stream = 1 + word[0] % STREAMS, number;

	memcpy(&number, word, sizeof(number));
	switch (what % STEPS) {
	case SAY_DONE:
		atomic_store(&theirs.done[slot], number >> 8);
		break;
	case SAY_ROUND:
		atomic_store(&theirs.round[slot], word[1]);
		atomic_store(&theirs.waits, number);
		(void)arena_wakes(&a);
		break;
	case TAKE:
		check_take(stream);
		(void)arena_waits(&a, stream);
		break;
	case DROP:
		arena_drop(&a, stream);
		loop.now += number % ARENA_CLOSED_MS;
		for (unsigned i = 0; i < ARENA_SLOTS; i++)
			given[i].closed |= given[i].stream == stream;
		break;
	case COPY:
		check_copy(word);
		break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (loop.epfd == 0 && loop_init(&loop, 1) == -1)
		abort();
	arena_init(&a, &loop, &mine, &theirs);
	memset(given, 0, sizeof(given));
	for (unsigned i = 0; i < ARENA_SLOTS; i++) {
		atomic_store(&theirs.done[i], 0);
		atomic_store(&theirs.round[i], 0);
	}
	for (; size >= 5; data += 5, size -= 5)
		step(data[0], data + 1);
	arena_stop(&a);
	return 0;
}
