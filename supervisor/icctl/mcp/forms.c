/* SPDX-License-Identifier: ISC */
#include "icctl/mcp/forms.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json_get.h"
#include "common/span.h"

#define FORMS_NAME 200U

static bool
forms_has(struct json_object *o, const char *key)
{
	return json_object_is_type(o, json_type_object) &&
	       json_object_object_get_ex(o, key, NULL);
}

/* Returns true if the object is a server's entry. */
static bool
forms_is_entry(struct json_object *o)
{
	return forms_has(o, "command") || forms_has(o, "url") ||
	       forms_has(o, "httpUrl") || forms_has(o, "serverUrl") ||
	       forms_has(get_typed(o, "transport", json_type_object), "command");
}

/* Add an entry under its name, or under NAME-2 if there is another one. */
static void
forms_add(struct json_object *all, const char *name, struct json_object *entry)
{
	char text[FORMS_NAME + 16];
	struct json_object *v;

	snprintf(text, sizeof(text), "%.200s", name);
	for (unsigned i = 2; json_object_object_get_ex(all, text, &v); i++) {
		if (json_object_equal(v, entry))
			return;
		snprintf(text, sizeof(text), "%.200s-%u", name, i);
	}
	json_object_object_add(all, text, json_object_get(entry));
}

/* Add the entries of an object, or of a list of entries that have a name. */
static void
forms_list(struct json_object *all, struct json_object *list)
{
	struct json_object *o, *name;
	char text[32];

	if (json_object_is_type(list, json_type_object)) {
		json_object_object_foreach(list, key, val)
		{
			forms_add(all, key, val);
		}
		return;
	}
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		snprintf(text, sizeof(text), "server-%zu", i + 1);
		name = get_typed(o, "name", json_type_string);
		forms_add(
		    all, name != NULL ? json_object_get_string(name) : text, o);
	}
}

/* Add the entries that one object of the file has. Returns true if it has. */
static bool
forms_object(struct json_object *all, struct json_object *root)
{
	/*
	 * Claude, Cursor, Gemini and Continue; VS Code; Codex; OpenCode; Zed;
	 * settings with dots in their names; Continue, before.
	 */
	static const char *const keys[] = {"mcpServers", "servers",
	    "mcp_servers", "mcp", "context_servers", "mcp.servers",
	    "amp.mcpServers", "modelContextProtocolServers"};
	struct json_object *v, *inner;
	bool any = false;

	for (size_t i = 0; i < nitems(keys); i++) {
		if ((v = get_typed(root, keys[i], json_type_object)) == NULL &&
		    (v = get_typed(root, keys[i], json_type_array)) == NULL)
			continue;
		any = true;
		/* VS Code's settings.json has them one level deeper. */
		inner = get_typed(v, "servers", json_type_object);
		if (inner == NULL)
			inner = get_typed(v, "mcpServers", json_type_object);
		forms_list(all, inner != NULL ? inner : v);
	}
	/* Goose's, beside those that are a part of it. */
	if ((v = get_typed(root, "extensions", json_type_object)) == NULL)
		return any;
	json_object_object_foreach(v, name, val)
	{
		if (forms_has(val, "cmd")) {
			forms_add(all, name, val);
			any = true;
		}
	}
	return any;
}

/* Add those of each project, as Claude Code keeps them. */
static bool
forms_projects(struct json_object *all, struct json_object *root)
{
	struct json_object *projects =
	    get_typed(root, "projects", json_type_object);
	bool any = false;

	if (projects == NULL)
		return false;
	json_object_object_foreach(projects, path, project)
	{
		(void)path;
		any |=
		    get_typed(project, "mcpServers", json_type_object) != NULL &&
		    forms_object(all, project);
	}
	return any;
}

struct json_object *
mcp_servers_of(struct json_object *root)
{
	struct json_object *all = json_object_new_object(), *v;
	bool any;

	any = forms_object(all, root);
	any |= forms_projects(all, root);
	if ((v = get_typed(root, "experimental", json_type_object)) != NULL)
		any |= forms_object(all, v);
	/* A development container's, for VS Code. */
	v = get_typed(get_typed(root, "customizations", json_type_object), "vscode",
	    json_type_object);
	if (v != NULL)
		any |= forms_object(all, v);
	if (any)
		return all;
	json_object_object_foreach(root, name, val)
	{
		(void)name;
		any |= forms_is_entry(val);
	}
	if (any && !forms_is_entry(root)) {
		forms_list(all, root);
		return all;
	}
	json_object_put(all);
	return NULL;
}

/* Split a command line that has no quotes into its words. */
static struct json_object *
forms_words(const char *line)
{
	struct json_object *list = json_object_new_array();
	size_t n;

	for (line += strspn(line, " \t"); *line != '\0';
	     line += n + strspn(line + n, " \t")) {
		n = strcspn(line, " \t");
		json_object_array_add(
		    list, json_object_new_string_len(line, (int)n));
	}
	return list;
}

static void
forms_append(struct json_object *list, struct json_object *more)
{
	size_t n = more != NULL ? json_object_array_length(more) : 0;

	for (size_t i = 0; i < n; i++)
		json_object_array_add(
		    list, json_object_get(json_object_array_get_idx(more, i)));
}

/*
 * Set "command" to a list of all words: it may be a text, a whole line, a list,
 * or an object with the path.
 */
static void
forms_command(struct json_object *o)
{
	struct json_object *c, *args, *list, *v;
	const char *s;

	if (!forms_has(o, "command") &&
	    (v = get_typed(o, "cmd", json_type_string)) != NULL) {
		json_object_object_add(o, "command", json_object_get(v));
		json_object_object_del(o, "cmd");
	}
	args = get_typed(o, "args", json_type_array);
	if ((v = get_typed(o, "args", json_type_string)) != NULL) {
		args = json_object_new_array();
		json_object_array_add(args, json_object_get(v));
		json_object_object_add(o, "args", args);
	}
	if (get_typed(o, "command", json_type_array) != NULL ||
	    !json_object_object_get_ex(o, "command", &c))
		return;
	list = json_object_new_array();
	if (json_object_is_type(c, json_type_object)) {
		if ((v = get_typed(c, "path", json_type_string)) != NULL)
			json_object_array_add(list, json_object_get(v));
		forms_append(list, get_typed(c, "args", json_type_array));
		if ((v = get_typed(c, "env", json_type_object)) != NULL)
			json_object_object_add(o, "env", json_object_get(v));
	} else if (json_object_is_type(c, json_type_string)) {
		s = json_object_get_string(c);
		if (args == NULL && s[0] != '/' && s[0] != '~' &&
		    strpbrk(s, "\"'\\") == NULL) {
			v = forms_words(s);
			forms_append(list, v);
			json_object_put(v);
		} else {
			json_object_array_add(list, json_object_get(c));
		}
	} else {
		json_object_put(list);
		return;
	}
	forms_append(list, args);
	json_object_object_del(o, "args");
	json_object_object_add(o, "command", list);
}

/* `cmd /c npx ...` on Windows is npx here. */
static void
forms_windows(struct json_object *o)
{
	struct json_object *c = get_typed(o, "command", json_type_array), *list;
	const char *first, *second;

	if (c == NULL || json_object_array_length(c) < 3 ||
	    (first = json_object_get_string(json_object_array_get_idx(c, 0))) ==
		NULL ||
	    (second = json_object_get_string(
		 json_object_array_get_idx(c, 1))) == NULL ||
	    (strcasecmp(first, "cmd") != 0 &&
		strcasecmp(first, "cmd.exe") != 0) ||
	    strcasecmp(second, "/c") != 0)
		return;
	list = json_object_new_array();
	for (size_t i = 2; i < json_object_array_length(c); i++)
		json_object_array_add(
		    list, json_object_get(json_object_array_get_idx(c, i)));
	json_object_object_add(o, "command", list);
}

/* Variables in a list, as "NAME=VALUE" or as objects. */
static struct json_object *
forms_env_list(struct json_object *list)
{
	struct json_object *env = json_object_new_object(), *v, *name, *value;
	const char *s, *eq;
	char key[256];

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		v = json_object_array_get_idx(list, i);
		name = get_typed(v, "name", json_type_string);
		value = get_typed(v, "value", json_type_string);
		if (name != NULL && value != NULL) {
			json_object_object_add(env,
			    json_object_get_string(name),
			    json_object_get(value));
			continue;
		}
		s = json_object_is_type(v, json_type_string)
			? json_object_get_string(v)
			: "";
		eq = strchr(s, '=');
		if (eq == NULL || (size_t)(eq - s) >= sizeof(key))
			continue;
		snprintf(key, sizeof(key), "%.*s", (int)(eq - s), s);
		json_object_object_add(
		    env, key, json_object_new_string(eq + 1));
	}
	return env;
}

/* Numbers and truth values become texts: that is what a program gets. */
static void
forms_env(struct json_object *o)
{
	static const char *const keys[] = {"env", "environment", "envs"};
	struct json_object *v = NULL, *env;
	json_type type;

	for (size_t i = 0; v == NULL && i < nitems(keys); i++)
		if (forms_has(o, keys[i]))
			json_object_object_get_ex(o, keys[i], &v);
	if (json_object_is_type(v, json_type_array)) {
		env = forms_env_list(v);
	} else if (json_object_is_type(v, json_type_object)) {
		env = json_object_new_object();
		json_object_object_foreach(v, name, val)
		{
			type = json_object_get_type(val);
			json_object_object_add(env, name,
			    type == json_type_boolean ||
				    type == json_type_int ||
				    type == json_type_double
				? json_object_new_string(
				      json_object_get_string(val))
				: json_object_get(val));
		}
	} else {
		return;
	}
	json_object_object_del(o, "environment");
	json_object_object_del(o, "envs");
	json_object_object_add(o, "env", env);
}

struct json_object *
forms_entry(struct json_object *theirs)
{
	struct json_object *o = NULL, *inner;

	if (!json_object_is_type(theirs, json_type_object) ||
	    json_object_deep_copy(theirs, &o, NULL) == -1)
		return NULL;
	inner = get_typed(o, "transport", json_type_object);
	if (inner != NULL) {
		json_object_get(inner);
		json_object_object_del(o, "transport");
		json_object_object_foreach(inner, key, val)
		{
			json_object_object_add(o, key, json_object_get(val));
		}
		json_object_put(inner);
	}
	forms_command(o);
	forms_windows(o);
	forms_env(o);
	return o;
}
