/* SPDX-License-Identifier: ISC */
/*
 * Value trees: the pool they live in, and making, finding and comparing values.
 * The pool is a list of chunks, and memory is only ever taken from it; the used
 * part is wiped when the values are released.  Nothing here recurses, and
 * nothing relies on the contents of a text.
 */
#include "common/json/value.h"

#include <errno.h>
#include <stdlib.h>

#include "common/json/pool.h"
#include "common/json/text.h"
#include "common/json/value_walk.h"

#define POOL_CHUNK_MIN ((size_t)16 << 10)
#define POOL_CHUNK_MAX ((size_t)256 << 10)

static struct value_chunk *
chunk_new(size_t cap)
{
	struct value_chunk *c;

	if (cap > SIZE_MAX - sizeof(*c))
		return NULL;
	if ((c = malloc(sizeof(*c) + cap)) == NULL)
		return NULL;
	c->next = NULL;
	c->used = 0;
	c->cap = cap;
	return c;
}

/* Memory beyond `used` has not been written since malloc() returned it. */
static void
chunk_free(struct value_chunk *c)
{
	explicit_bzero(c, sizeof(*c) + c->used);
	free(c);
}

struct value_pool *
value_pool_new(size_t bytes)
{
	struct value_pool *pool;
	size_t cap;

	bytes -= bytes % POOL_ALIGN;
	cap = bytes < POOL_CHUNK_MIN ? bytes : POOL_CHUNK_MIN;
	if ((pool = malloc(sizeof(*pool))) == NULL)
		return NULL;
	if ((pool->first = chunk_new(cap)) == NULL) {
		free(pool);
		errno = ENOMEM;
		return NULL;
	}
	pool->cur = pool->first;
	pool->left = pool->max = bytes;
	return pool;
}

void
value_pool_reset(struct value_pool *pool)
{
	struct value_chunk *c, *next;

	for (c = pool->cur; c != NULL; c = next) {
		next = c->next;
		if (c != pool->first)
			chunk_free(c);
	}
	c = pool->first;
	explicit_bzero(c->mem, c->used);
	c->used = 0;
	c->next = NULL;
	pool->cur = c;
	pool->left = pool->max;
}

void
value_pool_free(struct value_pool *pool)
{
	int saved = errno;

	if (pool == NULL)
		return;
	value_pool_reset(pool);
	chunk_free(pool->first);
	free(pool);
	errno = saved;
}

/*
 * Add a chunk with room for need <= left.  A large piece gets a chunk of its
 * own behind the current one, because the rest of that would be lost otherwise.
 */
static struct value_chunk *
pool_grow(struct value_pool *pool, size_t need)
{
	struct value_chunk *c;
	size_t cap = pool->cur->cap * 2;

	if (cap < POOL_CHUNK_MIN)
		cap = POOL_CHUNK_MIN;
	if (cap > POOL_CHUNK_MAX)
		cap = POOL_CHUNK_MAX;
	if (cap > pool->left)
		cap = pool->left;
	if (need > cap / 2) {
		if ((c = chunk_new(need)) == NULL)
			return NULL;
		c->next = pool->cur->next;
		pool->cur->next = c;
		return c;
	}
	if ((c = chunk_new(cap)) == NULL)
		return NULL;
	c->next = pool->cur;
	pool->cur = c;
	return c;
}

void *
pool_alloc_slow(struct value_pool *pool, size_t n)
{
	struct value_chunk *c = pool->cur;
	uint8_t *p;

	if (n > pool->left) {
		errno = ENOBUFS;
		return NULL;
	}
	/* This stays within `left`, which is a multiple of the alignment. */
	n = (n + POOL_ALIGN - 1) & ~(POOL_ALIGN - 1);
	if (n > c->cap - c->used && (c = pool_grow(pool, n)) == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	p = (uint8_t *)c->mem + c->used;
	c->used += n;
	pool->left -= n;
	return p;
}

void *
value_pool_alloc(struct value_pool *pool, size_t n)
{
	return pool_alloc(pool, n);
}

void
value_pool_trim(struct value_pool *pool, void *mem, size_t had, size_t n)
{
	struct value_chunk *c = pool->cur;
	uint8_t *p = mem;

	had = (had + POOL_ALIGN - 1) & ~(POOL_ALIGN - 1);
	n = (n + POOL_ALIGN - 1) & ~(POOL_ALIGN - 1);
	if (n >= had)
		return;
	if (c->used < had || p != (uint8_t *)c->mem + (c->used - had)) {
		/* The latest large piece is alone in the next chunk. */
		c = c->next;
		if (c == NULL || p != (uint8_t *)c->mem || c->used != had)
			return;
	}
	c->used -= had - n;
	pool->left += had - n;
}

struct value *
value_new(struct value_pool *pool, enum value_type type)
{
	return pool_value(pool, type);
}

struct value *
value_new_string(struct value_pool *pool, struct span text)
{
	struct value *v;

	if ((v = value_new(pool, VALUE_STRING)) == NULL)
		return NULL;
	v->text = text.p == NULL ? SPAN("") : text;
	return v;
}

struct value *
value_new_number(struct value_pool *pool, int64_t n)
{
	uint64_t abs = n < 0 ? -(uint64_t)n : (uint64_t)n;
	uint8_t digits[VALUE_MAX_NUMBER];
	struct value *v;
	size_t at = sizeof(digits), len;
	uint8_t *p;

	do {
		digits[--at] = (uint8_t)('0' + abs % 10);
		abs /= 10;
	} while (abs != 0);
	if (n < 0)
		digits[--at] = '-';
	len = sizeof(digits) - at;
	if ((v = value_new(pool, VALUE_NUMBER)) == NULL ||
	    (p = value_pool_alloc(pool, len)) == NULL)
		return NULL;
	memcpy(p, digits + at, len);
	v->text = span_of(p, len);
	return v;
}

int
value_set(struct value *object, struct span key, struct value *v)
{
	struct value **at;
	int order = 1;

	if (object == NULL || v == NULL)
		return -1;
	if (object->type != VALUE_OBJECT) {
		errno = EINVAL;
		return -1;
	}
	if (object->count == VALUE_MAX_MEMBERS) {
		errno = ENOBUFS;
		return -1;
	}
	v->key = key;
	if (object->last == NULL || span_cmp(key, object->last->key) > 0) {
		v->next = NULL;
		value_link_last(object, v);
		return 0;
	}
	for (at = &object->child; *at != NULL; at = &(*at)->next) {
		if ((order = span_cmp(key, (*at)->key)) <= 0)
			break;
	}
	if (order == 0) {
		errno = EEXIST;
		return -1;
	}
	v->next = *at;
	*at = v;
	object->count++;
	return 0;
}

int
value_append(struct value *array, struct value *v)
{
	if (array == NULL || v == NULL)
		return -1;
	if (array->type != VALUE_ARRAY) {
		errno = EINVAL;
		return -1;
	}
	if (array->count == VALUE_MAX_NODES) {
		errno = ENOBUFS;
		return -1;
	}
	v->next = NULL;
	value_link_last(array, v);
	return 0;
}

static int
span_copy_in(struct value_pool *pool, struct span from, struct span *to)
{
	uint8_t *p;

	if (from.p == NULL)
		return 0;
	if ((p = value_pool_alloc(pool, from.len)) == NULL)
		return -1;
	if (from.len != 0)
		memcpy(p, from.p, from.len);
	*to = span_of(p, from.len);
	return 0;
}

struct value *
value_copy(struct value_pool *pool, const struct value *from)
{
	struct value_walk walk = {.depth = 0};
	struct value *copy, *in[VALUE_MAX_DEPTH + 1] = {NULL};
	unsigned closed;

	do {
		if (value_walk_too_deep(&walk, from)) {
			errno = ENOBUFS;
			return NULL;
		}
		if ((copy = value_new(pool, from->type)) == NULL)
			return NULL;
		if (value_has_text(from) &&
		    span_copy_in(pool, from->text, &copy->text) == -1)
			return NULL;
		if (walk.depth != 0) {
			if (value_walk_in_object(&walk) &&
			    span_copy_in(pool, from->key, &copy->key) == -1)
				return NULL;
			value_link_last(in[walk.depth - 1], copy);
		}
		/* in[0] is the root, even if it is not a container. */
		in[walk.depth] = copy;
		from = value_walk_next(&walk, from, &closed);
	} while (from != NULL);
	return in[0];
}

const struct value *
value_getspan(const struct value *v, struct span key)
{
	int order;

	if (v == NULL || v->type != VALUE_OBJECT)
		return NULL;
	for (v = v->child; v != NULL; v = v->next) {
		if ((order = span_cmp(v->key, key)) == 0)
			return v;
		if (order > 0)
			return NULL;
	}
	return NULL;
}

struct span
value_str(const struct value *v, const char *key)
{
	if ((v = value_get(v, key)) == NULL || v->type != VALUE_STRING)
		return span_of(NULL, 0);
	return v->text;
}

bool
value_bool(const struct value *v, const char *key, bool dflt)
{
	if ((v = value_get(v, key)) == NULL)
		return dflt;
	if (v->type == VALUE_TRUE)
		return true;
	return v->type == VALUE_FALSE ? false : dflt;
}

int
value_int(const struct value *number, int64_t min, int64_t max, int64_t *out)
{
	struct span digits;
	bool negative;
	uint64_t abs;
	int64_t n;

	if (number == NULL || number->type != VALUE_NUMBER ||
	    number->text.len == 0)
		goto bad;
	digits = number->text;
	negative = digits.p[0] == '-';
	if (negative)
		digits = span_of(digits.p + 1, digits.len - 1);
	if (span_u64(digits, (uint64_t)INT64_MAX + negative, &abs) == -1 ||
	    (negative && abs == 0))
		goto bad;
	/* Computing it from -1 reaches INT64_MIN without overflow. */
	n = negative ? -1 - (int64_t)(abs - 1) : (int64_t)abs;
	if (n < min || n > max)
		goto bad;
	*out = n;
	return 0;
bad:
	errno = EINVAL;
	return -1;
}

bool
value_eq(const struct value *a, const struct value *b)
{
	struct value_walk wa = {.depth = 0}, wb = {.depth = 0};
	unsigned closed;

	while (a != NULL && b != NULL) {
		if (a->type != b->type || a->count != b->count ||
		    wa.depth != wb.depth || value_walk_too_deep(&wa, a))
			return false;
		if (value_has_text(a) && !span_eq(a->text, b->text))
			return false;
		if (value_walk_in_object(&wa) && !span_eq(a->key, b->key))
			return false;
		a = value_walk_next(&wa, a, &closed);
		b = value_walk_next(&wb, b, &closed);
	}
	return a == b;
}

const char *
value_type_name(enum value_type type)
{
	switch (type) {
	case VALUE_NULL:
		return "null";
	case VALUE_FALSE:
	case VALUE_TRUE:
		return "a boolean";
	case VALUE_NUMBER:
		return "a number";
	case VALUE_STRING:
		return "a string";
	case VALUE_ARRAY:
		return "an array";
	case VALUE_OBJECT:
		return "an object";
	}
	return "unknown";
}
