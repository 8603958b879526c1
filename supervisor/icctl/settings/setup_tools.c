/* SPDX-License-Identifier: ISC */
/*
 * The question about toolchains in the home. It is asked only if there are some
 * that "agentView" does not show yet.
 */
#include "icctl/settings/setup.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "files/toolchains.h"

/* Copy the list that config.json has. */
static json_object *
tools_now(struct setup *s)
{
	json_object *view, *list, *copy = json_object_new_array();

	if (json_object_object_get_ex(s->file.root, "agentView", &view) &&
	    json_object_object_get_ex(view, "allowRead", &list) &&
	    json_object_is_type(list, json_type_array))
		for (size_t i = 0; i < json_object_array_length(list); i++)
			json_object_array_add(copy,
			    json_object_get(
				json_object_array_get_idx(list, i)));
	return copy;
}

/* Returns true if the list has the path, or a directory that it is in. */
static bool
tools_listed(json_object *list, const char *home, const char *path)
{
	const char *has;
	char whole[PATH_MAX];

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		has = json_object_get_string(
		    json_object_array_get_idx(list, i));
		if (has == NULL)
			continue;
		if (has[0] == '~') {
			snprintf(whole, sizeof(whole), "%s%s", home, has + 1);
			has = whole;
		}
		if (paths_under(path, has))
			return true;
	}
	return false;
}

int
setup_tools(struct setup *s)
{
	const char *home = getenv("HOME");
	char path[PATH_MAX], shown[PATH_MAX], answer[16];
	json_object *list;
	const struct toolchain *t;
	unsigned n = 0;

	if (home == NULL || home[0] != '/')
		return 0;
	list = tools_now(s);
	for (size_t i = 0; (t = toolchain_nth(i)) != NULL; i++) {
		if (toolchain_found(t, home, path, sizeof(path)) == -1 ||
		    tools_listed(list, home, path))
			continue;
		paths_tilde(home, path, shown, sizeof(shown));
		printf("%s%s", n++ == 0 ? "\nToolchains in your home: " : ", ",
		    shown);
		json_object_array_add(list, json_object_new_string(shown));
	}
	if (n == 0) {
		json_object_put(list);
		return 0;
	}
	puts(".\nAgents see them read-only, and files with credentials in them "
	     "appear empty.");
	if (!setup_ask("Shall agents see them?", "y", answer, sizeof(answer))) {
		json_object_put(list);
		return -1;
	}
	if (answer[0] == 'n' || answer[0] == 'N') {
		json_object_put(list);
		return 0;
	}
	return setup_put(s, "agentView.allowRead", list);
}
