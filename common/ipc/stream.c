/* SPDX-License-Identifier: ISC */
/*
 * Headers of the frames that keyd and the reader of its answers exchange. Keeps
 * no state; either side may be hostile to the other.
 */
#include "common/ipc/stream.h"

#include <errno.h>

#include "common/le32.h"

void
stream_pack(uint8_t dst[STREAM_HEADER], const struct stream_frame *f)
{
	le32_put(dst, f->exchange);
	dst[4] = (uint8_t)f->type;
	dst[5] = (uint8_t)f->len;
	dst[6] = (uint8_t)(f->len >> 8);
	dst[7] = (uint8_t)(f->len >> 16);
}

int
stream_unpack(const uint8_t src[STREAM_HEADER], struct stream_frame *f)
{
	uint32_t len;

	len = (uint32_t)src[5] | (uint32_t)src[6] << 8 | (uint32_t)src[7] << 16;
	if (src[4] < STREAM_BODY || src[4] > STREAM_FOLLOW ||
	    len > STREAM_MAX_FRAME ||
	    (src[4] == STREAM_AT && len != STREAM_AT_LEN) ||
	    (src[4] == STREAM_FOLLOW && len != 0)) {
		errno = EBADMSG;
		return -1;
	}
	f->exchange = le32_get(src);
	f->type = (enum stream_type)src[4];
	f->len = len;
	return 0;
}

void
stream_at_pack(uint8_t dst[STREAM_HEADER + STREAM_AT_LEN], uint32_t exchange,
    const struct arena_piece *p)
{
	struct stream_frame f = {exchange, STREAM_AT, STREAM_AT_LEN};

	stream_pack(dst, &f);
	le32_put(dst + STREAM_HEADER, p->slot);
	le32_put(dst + STREAM_HEADER + 4, p->round);
	le32_put(dst + STREAM_HEADER + 8, p->len);
}

int
stream_at_unpack(const uint8_t src[STREAM_AT_LEN], struct arena_piece *p)
{
	struct arena_piece q = {
	    le32_get(src), le32_get(src + 4), le32_get(src + 8)};

	if (!arena_is_piece(&q)) {
		errno = EBADMSG;
		return -1;
	}
	*p = q;
	return 0;
}

/* Take a length and a text of that length off the front. */
static int
field_text(struct span *rest, struct span *out)
{
	size_t len;

	if (rest->len < 2)
		return -1;
	len = (size_t)rest->p[0] | (size_t)rest->p[1] << 8;
	if (len > rest->len - 2)
		return -1;
	*out = span_of(rest->p + 2, len);
	*rest = span_of(rest->p + 2 + len, rest->len - 2 - len);
	return 0;
}

int
stream_field(struct span *rest, struct span *name, struct span *value)
{
	struct span r = *rest, n, v;

	if (r.len == 0)
		return 0;
	if (field_text(&r, &n) == -1 || field_text(&r, &v) == -1) {
		errno = EBADMSG;
		return -1;
	}
	*name = n;
	*value = v;
	*rest = r;
	return 1;
}
