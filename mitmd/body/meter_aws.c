/* SPDX-License-Identifier: ISC */
/*
 * Reads Amazon's event streams in pieces: walks frames by their lengths and
 * passes their JSON to the scanner. Only a frame's prelude and first headers
 * are buffered. After a wrong length or CRC the rest is ignored: that may lose
 * a count, nothing else.
 */
#include "body/meter.h"

#include <zlib.h>

#include "common/http/base64.h"

static uint32_t
aws_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static void
aws_crc(struct meter_aws *a, const uint8_t *p, size_t n)
{
	a->crc = (uint32_t)crc32(a->crc, p, (uInt)n);
}

/* Returns true if the string header ":event-type" is "chunk". */
static bool
aws_is_chunk(const uint8_t *p, size_t n)
{
	static const uint8_t sizes[] = {0, 0, 1, 2, 4, 8, 2, 2, 8, 16};
	struct span name, value;
	size_t len, at = 0;
	uint8_t type;

	while (n - at >= 2) {
		len = p[at++];
		if (len == 0 || len >= n - at)
			return false;
		name = span_of(p + at, len);
		at += len;
		if ((type = p[at++]) >= sizeof(sizes))
			return false;
		len = sizes[type];
		if (len > n - at)
			return false;
		if (type == 6 || type == 7) {
			len = (size_t)p[at] << 8 | p[at + 1];
			at += 2;
			if (len > n - at)
				return false;
		}
		value = span_of(p + at, len);
		at += len;
		if (type == 7 && span_is(name, ":event-type"))
			return span_is(value, "chunk");
	}
	return false;
}

static void
aws_begin(struct meter *m)
{
	struct meter_aws *a = &m->aws;

	a->chunk = a->headers <= METER_AWS_HEADERS &&
		   aws_is_chunk(a->text, a->headers);
	a->string = a->escaped = a->value = a->bytes = false;
	a->bits = 0;
	a->nbits = 0;
	m->before = m->found;
	meter_json_begin(m);
}

/* Go on to the next part that is not empty. */
static void
aws_next(struct meter *m)
{
	struct meter_aws *a = &m->aws;

	a->have = 0;
	if (a->state == METER_AWS_PRELUDE_IN) {
		a->state = METER_AWS_HEADERS_IN;
		if ((a->left = a->headers) != 0)
			return;
		aws_begin(m);
	}
	if (a->state == METER_AWS_HEADERS_IN) {
		a->state = METER_AWS_PAYLOAD_IN;
		if ((a->left = a->payload) != 0)
			return;
	}
	if (a->state == METER_AWS_PAYLOAD_IN) {
		a->state = METER_AWS_CRC_IN;
	} else {
		a->state = METER_AWS_PRELUDE_IN;
		a->crc = 0;
	}
}

static void
aws_prelude(struct meter *m)
{
	struct meter_aws *a = &m->aws;
	uint32_t total = aws_u32(a->text), headers = aws_u32(a->text + 4);

	aws_crc(a, a->text, 8);
	if (a->crc != aws_u32(a->text + 8) || total > METER_AWS_FRAME ||
	    total < METER_AWS_PRELUDE + 4 ||
	    headers > total - METER_AWS_PRELUDE - 4) {
		a->state = METER_AWS_LOST;
		return;
	}
	aws_crc(a, a->text + 8, 4);
	a->headers = headers;
	a->payload = total - METER_AWS_PRELUDE - 4 - headers;
	aws_next(m);
}

/* Collect `want` bytes in `text`. Returns how many bytes of `p` were used. */
static size_t
aws_gather(struct meter_aws *a, const uint8_t *p, size_t n, size_t want)
{
	size_t take = want - a->have;

	if (take > n)
		take = n;
	memcpy(a->text + a->have, p, take);
	a->have += (unsigned)take;
	return take;
}

/*
 * Read a byte of a string. Returns the number of bytes decoded to `out`: 0 or
 * 1.
 */
static size_t
aws_string(struct meter_aws *a, uint8_t c, uint8_t *out)
{
	int v;

	if (!a->value) {
		if (a->len < sizeof(a->name))
			a->name[a->len] = (char)c;
		a->len++;
		return 0;
	}
	if (!a->bytes || (v = base64_digit(c)) == -1)
		return 0;
	a->bits = (a->bits << 6 | (uint32_t)v) & 0xfff;
	a->nbits += 6;
	if (a->nbits < 8)
		return 0;
	a->nbits -= 8;
	*out = (uint8_t)(a->bits >> a->nbits);
	return 1;
}

/* Outside strings: determine whether the next string is a name or a value. */
static void
aws_between(struct meter_aws *a, uint8_t c)
{
	if (c == '"') {
		a->string = true;
		if (!a->value)
			a->len = 0;
	} else if (c == ':') {
		a->value = true;
		a->bytes = a->len == 5 && memcmp(a->name, "bytes", 5) == 0;
	} else if (c == ',') {
		a->value = false;
	}
}

/* Read {"bytes":"...","p":"..."}, an object that holds nothing but strings. */
static void
aws_chunk(struct meter *m, const uint8_t *p, size_t n)
{
	struct meter_aws *a = &m->aws;
	uint8_t out[256];
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		if (!a->string) {
			aws_between(a, p[i]);
		} else if (a->escaped || (p[i] != '"' && p[i] != '\\')) {
			/*
			 * JSON may escape the slash, which is a base64 digit.
			 */
			a->escaped = false;
			len += aws_string(a, p[i], out + len);
		} else {
			a->escaped = p[i] == '\\';
			a->string = a->escaped;
		}
		if (len == sizeof(out) || i + 1 == n) {
			(void)meter_json_feed(m, span_of(out, len));
			len = 0;
		}
	}
}

static void
aws_payload(struct meter *m, const uint8_t *p, size_t n)
{
	if (m->aws.chunk)
		aws_chunk(m, p, n);
	else
		(void)meter_json_feed(m, span_of(p, n));
}

static void
aws_end(struct meter *m)
{
	struct meter_aws *a = &m->aws;

	if (a->crc == aws_u32(a->text)) {
		aws_next(m);
		return;
	}
	m->found = m->before;
	m->event = (struct meter_event){.usage = 0};
	a->state = METER_AWS_LOST;
}

/* Consume some of `p`. Returns how much. */
static size_t
aws_step(struct meter *m, const uint8_t *p, size_t n)
{
	struct meter_aws *a = &m->aws;
	size_t took, room;

	switch (a->state) {
	case METER_AWS_PRELUDE_IN:
		took = aws_gather(a, p, n, METER_AWS_PRELUDE);
		if (a->have == METER_AWS_PRELUDE)
			aws_prelude(m);
		return took;
	case METER_AWS_HEADERS_IN:
		took = n < a->left ? n : a->left;
		room = METER_AWS_HEADERS - a->have;
		(void)aws_gather(
		    a, p, took < room ? took : room, METER_AWS_HEADERS);
		aws_crc(a, p, took);
		a->left -= (uint32_t)took;
		if (a->left == 0) {
			aws_begin(m);
			aws_next(m);
		}
		return took;
	case METER_AWS_PAYLOAD_IN:
		took = n < a->left ? n : a->left;
		aws_payload(m, p, took);
		aws_crc(a, p, took);
		a->left -= (uint32_t)took;
		if (a->left == 0)
			aws_next(m);
		return took;
	case METER_AWS_CRC_IN:
		took = aws_gather(a, p, n, 4);
		if (a->have == 4)
			aws_end(m);
		return took;
	case METER_AWS_LOST:
		break;
	}
	return n;
}

void
meter_aws_feed(struct meter *m, struct span s)
{
	struct meter_aws *a = &m->aws;
	size_t took;

	for (size_t at = 0; at < s.len; at += took) {
		took = aws_step(m, s.p + at, s.len - at);
		a->part += (uint32_t)took;
		if (a->state == METER_AWS_PRELUDE_IN && a->have == 0)
			a->part = 0;
	}
}

size_t
meter_aws_part(const struct meter *m)
{
	return m->aws.state == METER_AWS_LOST ? SIZE_MAX : m->aws.part;
}
