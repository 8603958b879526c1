/* SPDX-License-Identifier: ISC */
#include "icctl/mcp/guarded.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "common/span.h"
#include "files/servers.h"
#include "icctl/mcp/store.h"

#define GUARDED_FILES 64U

/*
 * Add the variables in "env", a name or a list of them. A list is a key in
 * parts that other programs use for other things, such as
 * AWS_SECRET_ACCESS_KEY: it counts only if it is configured.
 */
static void
guarded_add(struct json_object *names, struct json_object *env,
    const char *provider, bool lists)
{
	if (json_object_is_type(env, json_type_string))
		put_str(names, json_object_get_string(env), provider);
	if (!lists || !json_object_is_type(env, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(env); i++)
		guarded_add(
		    names, json_object_array_get_idx(env, i), provider, false);
}

/* Add the variables of each way to log in that a provider file has. */
static void
guarded_file(struct json_object *names, struct json_object *file,
    const char *provider, bool lists)
{
	struct json_object *c = get_member(file, "credential"), *ways;

	guarded_add(names, get_member(c, "env"), provider, lists);
	if (!json_object_is_type(ways = get_member(c, "sigv4"), json_type_object))
		return;
	guarded_add(names, get_member(ways, "env"), provider, lists);
}

static void
guarded_directory(
    struct json_object *names, const char *dir, struct json_object *config)
{
	char path[4400], provider[128];
	struct json_object *file;
	struct fault ignored;
	struct dirent *e;
	unsigned left = GUARDED_FILES;
	size_t n;
	DIR *d;

	snprintf(path, sizeof(path), "%.4000s/providers", dir);
	if ((d = opendir(path)) == NULL)
		return;
	while ((e = readdir(d)) != NULL && left != 0) {
		n = strlen(e->d_name);
		if (e->d_name[0] == '.' || n <= 5 || n >= sizeof(provider) ||
		    strcmp(e->d_name + n - 5, ".json") != 0)
			continue;
		left--;
		snprintf(provider, sizeof(provider), "%.*s", (int)(n - 5),
		    e->d_name);
		file = store_read(path, e->d_name, &ignored);
		guarded_file(names, file, provider,
		    get_member(get_member(config, "credentials"), provider) != NULL);
		json_object_put(file);
	}
	closedir(d);
}

struct json_object *
guarded_names(const struct paths *paths, struct json_object *config)
{
	/* The agents' own names for a key or login of the same account. */
	static const char *const also[][2] = {
	    {"ANTHROPIC_AUTH_TOKEN", "anthropic"},
	    {"CLAUDE_CODE_OAUTH_TOKEN", "anthropic"},
	    {"CODEX_API_KEY", "openai"},
	    {"GOOGLE_GENERATIVE_AI_API_KEY", "google"},
	};
	struct json_object *names = json_object_new_object(), *all;

	for (size_t i = 0; i < nitems(also); i++)
		put_str(names, also[i][0], also[i][1]);
	guarded_directory(names, paths->datadir, config);
	guarded_directory(names, paths->home, config);
	all = get_member(config, "credentials");
	if (!json_object_is_type(all, json_type_object))
		return names;
	json_object_object_foreach(all, provider, credential)
	{
		guarded_add(names, get_member(credential, "env"), provider, true);
	}
	return names;
}

/* Returns the provider whose key the name's variable is, or NULL. */
static const char *
guarded_find(const struct mcp_entry_how *how, const char *name, size_t len)
{
	char text[256];

	if (len >= sizeof(text))
		return NULL;
	memcpy(text, name, len);
	text[len] = '\0';
	return json_object_get_string(get_member(how->keys, text));
}

/*
 * Returns the provider whose key the text refers to, or NULL; `*name` and
 * `*len` become the reference's.
 */
static const char *
guarded_reference(const struct mcp_entry_how *how, const char *text,
    const char **name, size_t *len)
{
	const char *provider;

	while ((text = strstr(text, "${")) != NULL) {
		text += 2;
		*name = text;
		*len = servers_variable_name(text);
		if (*len != 0 &&
		    (provider = guarded_find(how, text, *len)) != NULL)
			return provider;
	}
	return NULL;
}

/*
 * Returns the provider whose key the text is, by its own form or because a
 * variable of ours has the same value; or NULL.
 */
static const char *
guarded_value(const struct mcp_entry_how *how, const char *text)
{
	static const char *const forms[][2] = {{"sk-ant-", "anthropic"},
	    {"sk-or-v1-", "openrouter"}, {"sk-proj-", "openai"},
	    {"sk-svcacct-", "openai"}};
	const char *value;

	for (size_t i = 0; i < nitems(forms); i++)
		if (strncmp(text, forms[i][0], strlen(forms[i][0])) == 0)
			return forms[i][1];
	if (!json_object_is_type(how->keys, json_type_object))
		return NULL;
	json_object_object_foreach(how->keys, name, provider)
	{
		value = getenv(name);
		if (value != NULL && value[0] != '\0' &&
		    strcmp(value, text) == 0)
			return json_object_get_string(provider);
	}
	return NULL;
}

/* Note that a variable is refused, and the way to give the server its own. */
static void
guarded_note(struct mcp_entry *e, const char *name, const char *provider)
{
	char text[1200], own[MCP_NAME_MAX + 200];
	size_t n = 0;

	for (const char *s = e->name; *s != '\0' && n < sizeof(own) - 1; s++)
		own[n++] = *s >= 'a' && *s <= 'z' ? (char)(*s - 'a' + 'A')
			   : *s == '-'            ? '_'
						  : *s;
	own[n] = '\0';
	snprintf(text, sizeof(text),
	    "env.%.100s is refused: it is a key of %.60s, which stays outside "
	    "of sandboxes. If this server needs one, make a key for it alone: "
	    "export %s%s_%.100s=..., and add \"%.100s\": \"${%s%s_%.100s}\" to "
	    "env of its entry",
	    name, provider, own[0] >= '0' && own[0] <= '9' ? "MCP_" : "", own,
	    name, name, own[0] >= '0' && own[0] <= '9' ? "MCP_" : "", own,
	    name);
	json_object_array_add(e->notes, json_object_new_string(text));
}

/* Remove members of env or of the secrets that are a provider's key. */
static struct json_object *
guarded_clean(struct mcp_entry *e, const struct mcp_entry_how *how,
    struct json_object *env)
{
	struct json_object *out = json_object_new_object();
	const char *s, *provider, *name;
	size_t len;

	json_object_object_foreach(env, key, val)
	{
		s = json_object_get_string(val);
		provider = guarded_reference(how, s, &name, &len);
		if (provider == NULL)
			provider = guarded_value(how, s);
		if (provider == NULL && s[0] != '\0' && strstr(s, "${") == NULL)
			provider = guarded_find(how, key, strlen(key));
		if (provider == NULL) {
			json_object_object_add(out, key, json_object_get(val));
			continue;
		}
		if (strncmp(key, "IC_ARG_", 7) == 0 && e->refused == NULL &&
		    asprintf(&e->refused,
			"its argument %.20s is a key of %s, which stays "
			"outside of sandboxes. Give the server a key of its "
			"own, in a variable of another name, and import it "
			"again",
			key + 7, provider) == -1)
			e->refused = NULL;
		guarded_note(e, key, provider);
	}
	return out;
}

static void
guarded_arguments(struct mcp_entry *e, const struct mcp_entry_how *how)
{
	struct json_object *args = get_member(e->entry, "args");
	const char *provider, *name;
	size_t len, n = args != NULL ? json_object_array_length(args) : 0;

	for (size_t i = 0; i < n && e->refused == NULL; i++) {
		provider = guarded_reference(how,
		    json_object_get_string(json_object_array_get_idx(args, i)),
		    &name, &len);
		if (provider != NULL &&
		    asprintf(&e->refused,
			"its argument %zu is %.*s, the key of %s, which stays "
			"outside of sandboxes. Give the server a key of its "
			"own, in a variable of another name, and import it "
			"again",
			i + 1, (int)len, name, provider) == -1)
			e->refused = NULL;
	}
}

/* Keep the names of variables that the entry still needs. */
static void
guarded_needs(struct mcp_entry *e, const struct mcp_entry_how *how)
{
	struct json_object *left = json_object_new_array(), *v;
	const char *s;

	for (size_t i = 0; i < json_object_array_length(e->variables); i++) {
		v = json_object_array_get_idx(e->variables, i);
		s = json_object_get_string(v);
		if (guarded_find(how, s, strlen(s)) == NULL)
			json_object_array_add(left, json_object_get(v));
	}
	json_object_put(e->variables);
	e->variables = left;
}

void
guarded_remove(struct mcp_entry *e, const struct mcp_entry_how *how)
{
	struct json_object *env = get_member(e->entry, "env"), *clean;

	guarded_arguments(e, how);
	if (env != NULL) {
		clean = guarded_clean(e, how, env);
		if (json_object_object_length(clean) != 0) {
			json_object_object_add(e->entry, "env", clean);
		} else {
			json_object_object_del(e->entry, "env");
			json_object_put(clean);
		}
	}
	clean = guarded_clean(e, how, e->secrets);
	json_object_put(e->secrets);
	e->secrets = clean;
	guarded_needs(e, how);
}
