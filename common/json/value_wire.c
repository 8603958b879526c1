/* SPDX-License-Identifier: ISC */
/* Writes the wire form of value trees; value_decode.c reads it. */
#include "common/json/value.h"

#include <errno.h>

#include "common/json/text.h"
#include "common/json/value_walk.h"
#include "common/le32.h"

/*
 * The type byte is the enum's value; both ends are built from the same source.
 */
_Static_assert(VALUE_NULL == 0 && VALUE_OBJECT == 6, "wire numbers of types");

static uint8_t *
put_u32(uint8_t *p, size_t n)
{
	le32_put(p, (uint32_t)n);
	return p + sizeof(uint32_t);
}

static uint8_t *
put_span(uint8_t *p, struct span s)
{
	p = put_u32(p, s.len);
	if (s.len != 0)
		memcpy(p, s.p, s.len);
	return p + s.len;
}

/*
 * Encode one node, preceded by its name if `named`.  Returns -1 with errno set.
 */
static int
encode_node(struct buf *b, const struct value *v, bool named)
{
	size_t need = 1;
	uint8_t *p;

	if (v->text.len > VALUE_MAX_STRING || v->key.len > VALUE_MAX_STRING) {
		errno = ENOBUFS;
		return -1;
	}
	if (named)
		need += sizeof(uint32_t) + v->key.len;
	if (value_has_text(v))
		need += sizeof(uint32_t) + v->text.len;
	else if (value_is_container(v))
		need += sizeof(uint32_t);
	if ((p = buf_room(b, need)) == NULL)
		return -1;
	if (named)
		p = put_span(p, v->key);
	*p++ = (uint8_t)v->type;
	if (value_has_text(v))
		put_span(p, v->text);
	else if (value_is_container(v))
		put_u32(p, v->count);
	buf_grow(b, need);
	return 0;
}

int
value_encode(const struct value *v, struct buf *b)
{
	struct value_walk walk UNCLEARED;
	size_t before = b->len;
	unsigned closed, nodes = 0;

	walk.depth = 0;
	do {
		if (++nodes > VALUE_MAX_NODES || value_walk_too_deep(&walk, v))
			goto limit;
		if (encode_node(b, v, value_walk_in_object(&walk)) == -1)
			goto fail;
		if (b->len - before > VALUE_MAX_BYTES)
			goto limit;
		v = value_walk_next(&walk, v, &closed);
	} while (v != NULL);
	return 0;
limit:
	errno = ENOBUFS;
fail:
	b->len = before;
	b->failed = true;
	return -1;
}
