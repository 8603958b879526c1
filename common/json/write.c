/* SPDX-License-Identifier: ISC */
/*
 * The canonical writer: one text per value, which is hashed, shown, logged and
 * sent.  It relies on the tree being sorted and its texts checked, as
 * everything from the reader or the decoder is.
 */
#include "common/json/json.h"

#include <errno.h>

#include "common/json/text.h"
#include "common/json/value_walk.h"

#define ESCAPE_MAX 6

/* Returns the first byte that must be escaped, or `end`. */
static const uint8_t *
write_plain_end(const uint8_t *p, const uint8_t *end)
{
	size_t len = (size_t)(end - p);
	uint64_t flags, w;

	if (len >= sizeof(w) / 2 && len <= TEXT_SHORT &&
	    text_short_plain(p, len))
		return end;
	while ((size_t)(end - p) >= sizeof(w)) {
		if ((flags = text_special(text_word(p))) != 0)
			return p + (__builtin_ctzll(flags) >> 3);
		p += sizeof(w);
	}
	while (p < end && !text_is_special(*p))
		p++;
	return p;
}

/* Write the escape of a special byte.  Returns its length. */
static size_t
put_escape(uint8_t *to, uint8_t c)
{
	static const char hex[] = "0123456789abcdef";
	static const char letters[] = "btn\0fr"; /* starting at U+0008 */

	to[0] = '\\';
	if (c == '"' || c == '\\') {
		to[1] = c;
		return 2;
	}
	if (c >= '\b' && c <= '\r' && letters[c - '\b'] != '\0') {
		to[1] = (uint8_t)letters[c - '\b'];
		return 2;
	}
	to[1] = 'u';
	to[2] = to[3] = '0';
	to[4] = (uint8_t)hex[c >> 4];
	to[5] = (uint8_t)hex[c & 0xf];
	return ESCAPE_MAX;
}

/* Write the rest of a string, from the first byte that needs an escape. */
static int
write_escaped(struct buf *b, const uint8_t *p, const uint8_t *end)
{
	uint8_t escape[ESCAPE_MAX], *to;
	const uint8_t *stop;
	size_t len, n;

	while (p < end) {
		len = put_escape(escape, *p++);
		stop = write_plain_end(p, end);
		n = (size_t)(stop - p);
		if ((to = buf_room(b, len + n)) == NULL)
			return -1;
		memcpy(to, escape, len);
		memcpy(to + len, p, n);
		buf_grow(b, len + n);
		p = stop;
	}
	return 0;
}

/* Write a string in quotes, followed by the byte `after` unless that is 0. */
static int
write_string(struct buf *b, struct span s, uint8_t after)
{
	size_t n, tail = after != 0 ? 2 : 1;
	const uint8_t *end, *stop;
	uint8_t *to;

	if (s.p == NULL)
		s = SPAN("");
	end = s.p + s.len;
	/* Most strings have nothing to escape and are copied in one piece. */
	stop = write_plain_end(s.p, end);
	n = (size_t)(stop - s.p);
	if ((to = buf_room(b, 1 + n + tail)) == NULL)
		return -1;
	*to++ = '"';
	if (n != 0)
		memcpy(to, s.p, n);
	to += n;
	n++;
	if (stop != end) {
		buf_grow(b, n);
		if (write_escaped(b, stop, end) == -1 ||
		    (to = buf_room(b, tail)) == NULL)
			return -1;
		n = 0;
	}
	to[0] = '"';
	if (after != 0)
		to[1] = after;
	buf_grow(b, n + tail);
	return 0;
}

int
json_write_string(struct buf *b, struct span s)
{
	return write_string(b, s, 0);
}

/* Write a scalar, or the opening of a container (all of an empty one). */
static int
write_node(struct buf *b, const struct value *v)
{
	switch (v->type) {
	case VALUE_NULL:
		buf_add(b, "null", 4);
		return buf_check(b);
	case VALUE_FALSE:
		buf_add(b, "false", 5);
		return buf_check(b);
	case VALUE_TRUE:
		buf_add(b, "true", 4);
		return buf_check(b);
	case VALUE_NUMBER:
		buf_addspan(b, v->text);
		return buf_check(b);
	case VALUE_STRING:
		return json_write_string(b, v->text);
	case VALUE_ARRAY:
		buf_add(b, "[]", v->child == NULL ? 2 : 1);
		return buf_check(b);
	case VALUE_OBJECT:
		buf_add(b, "{}", v->child == NULL ? 2 : 1);
		return buf_check(b);
	}
	errno = EINVAL;
	return -1;
}

/*
 * Write the brackets of containers that have ended, and a comma if more
 * follows.
 */
static int
write_between(
    struct buf *b, const struct value_walk *w, unsigned closed, bool comma)
{
	while (closed-- != 0)
		buf_addc(b,
		    w->up[w->depth + closed]->type == VALUE_ARRAY ? ']' : '}');
	if (comma)
		buf_addc(b, ',');
	return buf_check(b);
}

int
json_write(struct buf *b, const struct value *v)
{
	struct value_walk walk UNCLEARED;
	const struct value *next;
	size_t before = b->len;
	unsigned closed;

	walk.depth = 0;
	for (;;) {
		if (value_walk_too_deep(&walk, v)) {
			errno = ENOBUFS;
			goto fail;
		}
		if (value_walk_in_object(&walk) &&
		    write_string(b, v->key, ':') == -1)
			goto fail;
		if (write_node(b, v) == -1)
			goto fail;
		next = value_walk_next(&walk, v, &closed);
		if (write_between(b, &walk, closed,
			next != NULL && next != v->child) == -1)
			goto fail;
		if ((v = next) == NULL)
			return 0;
	}
fail:
	b->len = before;
	b->failed = true;
	return -1;
}
