/* SPDX-License-Identifier: ISC */
/*
 * Walks a value tree in document order without recursion.  Private to the value
 * and JSON code.  It never leaves the tree it was started on, even if that is
 * part of a larger one.
 */
#ifndef VALUE_WALK_H
#define VALUE_WALK_H

#include "common/json/value.h"

struct value_walk {
	const struct value *up[VALUE_MAX_DEPTH];	/* open containers */
	unsigned depth;
};

static inline bool
value_is_container(const struct value *v)
{
	return v->type == VALUE_ARRAY || v->type == VALUE_OBJECT;
}

static inline bool
value_has_text(const struct value *v)
{
	return v->type == VALUE_NUMBER || v->type == VALUE_STRING;
}

/* Link `v` as the last child. */
static inline void
value_link_last(struct value *in, struct value *v)
{
	if (in->last == NULL)
		in->child = v;
	else
		in->last->next = v;
	in->last = v;
	in->count++;
}

/*
 * Returns true if `v` may not be entered because of the depth limit; call
 * before value_walk_next().
 */
static inline bool
value_walk_too_deep(const struct value_walk *w, const struct value *v)
{
	return value_is_container(v) && w->depth == VALUE_MAX_DEPTH;
}

/*
 * Returns the value after `v`, or NULL at the end.  `*closed` is the number of
 * containers that ended in between; they are still in up[], from the new depth
 * upwards.
 */
static inline const struct value *
value_walk_next(struct value_walk *w, const struct value *v, unsigned *closed)
{
	*closed = 0;
	if (v->child != NULL) {
		w->up[w->depth++] = v;
		return v->child;
	}
	while (w->depth != 0) {
		if (v->next != NULL)
			return v->next;
		v = w->up[--w->depth];
		++*closed;
	}
	return NULL;
}

/* Returns true if the value just reached is a member of an object. */
static inline bool
value_walk_in_object(const struct value_walk *w)
{
	return w->depth != 0 && w->up[w->depth - 1]->type == VALUE_OBJECT;
}

#endif
