/* SPDX-License-Identifier: ISC */
/*
 * "forge" of a project's file: the repositories that its sessions work on, with
 * the forge that the person's config.json has, whose host and token it cannot
 * name; and what they may not do there, which only narrows.
 */
#include "icctl/project/members.h"

#include <string.h>

#include "common/forge/grant.h"

static const char *const forge_does[FORGE_CLASSES] = {[FORGE_READ] = "read",
    [FORGE_WRITE] = "open, edit or comment",
    [FORGE_RUN] = "start or cancel runs of CI",
    [FORGE_MERGE] = "merge",
    [FORGE_RELEASE] = "publish releases"};

static int
forge_word_say(struct project *p, const struct jsonfile *j, json_object *v,
    enum forge_class class)
{
	const char *name = forge_class_name(class), *s = NULL;
	enum forge_word word;

	if (jsonfile_str(j, v, "forge", name, &s) == -1)
		return -1;
	if (s == NULL)
		return 0;
	if (forge_word_find(class, span_str(s), &word) == -1 ||
	    word == FORGE_ALLOW)
		return jsonfile_bad(j, "forge", name,
		    "must be \"ask\" or \"deny\": a project only narrows what "
		    "you allow");
	if (word == FORGE_DENY)
		project_say(p, PROJECT_NARROWS,
		    "the agent may not %s on a forge", forge_does[class]);
	else
		project_say(p, PROJECT_NARROWS,
		    "to %s on a forge asks you, where you do not deny it",
		    forge_does[class]);
	return 0;
}

int
member_forge(
    struct project *p, const struct jsonfile *j, const char *m, json_object *v)
{
	static const char *const keys[] = {
	    "repositories", "read", "write", "run", "merge", "release", NULL};
	json_object *list = NULL;
	const char *s;

	if (!json_object_is_type(v, json_type_object))
		return jsonfile_bad(j, m, NULL, "must be an object");
	if (jsonfile_known(j, v, m, keys) == -1)
		return -1;
	if (json_object_object_get_ex(v, "repositories", &list) &&
	    (!json_object_is_type(list, json_type_array) ||
		json_object_array_length(list) > MEMBER_LIST))
		return jsonfile_bad(j, m, "repositories",
		    "must be an array of at most %u names", MEMBER_LIST);
	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++) {
		if (member_text(j, m, json_object_array_get_idx(list, i),
			FORGE_MAX_REPOSITORY, &s) == -1)
			return -1;
		if (!forge_repository_valid(FORGE_GITLAB, span_str(s)))
			return jsonfile_bad(j, m, "repositories",
			    "\"%s\" is no repository: write \"owner/name\"", s);
		project_say(p, PROJECT_ASKS,
		    "the agent may use the forge of your config.json, with "
		    "its token, for %s, too",
		    s);
	}
	for (unsigned i = FORGE_READ; i < FORGE_CLASSES; i++)
		if (forge_word_say(p, j, v, (enum forge_class)i) == -1)
			return -1;
	return 0;
}

/* Returns the only forge of the settings, or NULL. */
json_object *
project_forge_own(json_object *root)
{
	json_object *all = NULL, *kind, *found = NULL;

	if (!json_object_object_get_ex(root, "destinations", &all) ||
	    !json_object_is_type(all, json_type_object))
		return NULL;
	json_object_object_foreach(all, name, one)
	{
		(void)name;
		if (!json_object_object_get_ex(one, "kind", &kind) ||
		    strcmp(json_object_get_string(kind), "forge") != 0)
			continue;
		if (found != NULL)
			return NULL;
		found = one;
	}
	return found;
}

/* Returns the person's word, or the one that holds without any. */
static enum forge_word
forge_word_of(json_object *own, enum forge_class class)
{
	enum forge_word word;
	json_object *v;

	if (json_object_object_get_ex(own, forge_class_name(class), &v) &&
	    forge_word_find(
		class, span_str(json_object_get_string(v)), &word) == 0)
		return word;
	return class == FORGE_READ                              ? FORGE_ALLOW
	       : class == FORGE_MERGE || class == FORGE_RELEASE ? FORGE_DENY
								: FORGE_ASK;
}

/* Returns true if the list has the name. */
static bool
forge_has(json_object *list, const char *name)
{
	const char *s;

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		s = json_object_get_string(json_object_array_get_idx(list, i));
		if (s != NULL && strcmp(s, name) == 0)
			return true;
	}
	return false;
}

void
project_forge(const struct project *p, json_object *root, bool granted)
{
	json_object *from = project_member(p, "forge"),
		    *own = project_forge_own(root), *list = NULL, *to = NULL,
		    *v;
	enum forge_word word;

	if (from == NULL || own == NULL)
		return;
	for (unsigned i = FORGE_READ; i < FORGE_CLASSES; i++) {
		const char *name = forge_class_name((enum forge_class)i);

		if (json_object_object_get_ex(from, name, &v) &&
		    forge_word_find((enum forge_class)i,
			span_str(json_object_get_string(v)), &word) == 0 &&
		    word < forge_word_of(own, (enum forge_class)i))
			json_object_object_add(own, name, json_object_get(v));
	}
	if (!granted ||
	    !json_object_object_get_ex(from, "repositories", &list) ||
	    !json_object_object_get_ex(own, "repositories", &to) ||
	    !json_object_is_type(to, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		v = json_object_array_get_idx(list, i);
		if (!forge_has(to, json_object_get_string(v)))
			json_object_array_add(to, json_object_get(v));
	}
}
