/* SPDX-License-Identifier: ISC */
/*
 * The ends of a ring of shared memory, whose other end writes anything. The
 * input: u32 tail, u32 head, u32 index at which both ends are, u16 offset; the
 * rest is written at the offset. Whatever a reader takes is within its limits
 * and within what the tail says; a writer never passes the head.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "common/ipc/ring.h"

static struct ring_shared shared;

static void
check_take(struct ring *r, uint32_t tail)
{
	static uint8_t dst[RING_MAX + 8];
	uint32_t before, len, n;
	int rv;

	memset(dst + RING_MAX, 0xa5, 8);
	do {
		before = r->at;
		rv = ring_take(r, dst, &len);
		if (rv != 1) {
			CHECK(r->at == before);
			break;
		}
		n = len == RING_ELSEWHERE ? 0 : len;
		CHECK(n <= RING_MAX);
		CHECK(r->at - before >= n + 4 && r->at % RING_ALIGN == 0);
		CHECK(tail - r->at <= RING_BYTES);
	} while (rv == 1);
	CHECK(rv != 0 || r->at == tail);
	CHECK(dst[RING_MAX] == 0xa5 && dst[RING_MAX + 7] == 0xa5);
}

static void
check_put(struct ring *r, uint32_t head)
{
	static const uint8_t src[RING_MAX];
	size_t len = r->at % RING_MAX;
	uint32_t begin = r->at;
	int rv;

	do {
		rv = ring_put(r, src, len);
		len = (len * 31 + 7) % (RING_MAX + 1);
	} while (rv == 1 && r->at - begin < 4 * RING_BYTES);
	CHECK(rv != 1);
	CHECK(rv != 0 || r->at - head <= RING_BYTES);
	CHECK(rv != -1 || r->at - head > RING_BYTES);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t words[3];
	uint16_t offset;
	struct ring r;
	size_t n;

	if (size < sizeof(words) + sizeof(offset))
		return 0;
	memcpy(words, data, sizeof(words));
	memcpy(&offset, data + sizeof(words), sizeof(offset));
	data += sizeof(words) + sizeof(offset);
	size -= sizeof(words) + sizeof(offset);
	words[2] -= words[2] % RING_ALIGN;
	memset(&shared, 0, sizeof(shared));
	n = RING_BYTES - offset < size ? RING_BYTES - offset : size;
	memcpy(shared.bytes + offset, data, n);
	memcpy(shared.bytes, data + n, size - n < RING_BYTES ? size - n : 0);
	atomic_store(&shared.tail, words[0]);
	atomic_store(&shared.head, words[1]);
	r = (struct ring){&shared, words[2], words[2]};
	check_take(&r, words[0]);
	r = (struct ring){&shared, words[2], words[2]};
	check_put(&r, words[1]);
	return 0;
}
