/* SPDX-License-Identifier: ISC */
/*
 * Composes one message of an event stream. Keeps no state and writes only its
 * arguments.
 */
#include "body/event_stream.h"

#include <errno.h>

#include <zlib.h>

#define EVENT_PRELUDE 12U
#define EVENT_MAX_PAYLOAD (1U << 20)
#define EVENT_STRING 7U /* header type: string */

static void
event_put_u32(struct buf *b, size_t n)
{
	uint8_t p[4] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16),
	    (uint8_t)(n >> 8), (uint8_t)n};

	buf_add(b, p, sizeof(p));
}

/* Append the CRC of everything added since `at`. */
static void
event_put_crc(struct buf *b, size_t at)
{
	struct span s = buf_span(b);

	if (b->failed)
		return;
	event_put_u32(b, crc32(0, s.p + at, (uInt)(s.len - at)));
}

static void
event_put_header(struct buf *b, struct span name, struct span value)
{
	buf_addc(b, (uint8_t)name.len);
	buf_addspan(b, name);
	buf_addc(b, EVENT_STRING);
	buf_addc(b, (uint8_t)(value.len >> 8));
	buf_addc(b, (uint8_t)value.len);
	buf_addspan(b, value);
}

int
event_stream_exception(struct buf *b, struct span type, struct span payload)
{
	struct buf head;
	size_t at = b->len;
	int r;

	if (type.len > EVENT_STREAM_MAX_TYPE ||
	    payload.len > EVENT_MAX_PAYLOAD) {
		errno = EMSGSIZE;
		return -1;
	}
	buf_init(&head, 512);
	event_put_header(&head, SPAN(":message-type"), SPAN("exception"));
	event_put_header(&head, SPAN(":exception-type"), type);
	event_put_header(
	    &head, SPAN(":content-type"), SPAN("application/json"));
	event_put_u32(b, EVENT_PRELUDE + head.len + payload.len + 4);
	event_put_u32(b, head.len);
	event_put_crc(b, at);
	buf_addspan(b, buf_span(&head));
	buf_addspan(b, payload);
	event_put_crc(b, at);
	r = head.failed || b->failed ? -1 : 0;
	buf_free(&head);
	return r;
}
