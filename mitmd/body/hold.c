/* SPDX-License-Identifier: ISC */
/*
 * Stores bodies that are held back. The bytes come from the agent and are not
 * inspected here.
 */
#include "body/hold.h"

#include <sys/mman.h>

#include <errno.h>
#include <unistd.h>

void
body_hold_init(struct hold *h)
{
	*h = (struct hold){.fd = -1};
	buf_init(&h->heap, HOLD_HEAP);
}

void
hold_reset(struct hold *h)
{
	int saved = errno;

	if (h->map != NULL)
		munmap((void *)(uintptr_t)h->map, h->size);
	if (h->fd != -1)
		close(h->fd);
	buf_free(&h->heap);
	body_hold_init(h);
	errno = saved;
}

/* Spill to a memfd. */
static int
hold_spill(struct hold *h)
{
	if ((h->fd = memfd_create("body", MFD_CLOEXEC | MFD_ALLOW_SEALING)) ==
		-1 ||
	    span_write(h->fd, buf_span(&h->heap)) == -1)
		return -1;
	buf_free(&h->heap);
	return 0;
}

uint8_t *
hold_room(struct hold *h, size_t n)
{
	if (h->fd != -1 || h->all > HOLD_HEAP || n > HOLD_HEAP - h->heap.len)
		return NULL;
	/*
	 * Allocate the whole expected length at once instead of growing in
	 * steps.
	 */
	if (h->heap.cap == 0 && n < h->all)
		n = h->all;
	return buf_room(&h->heap, n);
}

void
hold_grow(struct hold *h, size_t n)
{
	buf_grow(&h->heap, n);
	h->size += n;
}

int
hold_put(struct hold *h, struct span s)
{
	uint8_t *to;

	if (s.len == 0)
		return 0;
	if ((to = hold_room(h, s.len)) != NULL) {
		memcpy(to, s.p, s.len);
		buf_grow(&h->heap, s.len);
	} else if (h->heap.failed) {
		return -1;
	} else if ((h->fd == -1 && hold_spill(h) == -1) ||
		   span_write(h->fd, s) == -1) {
		return -1;
	}
	h->size += s.len;
	return 0;
}

int
hold_look(struct hold *h, struct span *out)
{
	void *map;

	if (h->fd == -1) {
		*out = buf_span(&h->heap);
		return 0;
	}
	if (h->map == NULL) {
		map = mmap(NULL, h->size, PROT_READ, MAP_PRIVATE, h->fd, 0);
		if (map == MAP_FAILED)
			return -1;
		h->map = map;
	}
	*out = span_of(h->map + h->taken, h->size - h->taken);
	return 0;
}

void
body_hold_take(struct hold *h, size_t n)
{
	if (h->fd == -1)
		buf_drain(&h->heap, n);
	h->taken += n;
}
