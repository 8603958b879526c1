/* SPDX-License-Identifier: ISC */
/*
 * Reads the wire form of value trees from a peer process that may be
 * compromised: it accepts exactly one encoding of each value, within all
 * limits, and does not recurse.  The texts it returns point into the message.
 */
#include "common/json/value.h"

#include <errno.h>

#include "common/json/number.h"
#include "common/json/pool.h"
#include "common/json/text.h"
#include "common/json/value_walk.h"
#include "common/le32.h"

struct decoder {
	struct value_pool *pool;
	const uint8_t *p, *end;
	unsigned nodes, depth;
	struct value *open[VALUE_MAX_DEPTH];
	uint32_t left[VALUE_MAX_DEPTH]; /* elements still to come in each */
};

static int
get_u32(struct decoder *d, uint32_t *n)
{
	if ((size_t)(d->end - d->p) < sizeof(*n))
		return -1;
	*n = le32_get(d->p);
	d->p += sizeof(*n);
	return 0;
}

static int
get_text(struct decoder *d, size_t max, struct span *s)
{
	uint32_t len;

	if (get_u32(d, &len) == -1 || len > max ||
	    len > (size_t)(d->end - d->p))
		return -1;
	*s = span_of(d->p, len);
	d->p += len;
	return 0;
}

static int
get_string(struct decoder *d, struct span *s)
{
	if (get_text(d, VALUE_MAX_STRING, s) == -1 || !utf8_valid(*s))
		return -1;
	return 0;
}

static int
get_number(struct decoder *d, struct span *s)
{
	const uint8_t *stop;

	if (get_text(d, VALUE_MAX_NUMBER, s) == -1 ||
	    !text_number_end(s->p, s->p + s->len, &stop) ||
	    stop != s->p + s->len || !number_is_finite(*s))
		return -1;
	return 0;
}

/* Make `v` the innermost open container, unless it is empty. */
static int
get_container(struct decoder *d, struct value *v)
{
	uint32_t max = VALUE_MAX_NODES, count;

	if (v->type == VALUE_OBJECT)
		max = VALUE_MAX_MEMBERS;
	if (d->depth == VALUE_MAX_DEPTH || get_u32(d, &count) == -1 ||
	    count > max)
		return -1;
	if (count == 0)
		return 0;
	d->open[d->depth] = v;
	d->left[d->depth++] = count;
	return 0;
}

static int
get_name(struct decoder *d, const struct value *object, struct span *key)
{
	if (get_string(d, key) == -1)
		return -1;
	if (object->last != NULL && span_cmp(*key, object->last->key) <= 0)
		return -1;
	return 0;
}

/*
 * Decode one node with its name and link it into the open container.  Returns
 * NULL with errno set on failure.
 */
static struct value *
get_node(struct decoder *d)
{
	struct value *in = NULL, *v;
	struct span key = {NULL, 0};
	int r = 0;

	if (d->depth != 0) {
		in = d->open[d->depth - 1];
		d->left[d->depth - 1]--;
	}
	errno = EBADMSG;
	if (in != NULL && in->type == VALUE_OBJECT &&
	    get_name(d, in, &key) == -1)
		return NULL;
	if (d->p == d->end || *d->p > VALUE_OBJECT ||
	    ++d->nodes > VALUE_MAX_NODES)
		return NULL;
	if ((v = pool_value(d->pool, (enum value_type) * d->p++)) == NULL)
		return NULL;
	v->key = key;
	if (v->type == VALUE_STRING)
		r = get_string(d, &v->text);
	else if (v->type == VALUE_NUMBER)
		r = get_number(d, &v->text);
	else if (value_is_container(v))
		r = get_container(d, v);
	if (r == -1)
		return NULL;
	if (in != NULL)
		value_link_last(in, v);
	return v;
}

const struct value *
value_decode(struct value_pool *pool, struct span from)
{
	struct decoder d UNCLEARED;
	const struct value *root;

	if (from.len == 0 || from.len > VALUE_MAX_BYTES)
		goto bad;
	d.pool = pool;
	d.p = from.p;
	d.end = from.p + from.len;
	d.nodes = d.depth = 0;
	if ((root = get_node(&d)) == NULL)
		return NULL;
	while (d.depth != 0) {
		if (d.left[d.depth - 1] == 0)
			d.depth--;
		else if (get_node(&d) == NULL)
			return NULL;
	}
	if (d.p == d.end)
		return root;
bad:
	errno = EBADMSG;
	return NULL;
}
