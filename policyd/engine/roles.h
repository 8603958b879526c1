/* SPDX-License-Identifier: ISC */
/*
 * Argument roles: the kind of thing that an argument of a tool names. A set of
 * roles is a bit mask. A resource role drives evaluation; an opaque role is
 * only used in list conditions.
 */
#ifndef ROLES_H
#define ROLES_H

#include "common/span.h"

enum arg_role {
#define ROLE(id, name, category, effect, thing) ARG_##id,
#include "engine/role_rows.h"
	ARG_COUNT,
};

enum arg_category {
	CATEGORY_PATH,
	CATEGORY_URL,
	CATEGORY_IDENTIFIER,
	CATEGORY_OPAQUE,
};

#define ARG_BIT(role) (1U << (role))

/* The roles that sandbox containment may resolve: all path roles. */
#define ARGS_PATH							\
	(ARG_BIT(ARG_READ_PATH) | ARG_BIT(ARG_WRITE_PATH) |		\
	    ARG_BIT(ARG_DELETE_PATH) | ARG_BIT(ARG_WRITE_HISTORY) |	\
	    ARG_BIT(ARG_DELETE_HISTORY))
#define ARGS_URL (ARG_BIT(ARG_FETCH_URL) | ARG_BIT(ARG_GIT_REMOTE_URL))
#define ARGS_IDENTIFIER							\
	(ARG_BIT(ARG_GITHUB_OWNER) | ARG_BIT(ARG_GITHUB_REPO) |		\
	    ARG_BIT(ARG_PROXY_DOMAIN))
#define ARGS_RESOURCE (ARGS_PATH | ARGS_URL | ARGS_IDENTIFIER)
/* Roles compared in lower case: identifiers and share-permission. */
#define ARGS_LOWER (ARGS_IDENTIFIER | ARG_BIT(ARG_SHARE_PERMISSION))

/* Returns ARG_COUNT if there is no such role. */
enum arg_role arg_role_find(struct span);
const char *arg_role_name(enum arg_role);
enum arg_category arg_role_category(enum arg_role);

#endif
