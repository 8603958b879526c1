/* SPDX-License-Identifier: ISC */
/*
 * Destinations of the kind forge in config.json: the API of GitHub, GitLab or
 * Gitea, the repositories that may be worked on, and what may be done there.
 * common/forge says what each of that means.
 */
#include <stdio.h>
#include <string.h>

#include "base/json_put.h"
#include "common/forge/grant.h"
#include "files/providers/destinations.h"

/* How each forge's own tool shows a token, and the variable it reads. */
static const struct {
	const char *env, *elsewhere; /* on the vendor's own host, and others */
	const char *sentinel, *header, *prefix;
} forge_tokens[FORGE_KINDS] = {
    [FORGE_GITHUB] = {"GH_TOKEN", "GH_ENTERPRISE_TOKEN", "ghp_",
	"authorization", "token "},
    [FORGE_GITLAB] = {"GITLAB_TOKEN", "GITLAB_TOKEN", "glpat-", "private-token",
	""},
    [FORGE_GITEA] = {"GITEA_TOKEN", "GITEA_TOKEN", "gta_", "authorization",
	"token "},
};

static int
forge_repositories(const struct jsonfile *j, const char *where,
    struct json_object *o, enum forge_kind kind, struct json_object *file)
{
	struct json_object *list;
	char **names = NULL;
	int rv = 0;

	if (jsonfile_strings(j, o, where, "repositories",
		FORGE_MAX_REPOSITORIES, &names) == -1)
		return -1;
	if (names == NULL || names[0] == NULL) {
		jsonfile_strings_free(names);
		return jsonfile_bad(j, where, "repositories",
		    "must name at least one: [\"owner/repository\"]");
	}
	list = json_object_new_array();
	for (size_t i = 0; rv == 0 && names[i] != NULL; i++) {
		if (forge_repository_valid(kind, span_str(names[i])))
			json_object_array_add(
			    list, json_object_new_string(names[i]));
		else
			rv = jsonfile_bad(j, where, "repositories",
			    "\"%s\" is not a repository: write owner and name, "
			    "\"owner/repository\"; there are no patterns here",
			    names[i]);
	}
	json_object_object_add(file, "repositories", list);
	jsonfile_strings_free(names);
	return rv;
}

static int
forge_words(const struct jsonfile *j, const char *where, struct json_object *o,
    struct json_object *file)
{
	enum forge_word word;
	const char *name, *s;

	for (unsigned i = FORGE_READ; i < FORGE_CLASSES; i++) {
		name = forge_class_name((enum forge_class)i);
		s = NULL;
		if (jsonfile_str(j, o, where, name, &s) == -1)
			return -1;
		if (s == NULL)
			continue;
		if (forge_word_find((enum forge_class)i, span_str(s), &word) ==
		    -1)
			return jsonfile_bad(j, where, name,
			    "must be %s, is \"%s\"",
			    i == FORGE_READ
				? "\"allow\", \"ask\" or \"deny\""
				: "\"ask\" or \"deny\": nothing is changed "
				  "on a forge unasked",
			    s);
		put_str(file, name, s);
	}
	return 0;
}

static void
forge_credential(enum forge_kind kind, bool elsewhere, struct json_object *file)
{
	struct json_object *cred = json_object_new_object(),
			   *headers = json_object_new_array(),
			   *h = json_object_new_object();

	put_str(cred, "env",
	    elsewhere ? forge_tokens[kind].elsewhere : forge_tokens[kind].env);
	put_str(cred, "sentinel", forge_tokens[kind].sentinel);
	put_str(h, "name", forge_tokens[kind].header);
	put_str(h, "prefix", forge_tokens[kind].prefix);
	json_object_array_add(headers, h);
	json_object_object_add(cred, "headers", headers);
	json_object_object_add(file, "credential", cred);
}

/* Returns true if the first host of the destination is not `name`. */
static bool
forge_is_elsewhere(struct json_object *o, const char *name)
{
	struct json_object *hosts;

	return !json_object_object_get_ex(o, "hosts", &hosts) ||
	       strcasecmp(
		   json_object_get_string(json_object_array_get_idx(hosts, 0)),
		   name) != 0;
}

int
destination_forge_read(const struct jsonfile *j, const char *where,
    struct json_object *o, const struct config *cfg, struct json_object *file)
{
	enum forge_kind kind;
	const char *s = NULL;
	bool classic = false;

	if (jsonfile_str(j, o, where, "forge", &s) == -1 ||
	    jsonfile_bool(j, o, where, "classic", &classic) == -1)
		return -1;
	if (s == NULL || forge_kind_find(span_str(s), &kind) == -1)
		return jsonfile_bad(j, where, "forge",
		    "must be \"github\", \"gitlab\" or \"gitea\"%s%s%s",
		    s != NULL ? ", is \"" : "", s != NULL ? s : "",
		    s != NULL ? "\"" : "");
	put_str(file, "forge", s);
	if (!json_object_object_get_ex(o, "credential", NULL))
		return jsonfile_bad(j, where, "credential",
		    "must say where the token is: {\"env\": \"VARIABLE\"} or "
		    "{\"file\": \"PATH\"}; icctl setup --forge says which "
		    "token to make");
	if (classic)
		json_object_object_add(
		    file, "classic", json_object_new_boolean(true));
	if (forge_repositories(j, where, o, kind, file) == -1 ||
	    forge_words(j, where, o, file) == -1)
		return -1;
	forge_credential(kind, forge_is_elsewhere(o, "api.github.com"), file);
	return 0;
}
