/* SPDX-License-Identifier: ISC */
/*
 * The decoder of messages. The first byte selects the form: 0, the rest is the
 * datagram; 1, two bytes give the length of the datagram, and the memfd follows
 * it. An accepted message must be within the table's limits, lie within the
 * input, encode to the same bytes, and match no other message; a refused one
 * must leave nothing behind.
 */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "common/ipc/wire.h"

static uint64_t
load(const uint8_t *at, enum proto_kind kind)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (kind) {
	case PROTO_u8:
		return *at;
	case PROTO_u16:
		memcpy(&v16, at, sizeof(v16));
		return v16;
	case PROTO_u32:
		memcpy(&v32, at, sizeof(v32));
		return v32;
	case PROTO_u64:
	case PROTO_str:
	case PROTO_blob:
	case PROTO_big:
		break;
	}
	memcpy(&v64, at, sizeof(v64));
	return v64;
}

static bool
within(struct span s, struct span in)
{
	return s.len == 0 || (s.p >= in.p && s.p + s.len <= in.p + in.len);
}

static void
check_fields(const struct proto_msg *m, const union proto_any *msg,
    struct span in, struct span big)
{
	struct span s;

	for (size_t i = 0; i < m->nfields; i++) {
		const struct proto_field *f = &m->fields[i];
		const uint8_t *at = (const uint8_t *)msg + f->offset;

		if (f->kind < PROTO_str) {
			CHECK(load(at, f->kind) <= f->max);
			continue;
		}
		memcpy(&s, at, sizeof(s));
		CHECK(s.len <= f->max);
		CHECK(within(s, in) || within(s, big));
		CHECK(f->kind != PROTO_str || s.len == 0 ||
		      memchr(s.p, '\0', s.len) == NULL);
	}
}

static void
check_same(const struct proto_msg *m, const union proto_any *msg,
    struct span in, struct span big)
{
	static uint8_t out[PROTO_MAX_DATAGRAM];
	struct span rest;
	size_t len;

	CHECK(wire_encode(m, msg, out, &len, &rest) == 0);
	CHECK(len <= in.len && memcmp(out, in.p, len) == 0);
	if (big.p != NULL)
		CHECK(len == in.len && span_eq(rest, big));
	else
		CHECK(in.len - len == rest.len &&
		      (rest.len == 0 ||
			  memcmp(rest.p, in.p + len, rest.len) == 0));
}

static void
decode(struct span in, struct span big)
{
	static const union proto_any zero;
	const struct proto_msg *m, *other;
	union proto_any msg;

	if (in.len < 2 || in.len > PROTO_MAX_DATAGRAM ||
	    (m = proto_find((uint16_t)(in.p[0] | in.p[1] << 8))) == NULL)
		return;
	other = m == &proto_msgs[0] ? &proto_msgs[1] : m - 1;
	CHECK(wire_decode(other, in.p, in.len, big, &msg) == -1);
	errno = 0;
	if (wire_decode(m, in.p, in.len, big, &msg) == -1) {
		CHECK(errno == EBADMSG);
		CHECK(memcmp(&msg, &zero, m->size) == 0);
		return;
	}
	check_fields(m, &msg, in, big);
	check_same(m, &msg, in, big);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	size_t head;

	if (len == 0)
		return 0;
	if (p[0] != 1) {
		decode(span_of(p + 1, len - 1), (struct span){NULL, 0});
		return 0;
	}
	if (len < 3)
		return 0;
	head = (size_t)(p[1] | p[2] << 8);
	if (head > len - 3)
		head = len - 3;
	decode(span_of(p + 3, head), span_of(p + 3 + head, len - 3 - head));
	return 0;
}
