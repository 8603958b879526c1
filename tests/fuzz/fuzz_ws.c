/* SPDX-License-Identifier: ISC */
/*
 * WebSocket frames: byte 0 says whether they are masked; then pieces, each a
 * length byte and its bytes, as from reads. The output must be frames in order
 * with exactly the announced bytes, must not depend on how the input was cut,
 * and must read back the same when composed again.
 */
#include <stdlib.h>

#include "mitmd/wire/ws.h"

struct outcome {
	uint64_t sum; /* checksum over the output */
	size_t events, payload;
	bool bad;
};

static void
mix(struct outcome *o, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		o->sum = o->sum * 1099511628211U + p[i];
}

/* A composed head must parse as the same. */
static void
again(const struct ws_parser *p)
{
	static const uint8_t mask[4] = {1, 2, 3, 4};
	uint8_t head[WS_MAX_HEAD], *at = head;
	struct ws_parser q;
	struct span data;
	size_t n;

	ws_init(&q, p->masked);
	q.open = !p->control && (p->head[0] & 0x0f) == 0;
	n = ws_head(head, (enum ws_op)(p->head[0] & 0x0f), p->fin, p->left,
	    p->masked ? mask : NULL);
	if (ws_next(&q, &at, &n, &data) != WS_HEAD || n != 0 ||
	    q.left != p->left || q.fin != p->fin || q.control != p->control)
		abort();
}

static void
feed(struct ws_parser *p, uint8_t *in, size_t len, struct outcome *o)
{
	struct span data;
	uint64_t left;

	for (;;) {
		left = p->left;
		switch (ws_next(p, &in, &len, &data)) {
		case WS_MORE:
			if (len != 0)
				abort();
			return;
		case WS_HEAD:
			if (p->control && (p->left > WS_MAX_CONTROL || !p->fin))
				abort();
			again(p);
			mix(o, p->head, 1);
			o->events++;
			break;
		case WS_DATA:
			if (data.len == 0 || data.len > left ||
			    p->left != left - data.len)
				abort();
			mix(o, data.p, data.len);
			o->payload += data.len;
			break;
		case WS_END:
			if (p->left != 0)
				abort();
			o->events++;
			break;
		case WS_BAD:
			if (p->bad == NULL)
				abort();
			o->bad = true;
			return;
		}
	}
}

static void
run(const uint8_t *p, size_t n, bool masked, bool pieces, struct outcome *o)
{
	static uint8_t copy[1 << 16];
	struct ws_parser w;
	size_t all = 0, len;

	memset(o, 0, sizeof(*o));
	ws_init(&w, masked);
	while (n != 0 && !o->bad) {
		len = p[0] < n - 1 ? p[0] : n - 1;
		if (len > sizeof(copy) - all)
			break;
		memcpy(copy + all, p + 1, len);
		if (pieces)
			feed(&w, copy + all, len, o);
		all += len;
		p += 1 + len;
		n -= 1 + len;
	}
	if (!pieces)
		feed(&w, copy, all, o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome cut, whole;

	if (size == 0 || size > 60000)
		return 0;
	run(data + 1, size - 1, (data[0] & 1) != 0, true, &cut);
	run(data + 1, size - 1, (data[0] & 1) != 0, false, &whole);
	if (cut.sum != whole.sum || cut.events != whole.events ||
	    cut.payload != whole.payload || cut.bad != whole.bad)
		abort();
	return 0;
}
