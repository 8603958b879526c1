/* SPDX-License-Identifier: ISC */
/*
 * The table of argument roles. The names are those of the TypeScript
 * IronCurtain. A file with another name is refused: it may mean an unknown
 * limit.
 */
#include "engine/roles.h"

/* clang-format off */
static const struct {
	const char *name;
	enum arg_category category;
} roles[ARG_COUNT] = {
	[ARG_READ_PATH]		= {"read-path", CATEGORY_PATH},
	[ARG_WRITE_PATH]	= {"write-path", CATEGORY_PATH},
	[ARG_DELETE_PATH]	= {"delete-path", CATEGORY_PATH},
	[ARG_WRITE_HISTORY]	= {"write-history", CATEGORY_PATH},
	[ARG_DELETE_HISTORY]	= {"delete-history", CATEGORY_PATH},
	[ARG_FETCH_URL]		= {"fetch-url", CATEGORY_URL},
	[ARG_GIT_REMOTE_URL]	= {"git-remote-url", CATEGORY_URL},
	[ARG_GITHUB_OWNER]	= {"github-owner", CATEGORY_IDENTIFIER},
	[ARG_GITHUB_REPO]	= {"github-repo", CATEGORY_IDENTIFIER},
	[ARG_PROXY_DOMAIN]	= {"proxy-domain", CATEGORY_IDENTIFIER},
	[ARG_BRANCH_NAME]	= {"branch-name", CATEGORY_OPAQUE},
	[ARG_COMMIT_MESSAGE]	= {"commit-message", CATEGORY_OPAQUE},
	[ARG_EMAIL_ADDRESS]	= {"email-address", CATEGORY_OPAQUE},
	[ARG_EMAIL_BODY]	= {"email-body", CATEGORY_OPAQUE},
	[ARG_SHARE_PERMISSION]	= {"share-permission", CATEGORY_OPAQUE},
	[ARG_NONE]		= {"none", CATEGORY_OPAQUE},
};
/* clang-format on */

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
