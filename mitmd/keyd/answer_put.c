/* SPDX-License-Identifier: ISC */
/* Writes an answer as frames for mitmd, or fails it. */
#include "keyd/answer.h"

#include <string.h>

#include "common/ipc/stream.h"

#define REPLY_MAX_OUT ((size_t)STREAM_MAX_FRAME)

enum reply_result
reply_fail(struct reply *r, enum keyd_fail fail, const char *detail)
{
	r->fail = fail;
	r->detail = detail;
	return REPLY_FAIL;
}

const char *
reply_full(const struct buf *b, const char *name)
{
	static char text[128];

	return buf_why(b, name, text, sizeof(text));
}

enum reply_result
reply_fail_full(struct reply *r, const struct buf *out)
{
	bool held = r->hold != NULL && r->hold->buf.failed;

	return reply_fail(r, KEYD_FAIL_INTERNAL,
	    held ? reply_full(&r->hold->buf, "the memory of the held answer")
		 : reply_full(out, "the queue of the answer"));
}

int
reply_frame(struct buf *out, uint32_t exchange, unsigned type, struct span s)
{
	struct stream_frame f = {
	    exchange, (enum stream_type)type, (uint32_t)s.len};
	uint8_t *p;

	if ((p = buf_room(out, STREAM_HEADER + s.len)) == NULL)
		return -1;
	stream_pack(p, &f);
	if (s.len != 0)
		memcpy(p + STREAM_HEADER, s.p, s.len);
	buf_grow(out, STREAM_HEADER + s.len);
	return 0;
}

/* Text that a search holds back is overwritten by the next: it is copied. */
_Static_assert(REPLY_PART > SCRUB_HELD_MAX, "held text is a short piece");

/* Append the header of a frame; its content is written from where it is. */
static int
reply_refer(struct reply *r, struct span s, struct buf *out)
{
	struct stream_frame f = {r->exchange, STREAM_BODY, (uint32_t)s.len};
	struct reply_parts *parts = r->parts;
	uint8_t head[STREAM_HEADER];

	stream_pack(head, &f);
	buf_add(out, head, sizeof(head));
	parts->part[parts->n].at = out->len;
	parts->part[parts->n++].s = s;
	return buf_check(out);
}

static int
reply_body_frame(struct reply *r, struct span s, struct buf *out)
{
	if (r->parts != NULL && r->parts->n < REPLY_PARTS &&
	    s.len >= REPLY_PART)
		return reply_refer(r, s, out);
	return reply_frame(out, r->exchange, STREAM_BODY, s);
}

int
reply_slot_end(struct reply *r, struct buf *out)
{
	uint8_t frame[STREAM_HEADER + STREAM_AT_LEN];
	struct reply_slot *t = r->slot;

	if (t == NULL || t->at == NULL)
		return 0;
	t->at = NULL;
	stream_at_pack(frame, r->exchange, &t->piece);
	buf_add(out, frame, sizeof(frame));
	return buf_check(out);
}

/*
 * Copy the first bytes to a slot, if there is one. Returns their number, or -1
 * if `out` is full. Once a slot is begun, short pieces follow there too.
 */
static ssize_t
reply_slot_put(struct reply *r, struct span s, struct buf *out)
{
	struct reply_slot *t = r->slot;
	size_t n;

	if (t == NULL ||
	    (t->at == NULL &&
		(s.len < ARENA_LEAST || (t->at = arena_take(t->arena,
					     t->stream, &t->piece)) == NULL)))
		return 0;
	n = ARENA_SLOT - t->piece.len;
	n = s.len < n ? s.len : n;
	memcpy(t->at + t->piece.len, s.p, n);
	t->piece.len += (uint32_t)n;
	if (t->piece.len == ARENA_SLOT && reply_slot_end(r, out) == -1)
		return -1;
	return (ssize_t)n;
}

int
reply_put_body(struct reply *r, struct span s, struct buf *out)
{
	struct span part;
	ssize_t n;

	if (r->hold != NULL) {
		buf_addspan(&r->hold->buf, s);
		if (r->hold->buf.failed)
			return -1;
		*r->hold->total += s.len;
		return 0;
	}
	while (s.len != 0) {
		if ((n = reply_slot_put(r, s, out)) == -1)
			return -1;
		if (n != 0) {
			s = span_of(s.p + n, s.len - (size_t)n);
			continue;
		}
		part =
		    span_of(s.p, s.len < REPLY_MAX_OUT ? s.len : REPLY_MAX_OUT);
		if (reply_body_frame(r, part, out) == -1)
			return -1;
		s = span_of(s.p + part.len, s.len - part.len);
	}
	return 0;
}
