/* SPDX-License-Identifier: ISC */
/*
 * Held bodies, through hold_put() and hold_room(), of known and unknown length,
 * in memory and in a file, come out as they went in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mitmd/body/hold.h"
#include "tap.h"

#define MOST (3U * HOLD_HEAP)

static uint8_t want[MOST];

/* Returns true if the rest of the body is the end of want[0..size]. */
static bool
holds(struct hold *h, size_t size)
{
	struct span s;
	size_t at = size - hold_left(h);

	return h->size == size && hold_look(h, &s) == 0 &&
	       s.len == hold_left(h) && memcmp(s.p, want + at, s.len) == 0;
}

/*
 * Hold `size` bytes, `all` of them announced; every second piece through
 * hold_room() if permitted.
 */
static void
run(size_t size, size_t all, size_t piece, bool file, const char *name)
{
	struct hold h;
	uint8_t *to;
	bool good = true;
	size_t n;

	body_hold_init(&h);
	h.all = all;
	for (size_t at = 0, i = 0; at < size && good; at += n, i++) {
		n = size - at < piece ? size - at : piece;
		if (i % 2 == 1 && (to = hold_room(&h, n)) != NULL) {
			memcpy(to, want + at, n);
			hold_grow(&h, n);
		} else {
			good = hold_put(&h, span_of(want + at, n)) == 0;
		}
	}
	ok(good && holds(&h, size), "%s: the same bytes", name);
	ok((h.fd != -1) == file, "%s: in %s", name, file ? "a file" : "memory");
	ok(h.heap.cap <= HOLD_HEAP + HOLD_HEAP / 4 &&
		(!file || h.heap.cap == 0),
	    "%s: no more memory than that", name);
	body_hold_take(&h, size / 3);
	ok(holds(&h, size), "%s: and without its beginning", name);
	hold_reset(&h);
	ok(h.size == 0 && h.all == 0 && h.fd == -1 && h.heap.cap == 0,
	    "%s: then nothing", name);
}

int
main(void)
{
	struct hold h;
	uint8_t *p;

	srandom(1);
	for (size_t i = 0; i < MOST; i++)
		want[i] = (uint8_t)random();
	run(1000, 0, 100, false, "small");
	run(200000, 200000, 16384, false, "of known length");
	run(200000, 0, 16384, false, "of unknown length");
	run(HOLD_HEAP, HOLD_HEAP, 16384, false, "the longest in memory");
	run(HOLD_HEAP, 0, 16000, false, "the longest, unannounced");
	run(HOLD_HEAP + 1, HOLD_HEAP + 1, 16384, true, "one byte more");
	run(HOLD_HEAP + 1, 0, 16384, true, "one byte more, unannounced");
	run(MOST, MOST, 65536, true, "large");
	run(MOST, 0, 100000, true, "large, unannounced");
	run(300000, 1000, 10000, false, "longer than announced");
	run(MOST, 1000, 10000, true, "much longer than announced");

	body_hold_init(&h);
	h.all = 200000;
	ok(hold_put(&h, span_of(want, 10)) == 0 && h.heap.cap == 200000,
	    "room for all of a known length is made once");
	p = h.heap.p;
	ok(hold_room(&h, 199990) == p + 10, "and its rest has a place in it");
	ok(hold_room(&h, HOLD_HEAP) == NULL && !h.heap.failed,
	    "what would be too long has none, and nothing is lost");
	hold_reset(&h);
	return tap_done();
}
