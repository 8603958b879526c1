/* SPDX-License-Identifier: ISC */
/*
 * Encoder and decoder of messages, driven by the protocol table.  The decoder
 * reads bytes that a compromised peer may have written: every length is checked
 * against the bytes left and against the table before it is used.
 */
#include "common/ipc/wire.h"

#include <errno.h>

static size_t
wire_width(enum proto_kind k)
{
	switch (k) {
	case PROTO_u8:
		return 1;
	case PROTO_u16:
		return 2;
	case PROTO_u32:
		return 4;
	case PROTO_u64:
		return 8;
	case PROTO_str:
	case PROTO_blob:
	case PROTO_big:
		break;
	}
	return 0;
}

static void
wire_put(uint8_t *dst, uint64_t v, size_t width)
{
	for (size_t i = 0; i < width; i++)
		dst[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t
wire_get(const uint8_t *src, size_t width)
{
	uint64_t v = 0;

	for (size_t i = 0; i < width; i++)
		v |= (uint64_t)src[i] << (8 * i);
	return v;
}

static uint64_t
wire_load(const void *p, size_t width)
{
	uint8_t v8;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (width) {
	case 1:
		memcpy(&v8, p, 1);
		return v8;
	case 2:
		memcpy(&v16, p, 2);
		return v16;
	case 4:
		memcpy(&v32, p, 4);
		return v32;
	default:
		memcpy(&v64, p, 8);
		return v64;
	}
}

static void
wire_store(void *p, uint64_t v, size_t width)
{
	uint8_t v8 = (uint8_t)v;
	uint16_t v16 = (uint16_t)v;
	uint32_t v32 = (uint32_t)v;

	switch (width) {
	case 1:
		memcpy(p, &v8, 1);
		break;
	case 2:
		memcpy(p, &v16, 2);
		break;
	case 4:
		memcpy(p, &v32, 4);
		break;
	default:
		memcpy(p, &v, 8);
		break;
	}
}

static bool
wire_text_ok(const struct proto_field *f, struct span s)
{
	if (s.len > f->max || s.len > UINT32_MAX)
		return false;
	return f->kind != PROTO_str || s.len == 0 ||
	       memchr(s.p, '\0', s.len) == NULL;
}

int
wire_encode(const struct proto_msg *m, const void *msg, uint8_t *dst,
    size_t *len, struct span *big)
{
	size_t o = WIRE_HEADER, w;
	struct span s;
	uint64_t v;

	wire_put(dst, m->type, 2);
	dst[2] = dst[3] = 0;
	*big = (struct span){NULL, 0};
	for (size_t i = 0; i < m->nfields; i++) {
		const struct proto_field *f = &m->fields[i];
		const uint8_t *at = (const uint8_t *)msg + f->offset;

		if ((w = wire_width(f->kind)) != 0) {
			v = wire_load(at, w);
			if (v > f->max || o + w > PROTO_MAX_DATAGRAM)
				goto bad;
			wire_put(dst + o, v, w);
			o += w;
			continue;
		}
		memcpy(&s, at, sizeof(s));
		if (!wire_text_ok(f, s) || o + 4 > PROTO_MAX_DATAGRAM)
			goto bad;
		wire_put(dst + o, s.len, 4);
		o += 4;
		if (f->kind == PROTO_big) {
			*big = s.p != NULL ? s : SPAN("");
			if (s.len > PROTO_MAX_DATAGRAM - o)
				dst[2] = WIRE_MEMFD;
			continue;
		}
		if (s.len > PROTO_MAX_DATAGRAM - o)
			goto bad;
		if (s.len != 0)
			memcpy(dst + o, s.p, s.len);
		o += s.len;
	}
	*len = o;
	return 0;
bad:
	errno = EINVAL;
	return -1;
}

/*
 * Decode a text field at in[*o].  `big` is the mapped memfd, if there is one.
 */
static int
wire_decode_text(const struct proto_field *f, const uint8_t *in, size_t len,
    size_t *o, struct span big, struct span *out)
{
	size_t n;

	if (len - *o < 4)
		return -1;
	n = (size_t)wire_get(in + *o, 4);
	*o += 4;
	if (f->kind == PROTO_big && big.p != NULL) {
		/* A value that fits a datagram must have come in one. */
		if (n != big.len || n <= PROTO_MAX_DATAGRAM - *o)
			return -1;
		*out = big;
	} else {
		if (n > len - *o)
			return -1;
		*out = span_of(in + *o, n);
		*o += n;
	}
	return wire_text_ok(f, *out) ? 0 : -1;
}

int
wire_decode(const struct proto_msg *m, const uint8_t *in, size_t len,
    struct span big, union proto_any *msg)
{
	size_t o = WIRE_HEADER, w;
	bool memfd = big.p != NULL, used = false;
	struct span s;
	uint64_t v;

	memset(msg, 0, m->size);
	if (len < WIRE_HEADER || wire_get(in, 2) != m->type || in[3] != 0 ||
	    in[2] != (memfd ? WIRE_MEMFD : 0))
		goto bad;
	for (size_t i = 0; i < m->nfields; i++) {
		const struct proto_field *f = &m->fields[i];
		uint8_t *at = (uint8_t *)msg + f->offset;

		if ((w = wire_width(f->kind)) != 0) {
			if (len - o < w)
				goto bad;
			v = wire_get(in + o, w);
			o += w;
			if (v > f->max)
				goto bad;
			wire_store(at, v, w);
			continue;
		}
		if (wire_decode_text(f, in, len, &o, big, &s) == -1)
			goto bad;
		if (f->kind == PROTO_big)
			used = true;
		memcpy(at, &s, sizeof(s));
	}
	if (o != len || (memfd && !used))
		goto bad;
	return 0;
bad:
	memset(msg, 0, m->size);
	errno = EBADMSG;
	return -1;
}
