/* SPDX-License-Identifier: ISC */
/*
 * The message that ends an event stream, read by a second implementation: its
 * CRC bit by bit, its headers one by one.
 */
#include <errno.h>
#include <string.h>

#include "mitmd/body/event_stream.h"
#include "mitmd/body/meter.h"
#include "tap.h"

static uint32_t
u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

/* CRC of IEEE 802.3, reflected, as it is defined. */
static uint32_t
crc(const uint8_t *p, size_t n)
{
	uint32_t c = 0xffffffffU;

	for (size_t i = 0; i < n; i++) {
		c ^= p[i];
		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (0xedb88320U & (0U - (c & 1)));
	}
	return ~c;
}

/*
 * Returns the value of a string header; p is NULL if it is absent or malformed.
 */
static struct span
header(struct span s, const char *want)
{
	struct span name, value, none = span_of(NULL, 0);
	size_t n;

	while (s.len != 0) {
		n = s.p[0];
		if (n + 4 > s.len || s.p[n + 1] != 7)
			return none;
		name = span_of(s.p + 1, n);
		s = span_of(s.p + n + 2, s.len - n - 2);
		n = (size_t)s.p[0] << 8 | s.p[1];
		if (n + 2 > s.len)
			return none;
		value = span_of(s.p + 2, n);
		s = span_of(s.p + n + 2, s.len - n - 2);
		if (span_is(name, want))
			return value;
	}
	return none;
}

static void
test_message(const char *type, const char *payload)
{
	struct span s, heads, body;
	struct meter m;
	struct buf b;
	uint32_t total, head;

	buf_init(&b, 1U << 16);
	buf_adds(&b, "xyz");
	is_int(event_stream_exception(&b, span_str(type), span_str(payload)),
	    0, "%s", type);
	s = buf_span(&b);
	s = span_of(s.p + 3, s.len - 3);
	total = u32(s.p);
	head = u32(s.p + 4);
	is_int(total, s.len, "its length");
	is_int(u32(s.p + 8), crc(s.p, 8), "the prelude's CRC");
	is_int(u32(s.p + total - 4), crc(s.p, total - 4), "its CRC");
	heads = span_of(s.p + 12, head);
	body = span_of(s.p + 12 + head, total - 16 - head);
	ok(span_is(header(heads, ":message-type"), "exception"),
	    "an exception");
	ok(span_is(header(heads, ":exception-type"), type), "that one");
	ok(span_is(header(heads, ":content-type"), "application/json"),
	    "in JSON");
	ok(span_eq(body, span_str(payload)), "the payload");
	meter_begin(&m, METER_AWS);
	meter_feed(&m, s);
	is_int(meter_aws_part(&m), 0, "our own reader takes it");
	buf_free(&b);
}

static void
test_limits(void)
{
	static uint8_t large[(1U << 20) + 1];
	struct buf b;

	buf_init(&b, 64);
	is_int(event_stream_exception(&b, SPAN("a"), SPAN("{}")), -1,
	    "a buffer that is full");
	buf_free(&b);
	buf_init(&b, 1U << 22);
	is_int(event_stream_exception(
		   &b, SPAN("a"), span_of(large, sizeof(large))),
	    -1, "a payload that is too long");
	is_int(errno, EMSGSIZE, "... EMSGSIZE");
	is_int(event_stream_exception(&b,
		   span_of(large, EVENT_STREAM_MAX_TYPE + 1), SPAN("{}")),
	    -1, "a type that is");
	is_int(b.len, 0, "nothing is written of either");
	buf_free(&b);
}

int
main(void)
{
	is_int(crc((const uint8_t *)"123456789", 9), 0xcbf43926U,
	    "the second CRC is the one that is meant");
	test_message("validationException", "{\"message\":\"all is spent\"}\n");
	test_message("e", "");
	test_limits();
	return tap_done();
}
