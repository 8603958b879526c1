/* SPDX-License-Identifier: ISC */
/*
 * Encoder and decoder of messages, driven by the protocol table.  The decoder
 * reads bytes that a compromised peer may have written: every length is checked
 * against the bytes left and against the table before it is used.
 */
#include "common/ipc/wire.h"

#include <endian.h>
#include <errno.h>

#include "common/le32.h"

/*
 * Encode the number at `from`.  Returns its width, or 0 if it exceeds its
 * maximum or the room.
 */
static inline size_t
wire_put_number(
    const struct proto_field *f, const uint8_t *from, uint8_t *dst, size_t room)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (f->kind) {
	case PROTO_u8:
		if (*from > f->max || room < sizeof(*from))
			return 0;
		*dst = *from;
		return sizeof(*from);
	case PROTO_u16:
		memcpy(&v16, from, sizeof(v16));
		if (v16 > f->max || room < sizeof(v16))
			return 0;
		v16 = htole16(v16);
		memcpy(dst, &v16, sizeof(v16));
		return sizeof(v16);
	case PROTO_u32:
		memcpy(&v32, from, sizeof(v32));
		if (v32 > f->max || room < sizeof(v32))
			return 0;
		le32_put(dst, v32);
		return sizeof(v32);
	case PROTO_u64:
		memcpy(&v64, from, sizeof(v64));
		if (v64 > f->max || room < sizeof(v64))
			return 0;
		v64 = htole64(v64);
		memcpy(dst, &v64, sizeof(v64));
		return sizeof(v64);
	case PROTO_str:
	case PROTO_blob:
	case PROTO_big:
		break;
	}
	return 0;
}

/*
 * Decode a number from `src`, of which `left` bytes are there.  Returns its
 * width, or 0 if it is cut short or exceeds its maximum.
 */
static inline size_t
wire_get_number(
    const struct proto_field *f, const uint8_t *src, size_t left, uint8_t *to)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (f->kind) {
	case PROTO_u8:
		if (left < sizeof(*src) || *src > f->max)
			return 0;
		*to = *src;
		return sizeof(*src);
	case PROTO_u16:
		if (left < sizeof(v16))
			return 0;
		memcpy(&v16, src, sizeof(v16));
		v16 = le16toh(v16);
		memcpy(to, &v16, sizeof(v16));
		return v16 > f->max ? 0 : sizeof(v16);
	case PROTO_u32:
		if (left < sizeof(v32))
			return 0;
		v32 = le32_get(src);
		memcpy(to, &v32, sizeof(v32));
		return v32 > f->max ? 0 : sizeof(v32);
	case PROTO_u64:
		if (left < sizeof(v64))
			return 0;
		memcpy(&v64, src, sizeof(v64));
		v64 = le64toh(v64);
		memcpy(to, &v64, sizeof(v64));
		return v64 > f->max ? 0 : sizeof(v64);
	case PROTO_str:
	case PROTO_blob:
	case PROTO_big:
		break;
	}
	return 0;
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

	dst[0] = (uint8_t)m->type;
	dst[1] = (uint8_t)(m->type >> 8);
	dst[2] = dst[3] = 0;
	*big = (struct span){NULL, 0};
	for (size_t i = 0; i < m->nfields; i++) {
		const struct proto_field *f = &m->fields[i];
		const uint8_t *at = (const uint8_t *)msg + f->offset;

		if (f->kind < PROTO_str) {
			if ((w = wire_put_number(
				 f, at, dst + o, PROTO_MAX_DATAGRAM - o)) == 0)
				goto bad;
			o += w;
			continue;
		}
		memcpy(&s, at, sizeof(s));
		if (!wire_text_ok(f, s) || o + 4 > PROTO_MAX_DATAGRAM)
			goto bad;
		le32_put(dst + o, (uint32_t)s.len);
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
	n = le32_get(in + *o);
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

	/* Success sets every field. */
	if (len < WIRE_HEADER || (in[0] | in[1] << 8) != m->type ||
	    in[3] != 0 || in[2] != (memfd ? WIRE_MEMFD : 0))
		goto bad;
	for (size_t i = 0; i < m->nfields; i++) {
		const struct proto_field *f = &m->fields[i];
		uint8_t *at = (uint8_t *)msg + f->offset;

		if (f->kind < PROTO_str) {
			if ((w = wire_get_number(f, in + o, len - o, at)) == 0)
				goto bad;
			o += w;
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
