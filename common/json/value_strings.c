/* SPDX-License-Identifier: ISC */
/* Visits the strings of a tree, which may come from a log. */
#include "common/json/value_walk.h"

bool
value_strings(const struct value *root,
    bool (*take)(void *arg, struct span text), void *arg)
{
	struct value_walk walk = {.depth = 0};
	const struct value *v = root;
	unsigned closed;

	while (v != NULL && !value_walk_too_deep(&walk, v)) {
		if (v->type == VALUE_STRING && !take(arg, v->text))
			return false;
		v = value_walk_next(&walk, v, &closed);
	}
	return v == NULL;
}
