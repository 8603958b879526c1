/* SPDX-License-Identifier: ISC */
/*
 * The value pool, and allocating from it; private to this folder.  Memory is a
 * list of chunks, of which the first has room for most messages.
 */
#ifndef POOL_H
#define POOL_H

#include "common/json/value.h"

#define POOL_ALIGN	sizeof(uint64_t)

struct value_chunk {
	struct value_chunk *next;
	size_t used;
	size_t cap;
	uint64_t mem[];
};

struct value_pool {
	struct value_chunk *cur;	/* head of the list, in use */
	struct value_chunk *first;	/* kept by value_pool_reset() */
	size_t left;			/* bytes that may still be given out */
	size_t max;
};

/* value_pool_alloc() if the chunk in use has no room, or the pool is full. */
void *pool_alloc_slow(struct value_pool *, size_t);

static inline void *
pool_alloc(struct value_pool *pool, size_t n)
{
	struct value_chunk *c = pool->cur;
	size_t need = (n + POOL_ALIGN - 1) & ~(POOL_ALIGN - 1);
	uint8_t *p = (uint8_t *)c->mem + c->used;

	/*
	 * `left` is a multiple of the alignment, and `need` may have wrapped.
	 */
	if (n > pool->left || need > c->cap - c->used)
		return pool_alloc_slow(pool, n);
	c->used += need;
	pool->left -= need;
	return p;
}

/* Make a value, as value_new() does. */
static inline struct value *
pool_value(struct value_pool *pool, enum value_type type)
{
	struct value *v;

	if ((v = pool_alloc(pool, sizeof(*v))) == NULL)
		return NULL;
	*v = (struct value){.type = type};
	return v;
}

#endif
