/* SPDX-License-Identifier: ISC */
/*
 * Composes the settings of a session from the person's own and from what they
 * accepted of the project's. The person's own win. The result passes the same
 * check as config.json before it is used.
 */
#include "icctl/project/project.h"

#include <sys/stat.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "base/jsonfile.h"
#include "budget/budget.h"
#include "files/config.h"

/* Write the absolute path of the person's settings. */
static void
config_path_of(const struct icctl *ctl, const char *config, char dst[PATH_MAX])
{
	if (config == NULL)
		snprintf(dst, PATH_MAX, "%.4000s/config.json", ctl->home);
	else if (realpath(config, dst) == NULL)
		snprintf(dst, PATH_MAX, "%s", config);
}

/* Read the person's settings: an empty object if there are none. */
static json_object *
own_settings(const struct icctl *ctl, const char *config, struct fault *fault)
{
	char path[PATH_MAX];
	struct stat st;
	json_object *root;
	size_t len;
	char *text;

	config_path_of(ctl, config, path);
	if ((text = jsonfile_text(path, &len, &st, fault)) == NULL)
		return config == NULL && errno == ENOENT
			   ? json_object_new_object()
			   : NULL;
	root = jsonfile_parse(path, span_of(text, len), fault);
	freezero(text, len);
	return root;
}

/* Returns an object member, which is made if it is missing; NULL: no object. */
static json_object *
object_in(json_object *root, const char *name)
{
	json_object *o = NULL;

	if (!json_object_object_get_ex(root, name, &o)) {
		o = json_object_new_object();
		json_object_object_add(root, name, o);
	}
	return json_object_is_type(o, json_type_object) ? o : NULL;
}

/* Returns true if one of the person's destinations has the host. */
static bool
host_is_open(json_object *destinations, const char *host)
{
	json_object *hosts;

	json_object_object_foreach(destinations, name, val)
	{
		(void)name;
		if (!json_object_object_get_ex(val, "hosts", &hosts) ||
		    !json_object_is_type(hosts, json_type_array))
			continue;
		for (size_t i = 0; i < json_object_array_length(hosts); i++)
			if (strcmp(json_object_get_string(
				       json_object_array_get_idx(hosts, i)),
				host) == 0)
				return true;
	}
	return false;
}

/* Add a destination of this kind with the hosts that are not open yet. */
static void
add_hosts(const struct project *p, json_object *all, const char *member,
    const char *kind, bool each)
{
	json_object *list = project_member(p, member), *o = NULL, *hosts = NULL;
	char name[48];

	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++) {
		const char *host =
		    json_object_get_string(json_object_array_get_idx(list, i));

		if (host_is_open(all, host))
			continue;
		if (o == NULL || each) {
			o = json_object_new_object();
			hosts = json_object_new_array();
			json_object_object_add(
			    o, "kind", json_object_new_string(kind));
			json_object_object_add(o, "hosts", hosts);
			snprintf(name, sizeof(name), "project-%s-%zu", kind, i);
			json_object_object_add(all, name, o);
		}
		json_object_array_add(hosts, json_object_new_string(host));
	}
}

static void
add_env(const struct project *p, json_object *root)
{
	json_object *from = project_member(p, "env"), *to;

	if (from == NULL || (to = object_in(root, "env")) == NULL)
		return;
	json_object_object_foreach(from, name, val)
	{
		if (!json_object_object_get_ex(to, name, NULL))
			json_object_object_add(to, name, json_object_get(val));
	}
}

/* Add the services that the person has none of that name for. */
static void
add_services(const struct project *p, json_object *root)
{
	json_object *from = project_member(p, "services"), *to;

	if (!json_object_is_type(from, json_type_object) ||
	    (to = object_in(root, "services")) == NULL)
		return;
	json_object_object_foreach(from, name, val)
	{
		if (!json_object_object_get_ex(to, name, NULL))
			json_object_object_add(to, name, json_object_get(val));
	}
}

/* Add what undo keeps, unless the person has switched it off. */
static void
add_undo(const struct project *p, json_object *root)
{
	json_object *from = NULL, *to = NULL, *list = NULL;

	if (!json_object_object_get_ex(
		project_member(p, "undo"), "include", &from) ||
	    (json_object_object_get_ex(root, "undo", &to) &&
		!json_object_is_type(to, json_type_object)) ||
	    (to = object_in(root, "undo")) == NULL)
		return;
	if (!json_object_object_get_ex(to, "include", &list)) {
		list = json_object_new_array();
		json_object_object_add(to, "include", list);
	}
	for (size_t i = 0; json_object_is_type(list, json_type_array) &&
			   i < json_object_array_length(from);
	     i++)
		json_object_array_add(
		    list, json_object_get(json_object_array_get_idx(from, i)));
}

/* Tell the agent what the project says. */
static void
add_instructions(const struct project *p, json_object *root)
{
	json_object *from = project_member(p, "instructions");

	if (from != NULL)
		json_object_object_add(
		    root, "projectInstructions", json_object_get(from));
}

static bool
list_has(json_object *list, json_object *v)
{
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (json_object_equal(json_object_array_get_idx(list, i), v))
			return true;
	return false;
}

/* Deny, or ask about, what the project names, beside what the person names. */
static void
narrow_policy(const struct project *p, json_object *root, const char *key)
{
	json_object *from = NULL, *to, *list = NULL, *one;

	if (!json_object_object_get_ex(
		project_member(p, "policy"), key, &from) ||
	    (to = object_in(root, "policy")) == NULL)
		return;
	if (!json_object_object_get_ex(to, key, &list)) {
		list = json_object_new_array();
		json_object_object_add(to, key, list);
	}
	for (size_t i = 0; json_object_is_type(list, json_type_array) &&
			   i < json_object_array_length(from);
	     i++) {
		one = json_object_array_get_idx(from, i);
		if (!list_has(list, one))
			json_object_array_add(list, json_object_get(one));
	}
}

/* Returns the person's limit; a very large number: none. */
static double
own_limit(json_object *to, const char *name)
{
	const int key = budget_find(name);
	json_object *v = NULL;

	if (json_object_object_get_ex(to, name, &v))
		return v == NULL ? 1e300 : json_object_get_double(v);
	return budget_dflt.on[key] ? budget_dflt.max[key] : 1e300;
}

/* Lower the limits that are higher than the project's. */
static void
lower_budget(const struct project *p, json_object *root)
{
	json_object *from = project_member(p, "budget"), *to;

	if (from == NULL || (to = object_in(root, "resourceBudget")) == NULL)
		return;
	json_object_object_foreach(from, name, val)
	{
		if (json_object_get_double(val) < own_limit(to, name))
			json_object_object_add(to, name, json_object_get(val));
	}
}

static int
merged_ok(const struct project *p, const char *profile, const char *text,
    struct fault *fault)
{
	const char *home = getenv("HOME");
	struct fault own;
	struct config cfg;

	if (config_parse(&cfg, "", home == NULL ? "/" : home, profile,
		span_str(text), &own) == -1)
		return fault_set(
		    fault, "%s, together with: %s", p->path, own.text);
	config_free(&cfg);
	return 0;
}

char *
project_merge(const struct icctl *ctl, struct project *p, const char *config,
    const char *profile, bool granted, struct fault *fault)
{
	json_object *root = own_settings(ctl, config, fault), *all;
	char *text = NULL, path[PATH_MAX];

	if (root == NULL)
		return NULL;
	/* Relative paths in it are relative to that file. */
	config_path_of(ctl, config, path);
	put_str(root, "settingsOf", path);
	if (granted && (all = object_in(root, "destinations")) != NULL) {
		add_hosts(p, all, "hosts", "web", false);
		add_hosts(p, all, "git", "git", true);
		if (json_object_object_length(all) == 0)
			json_object_object_del(root, "destinations");
	}
	if (granted) {
		add_env(p, root);
		add_services(p, root);
		add_undo(p, root);
		add_instructions(p, root);
	}
	narrow_policy(p, root, "deny");
	narrow_policy(p, root, "ask");
	project_forge(p, root, granted);
	lower_budget(p, root);
	text = strdup(json_object_to_json_string_ext(
	    root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(root);
	if (text == NULL) {
		fault_errno(fault, "%s", p->path);
	} else if (merged_ok(p, profile, text, fault) == -1) {
		freezero(text, strlen(text));
		text = NULL;
	}
	return text;
}

/* Returns true if the object has a member of that name. */
static bool
has_name(json_object *root, const char *member, const char *name)
{
	json_object *o = NULL;

	return root != NULL && json_object_object_get_ex(root, member, &o) &&
	       json_object_is_type(o, json_type_object) &&
	       json_object_object_get_ex(o, name, NULL);
}

/* Returns true if the person has a destination for packages of this kind. */
static bool
has_registry(json_object *root, const char *kind)
{
	json_object *all = NULL, *v;

	if (!json_object_object_get_ex(root, "destinations", &all) ||
	    !json_object_is_type(all, json_type_object))
		return false;
	json_object_object_foreach(all, name, val)
	{
		if (strcmp(name, kind) == 0 ||
		    (json_object_object_get_ex(val, "registry", &v) &&
			strcmp(json_object_get_string(v), kind) == 0))
			return true;
	}
	return false;
}

void
project_lacks(const struct icctl *ctl, struct project *p, const char *config)
{
	struct fault fault;
	json_object *own = own_settings(ctl, config, &fault), *list, *servers;
	const char *name;
	char path[4200];

	snprintf(path, sizeof(path), "%.4000s/mcp-servers.json", ctl->home);
	servers = json_object_from_file(path);
	list = project_member(p, "registries");
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		name =
		    json_object_get_string(json_object_array_get_idx(list, i));
		if (own != NULL && !has_registry(own, name))
			project_say(p, PROJECT_LACKS,
			    "it installs packages of %s, and your config.json "
			    "has no such registry in destinations",
			    name);
	}
	if (project_member(p, "forge") != NULL && own != NULL &&
	    project_forge_own(own) == NULL)
		project_say(p, PROJECT_LACKS,
		    "it works with a forge, and your config.json has none, or "
		    "several: icctl setup --forge");
	list = project_member(p, "services");
	if (json_object_is_type(list, json_type_object))
		list = NULL;
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		name =
		    json_object_get_string(json_object_array_get_idx(list, i));
		if (!has_name(own, "services", name))
			project_say(p, PROJECT_LACKS,
			    "it uses the service %s, and your config.json has "
			    "none of this name in services",
			    name);
	}
	list = project_member(p, "servers");
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		name =
		    json_object_get_string(json_object_array_get_idx(list, i));
		if (!has_name(servers, "mcpServers", name) &&
		    !json_object_object_get_ex(servers, name, NULL))
			project_say(p, PROJECT_LACKS,
			    "it uses the MCP server %s, and you have none of "
			    "this name: icctl mcp add %s -- COMMAND...",
			    name, name);
	}
	json_object_put(servers);
	json_object_put(own);
}
