/* SPDX-License-Identifier: ISC */
/*
 * An event stream of a hostile server, in pieces of any size: the events are
 * the same as in one piece, none is longer than its limit, and neither is what
 * is held of one that is not complete.
 */
#include "mcp-proxyd/mcp/mcp_sse.h"

#include <string.h>

#include "check.h"

#define MAX 64U
#define ALL (1U << 20)

/* Feed the stream in pieces, and write the events to `out`. */
static void
feed(struct span in, size_t step, struct buf *out)
{
	struct mcp_event ev;
	enum mcp_sse_got got;
	struct span part;
	struct mcp_sse s;

	mcp_sse_init(&s, MAX);
	while (in.len != 0) {
		part = span_of(in.p, in.len < step ? in.len : step);
		in = span_of(in.p + part.len, in.len - part.len);
		while ((got = mcp_sse_next(&s, &part, &ev)) != SSE_MORE) {
			buf_addc(out, got == SSE_LONG ? 'L' : 'E');
			if (got == SSE_LONG)
				continue;
			CHECK(ev.data.len <= MAX && ev.name.len < SSE_NAME);
			buf_addspan(out, ev.name);
			buf_addc(out, '|');
			buf_addspan(out, ev.data);
		}
		CHECK(part.len == 0);
		CHECK(mcp_sse_held(&s) <= 2 * MAX + 16);
	}
	mcp_sse_free(&s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole, pieces;
	struct span in;

	if (size == 0)
		return 0;
	/* The first byte is the size of the pieces. */
	in = span_of(data + 1, size - 1);
	buf_init(&whole, ALL);
	buf_init(&pieces, ALL);
	feed(in, size, &whole);
	feed(in, (size_t)data[0] + 1, &pieces);
	CHECK(whole.failed || pieces.failed ||
	      span_eq(buf_span(&whole), buf_span(&pieces)));
	buf_free(&whole);
	buf_free(&pieces);
	return 0;
}
