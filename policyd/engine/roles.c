/* SPDX-License-Identifier: ISC */
/*
 * Finds argument roles by name. The names are those of the TypeScript
 * IronCurtain. A file with another name is refused: it may mean an unknown
 * limit.
 */
#include "engine/roles.h"

static const struct {
	const char *name;
	enum arg_category category;
} roles[ARG_COUNT] = {
#define ROLE(id, name, category, effect, thing) {name, CATEGORY_##category},
#include "engine/role_rows.h"
};

enum arg_role
arg_role_find(struct span name)
{
	for (unsigned i = 0; i < ARG_COUNT; i++) {
		if (span_is(name, roles[i].name))
			return (enum arg_role)i;
	}
	return ARG_COUNT;
}

const char *
arg_role_name(enum arg_role role)
{
	return (unsigned)role < ARG_COUNT ? roles[role].name : "?";
}

enum arg_category
arg_role_category(enum arg_role role)
{
	return (unsigned)role < ARG_COUNT ? roles[role].category
					  : CATEGORY_OPAQUE;
}
