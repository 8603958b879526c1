/* SPDX-License-Identifier: ISC */
/*
 * Slots of shared memory: shares, what comes back and when, readers that come too
 * late, waiting, pages that are given back, and the rights of both mappings.
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/ipc/arena.h"
#include "common/ipc/chan.h"
#include "tap.h"

static struct loop loop;
static struct arena writer, reader;
static int memory[2];
static uint8_t out[ARENA_SLOT];

static struct arena_shared *
map(int *fd)
{
	void *p;

	if ((*fd = memfd_create("test", MFD_CLOEXEC)) == -1 ||
	    ftruncate(*fd, (off_t)ARENA_MAP) == -1 ||
	    (p = mmap(NULL, ARENA_MAP, PROT_READ | PROT_WRITE, MAP_SHARED, *fd,
		 0)) == MAP_FAILED)
		err(1, "memory");
	return p;
}

static void
set_up(void)
{
	struct arena_shared *a = map(&memory[0]), *b = map(&memory[1]);

	if (loop_init(&loop, 2) == -1)
		err(1, "loop");
	arena_init(&writer, &loop, a, b);
	arena_init(&reader, &loop, b, a);
}

static void
tear_down(void)
{
	arena_stop(&writer);
	munmap(writer.mine, ARENA_MAP);
	munmap(reader.mine, ARENA_MAP);
	close(memory[0]);
	close(memory[1]);
	loop_free(&loop);
}

/* Take a slot and fill it with `c`. Returns false if there is none. */
static bool
put(uint32_t stream, int c, struct arena_piece *p)
{
	uint8_t *at;

	if ((at = arena_take(&writer, stream, p)) == NULL)
		return false;
	memset(at, c, ARENA_SLOT);
	p->len = ARENA_SLOT;
	return true;
}

/* Take the rest of a stream's share, of which it has two slots. */
static bool
put_rest(uint32_t stream)
{
	struct arena_piece p;
	unsigned n = 2;

	while (n < ARENA_STREAM && put(stream, 'r', &p))
		n++;
	return n == ARENA_STREAM;
}

static bool
reads(const struct arena_piece *p, int c)
{
	if (!arena_copy(&reader, p, 0, out, p->len))
		return false;
	return out[0] == c && memcmp(out, out + 1, p->len - 1) == 0;
}

static void
test_slots(void)
{
	struct arena_piece p, q, more;
	unsigned n = 0;

	set_up();
	ok(put(1, 'a', &p) && reads(&p, 'a'), "a piece is read");
	ok(put(1, 'b', &q) && q.slot != p.slot && reads(&q, 'b'), "another");
	ok(put_rest(1) && !put(1, 'c', &more), "a stream has its share");
	ok(put(2, 'c', &more) && reads(&more, 'c'), "another stream has its own");
	arena_done(&reader, &p);
	ok(put(1, 'd', &more) && more.slot == p.slot && reads(&more, 'd'),
	    "a slot that came back is written again");
	ok(!arena_copy(&reader, &p, 0, out, 1),
	    "a reader of its earlier piece is told");
	ok(reads(&q, 'b'), "and no other piece has changed");
	while (put(100 + n, 'x', &more))
		n++;
	is_int(n, ARENA_SLOTS - ARENA_STREAM - 1, "all slots");
	ok(!put(7, 'x', &more), "nobody gets one that is not there");
	tear_down();
}

/* A reader says anything. */
static void
test_lies(void)
{
	struct arena_piece p, more;
	unsigned n = 0;

	set_up();
	ok(put(1, 'a', &p), "a piece");
	for (uint32_t round = 0; round < 1000; round++) {
		if (round == p.round)
			continue;
		atomic_store(&reader.mine->done[p.slot], round);
		n += put(1, 'b', &more) && more.slot == p.slot;
	}
	is_int(n, 0, "a number that is not the slot's does not free it");
	more = p;
	more.slot = ARENA_SLOTS;
	arena_done(&reader, &more);
	ok(!arena_is_piece(&more), "there is no such slot");
	more = p;
	more.len = ARENA_SLOT + 1;
	ok(!arena_is_piece(&more) && !arena_copy(&reader, &more, 0, out, 1),
	    "longer than a slot");
	more.len = 0;
	ok(!arena_is_piece(&more), "of no length");
	more.len = 10;
	ok(!arena_copy(&reader, &more, 8, out, 3) &&
	       !arena_copy(&reader, &more, UINT32_MAX, out, 1) &&
	       !arena_copy(&reader, &more, 1, out, UINT32_MAX) &&
	       arena_copy(&reader, &more, 8, out, 2),
	    "nothing outside of a piece is read");
	more.round++;
	ok(!arena_copy(&reader, &more, 0, out, 1), "of another round");
	tear_down();
}

static void
test_closed(void)
{
	struct arena_piece p, q, more;

	set_up();
	ok(put(1, 'a', &p) && put(1, 'b', &q) && put_rest(1),
	    "pieces of a stream");
	arena_drop(&writer, 1);
	ok(!put(1, 'x', &more) && reads(&p, 'a') && reads(&q, 'b'),
	    "closed: the reader may still read them");
	loop.now += ARENA_CLOSED_MS;
	ok(put(1, 'c', &more) && more.slot == p.slot, "but not for ever");
	ok(!arena_copy(&reader, &p, 0, out, 1) &&
	       !arena_copy(&reader, &q, 0, out, 1),
	    "who comes later is told, for each of them");
	arena_done(&reader, &p);
	ok(put(1, 'd', &q) && q.slot != more.slot,
	    "and cannot free what is in the slot now");
	tear_down();
}

static void
test_waits(void)
{
	struct arena_piece p, q;

	set_up();
	ok(put(1, 'a', &p) && !arena_waits(&writer, 1),
	    "a stream with less than its share does not wait");
	ok(put(1, 'b', &q) && put_rest(1) && !arena_wakes(&reader),
	    "nobody waits");
	ok(arena_waits(&writer, 1) && !arena_waits(&writer, 2),
	    "a stream with its share waits, another does not");
	arena_done(&reader, &p);
	ok(arena_wakes(&reader) && !arena_wakes(&reader),
	    "the reader wakes it, once");
	ok(!arena_waits(&writer, 1), "it has room again");
	tear_down();
}

static unsigned long
pages(void)
{
	struct stat st;

	if (fstat(memory[0], &st) == -1)
		err(1, "fstat");
	return (unsigned long)st.st_blocks * 512 / ARENA_PAGE;
}

static void
tick(void)
{
	writer.timer.at = 1;
	loop_once(&loop, 0);
}

static void
test_pages(void)
{
	struct arena_piece p, q;

	set_up();
	is_int(pages(), 0, "no page at first");
	ok(put(1, 'a', &p) && put(1, 'b', &q), "two slots");
	is_int(pages(), 1 + 2 * (ARENA_SLOT / ARENA_PAGE), "have their pages");
	arena_done(&reader, &p);
	tick();
	is_int(pages(), 1 + 2 * (ARENA_SLOT / ARENA_PAGE),
	    "used since the last tick: they stay");
	tick();
	is_int(pages(), 1 + ARENA_SLOT / ARENA_PAGE,
	    "the one that is free has none");
	ok(reads(&q, 'b') && writer.timer.at != 0, "the other is as it was");
	arena_done(&reader, &q);
	tick();
	is_int(pages(), 1, "free, too");
	ok(writer.timer.at == 0, "no timer is left");
	ok(put(1, 'c', &p) && reads(&p, 'c') && writer.timer.at != 0,
	    "and a slot can be written again");
	tear_down();
}

/* As icsupervisor gives them: each can write to its own memory and no other. */
static void
test_rights(void)
{
	static const struct chan_ops ops = {NULL, 0, NULL, NULL};
	struct chan *one, *two;
	struct arena_piece p;
	struct arena *a, *b;
	uint8_t *at;
	int pair[2];

	if (loop_init(&loop, 4) == -1 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, pair) == -1 ||
	    chan_memory_give(pair, PROTO_MEMORY_ARENA) == -1 ||
	    (one = chan_new(&loop, pair[0], ROLE_MITM, ROLE_KEY, 0, &ops,
		 NULL)) == NULL ||
	    (two = chan_new(&loop, pair[1], ROLE_KEY, ROLE_MITM, 0, &ops,
		 NULL)) == NULL ||
	    chan_memory_take(one, PROTO_MEMORY_ARENA) == -1 ||
	    chan_memory_take(two, PROTO_MEMORY_ARENA) == -1)
		err(1, "arena");
	a = chan_arena(one);
	b = chan_arena(two);
	at = arena_take(a, 1, &p);
	memcpy(at, "up", 2);
	p.len = 2;
	ok(arena_copy(b, &p, 0, out, 2) && memcmp(out, "up", 2) == 0,
	    "one writes, two reads");
	at = arena_take(b, 1, &p);
	memcpy(at, "dn", 2);
	p.len = 2;
	ok(arena_copy(a, &p, 0, out, 2) && memcmp(out, "dn", 2) == 0,
	    "two writes, one reads");
	ok(mprotect((void *)(uintptr_t)a->theirs, ARENA_MAP,
	       PROT_READ | PROT_WRITE) == -1 &&
	       errno == EACCES &&
	       mprotect((void *)(uintptr_t)b->theirs, ARENA_MAP,
		   PROT_READ | PROT_WRITE) == -1 &&
	       errno == EACCES,
	    "neither can write to the other's memory");
	ok(mprotect(a->mine, ARENA_MAP, PROT_READ | PROT_WRITE) == 0,
	    "as it can to its own");
	chan_free(one);
	chan_free(two);
	loop_free(&loop);
}

int
main(void)
{
	test_slots();
	test_lies();
	test_closed();
	test_waits();
	test_pages();
	test_rights();
	return tap_done();
}
