/* SPDX-License-Identifier: ISC */
#include "icctl/settings/amelia.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/secret.h"
#include "files/config.h"
#include "icctl/icctl.h"

/* Note what the value of a key became; `taken` if config.json has it now. */
__attribute__((format(printf, 5, 6))) static void
row(struct amelia *am, const char *key, json_object *value, bool taken,
    const char *fmt, ...)
{
	json_object *o = json_object_new_object();
	char became[AMELIA_BECAME];
	va_list ap;

	if (json_object_array_length(am->rows) >= AMELIA_ROWS) {
		if (am->fault.text[0] == '\0')
			fault_set(&am->fault,
			    "the profile has more than %u "
			    "keys",
			    AMELIA_ROWS);
		json_object_put(o);
		return;
	}
	va_start(ap, fmt);
	(void)vsnprintf(became, sizeof(became), fmt, ap);
	va_end(ap);
	put_str(o, "key", key);
	/* A secret that stands in the file is not shown. */
	if (value != NULL &&
	    !(json_object_is_type(value, json_type_string) &&
		secret_like(key, json_object_get_string(value))))
		json_object_object_add(o, "value", json_object_get(value));
	put_bool(o, "taken", taken);
	put_str(o, "became", became);
	json_object_array_add(am->rows, o);
	am->taken += taken;
}

/* Refuse the whole file because of a key. Always returns -1. */
static int
refuse(struct amelia *am, const char *key, const char *why)
{
	if (am->fault.text[0] == '\0')
		fault_set(&am->fault, "%.200s: %s", key, why);
	return -1;
}

/* Returns the text of a value, or NULL after the file was refused. */
static const char *
text_of(struct amelia *am, const char *key, json_object *v)
{
	if (json_object_is_type(v, json_type_string))
		return json_object_get_string(v);
	(void)refuse(am, key, "must be a text");
	return NULL;
}

/*
 * Returns true, after saying so, if config.json has a value already: that of
 * the member `only`, or any if it is NULL. `name` is the member that the key
 * would set to `text`.
 */
static bool
stays(struct amelia *am, const char *key, json_object *v, json_object *o,
    const char *only, const char *name, const char *text)
{
	if (only == NULL ? json_object_object_length(o) == 0
			 : !json_object_object_get_ex(o, only, NULL))
		return false;
	if (strcmp(get_str(o, name, ""), text) == 0)
		row(am, key, v, false, "nothing: config.json says so already");
	else
		row(am, key, v, false,
		    "not taken: config.json has a value already, which stays");
	return true;
}

/* Returns the provider that has this host, or NULL. */
static const char *
host_provider(const struct amelia *am, const char *host)
{
	json_object *list;

	for (size_t i = 0; i < am->providers.n; i++) {
		list = json_object_object_get(am->hosts, am->providers.list[i]);
		for (size_t j = 0;
		     list != NULL && j < json_object_array_length(list); j++)
			if (strcasecmp(json_object_get_string(
					   json_object_array_get_idx(list, j)),
				host) == 0)
				return am->providers.list[i];
	}
	return NULL;
}

/* Returns the protocol of a registry of packages by its name, or NULL. */
static const char *
host_registry(const char *host)
{
	static const char *const rows[][2] = {{"npm", "npm"}, {"yarn", "npm"},
	    {"pypi", "pypi"}, {"pythonhosted", "pypi"}, {"crates", "crates"},
	    {"deb.", "debian"}};

	for (size_t i = 0; i < nitems(rows); i++)
		if (strcasestr(host, rows[i][0]) != NULL)
			return rows[i][1];
	return NULL;
}

/* Returns true if a server of git is known by this name. */
static bool
host_git(const char *host)
{
	static const char *const rows[] = {"github.com", "gitlab.", "git.",
	    "bitbucket.org", "codeberg.org", "gitea."};

	for (size_t i = 0; i < nitems(rows); i++)
		if (strncasecmp(host, rows[i], strlen(rows[i])) == 0)
			return true;
	return false;
}

/* Returns true for a DNS name, which is what a destination takes. */
static bool
host_plain(const char *host)
{
	bool letter = false;

	if (host[0] == '\0' || strlen(host) > 253 || strchr(host, '.') == NULL)
		return false;
	for (const char *p = host; *p != '\0'; p++) {
		if (!isalnum((unsigned char)*p) && *p != '-' && *p != '.')
			return false;
		letter = letter || isalpha((unsigned char)*p);
	}
	return letter;
}

/* Returns the object `name` of `destinations`, which is made if need be. */
static json_object *
destination(struct amelia *am, const char *name, const char *kind)
{
	json_object *o = put_child(put_child(am->config, "destinations"), name);

	if (!json_object_object_get_ex(o, "kind", NULL)) {
		put_str(
		    o, "kind", strcmp(kind, "web") == 0 ? kind : "registry");
		if (strcmp(kind, "web") != 0)
			put_str(o, "registry", kind);
		json_object_object_add(o, "hosts", json_object_new_array());
	}
	return o;
}

/* Add a host to a destination. Returns false if it was there. */
static bool
destination_host(
    struct amelia *am, const char *name, const char *kind, const char *host)
{
	json_object *o = destination(am, name, kind), *list;

	list = get_typed(o, "hosts", json_type_array);
	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++)
		if (strcasecmp(json_object_get_string(
				   json_object_array_get_idx(list, i)),
			host) == 0)
			return false;
	if (list == NULL) {
		list = json_object_new_array();
		json_object_object_add(o, "hosts", list);
	}
	json_object_array_add(list, json_object_new_string(host));
	return true;
}

static void
take_host(struct amelia *am, const char *key, json_object *v)
{
	const char *host = text_of(am, key, v), *kind, *provider;
	char name[64];
	bool added;

	if (host == NULL)
		return;
	if (!am->listed) {
		row(am, key, v, false,
		    "not taken, since the list is switched off; the sandbox "
		    "has no network. icctl start asks you for hosts "
		    "(openHosts)");
	} else if ((provider = host_provider(am, host)) != NULL) {
		row(am, key, v, false,
		    "nothing: the provider %s is offered where you have a key "
		    "or login (icctl login %s)",
		    provider, provider);
	} else if (host_git(host)) {
		row(am, key, v, false,
		    "not taken: a git server needs its repositories: icctl "
		    "config set destinations.git '{\"kind\": \"git\", "
		    "\"hosts\": [\"%.200s\"], \"repositories\": "
		    "[\"OWNER/*\"]}'",
		    host);
	} else if (!host_plain(host)) {
		row(am, key, v, false,
		    "not taken: only names of hosts can be opened, no "
		    "addresses, ports or patterns");
	} else {
		kind = host_registry(host);
		if (kind == NULL)
			kind = "web";
		snprintf(name, sizeof(name), "amelia-%s", kind);
		added = destination_host(am, name, kind, host);
		row(am, key, v, added, "%sa host of destinations.%s (%s)",
		    added ? "" : "is already ", name,
		    strcmp(kind, "web") == 0
			? "GET and HEAD alone"
			: "packages can be installed, nothing else");
	}
}

static void
take_image(struct amelia *am, const char *key, json_object *v)
{
	const char *image = text_of(am, key, v);

	if (image == NULL)
		return;
	if (!am->container) {
		row(am, key, v, false,
		    "not taken, since sandbox.mode is not container");
		return;
	}
	if (stays(am, key, v, am->config, "image", "image", image))
		return;
	put_str(am->config, "image", image);
	if (!json_object_object_get_ex(am->config, "runtime", NULL))
		put_str(am->config, "runtime", "docker");
	row(am, key, v, true,
	    "image, for the runtime %s. An agent must be in it: icctl image "
	    "build adds one",
	    get_str(am->config, "runtime", ""));
}

static void
take_sandbox_key(struct amelia *am, const char *name, json_object *v)
{
	char key[300];

	snprintf(key, sizeof(key), "sandbox.%.200s", name);
	if (strcmp(name, "mode") == 0) {
		row(am, key, v, false, "%s",
		    am->container
			? "nothing: every session has a sandbox"
			: "not taken: there is no session without a sandbox; "
			  "it gets one all the same");
	} else if (strcmp(name, "image") == 0) {
		take_image(am, key, v);
	} else if (strcmp(name, "network_allowlist_enabled") == 0) {
		row(am, key, v, false, "%s",
		    am->listed ? "nothing: the sandbox reaches what is listed, "
				 "and nothing else"
			       : "not taken: no sandbox has an open network; "
				 "it reaches model providers alone");
	} else if (strcmp(name, "network_allowed_hosts") == 0) {
		if (!json_object_is_type(v, json_type_array))
			(void)refuse(am, key, "must be a list of names");
		for (size_t i = 0; json_object_is_type(v, json_type_array) &&
				   i < json_object_array_length(v);
		     i++) {
			snprintf(key, sizeof(key),
			    "sandbox.network_allowed_hosts[%zu]", i);
			take_host(am, key, json_object_array_get_idx(v, i));
		}
	} else {
		row(am, key, v, false,
		    "not taken: there is no such setting here");
	}
}

static void
take_sandbox(struct amelia *am, json_object *v)
{
	json_object *on = NULL, *mode = NULL;
	const char *text = "none";

	if (!json_object_is_type(v, json_type_object)) {
		(void)refuse(am, "sandbox", "must be an object");
		return;
	}
	if (json_object_object_get_ex(v, "mode", &mode))
		text = text_of(am, "sandbox.mode", mode);
	if (text != NULL && strcmp(text, "container") != 0 &&
	    strcmp(text, "none") != 0)
		(void)refuse(
		    am, "sandbox.mode", "must be \"container\" or \"none\"");
	am->container = text != NULL && strcmp(text, "container") == 0;
	if (json_object_object_get_ex(v, "network_allowlist_enabled", &on) &&
	    !json_object_is_type(on, json_type_boolean))
		(void)refuse(am, "sandbox.network_allowlist_enabled",
		    "must be true or false");
	am->listed = json_object_get_boolean(on);
	json_object_object_foreach(v, name, val)
	    take_sandbox_key(am, name, val);
}

/* Returns true if some part of a key's name says that its value is a secret. */
static bool
names_secret(const char *name)
{
	return strcasestr(name, "key") != NULL ||
	       strcasestr(name, "token") != NULL ||
	       strcasestr(name, "secret") != NULL ||
	       strcasestr(name, "password") != NULL;
}

static void
take_provider_key(
    struct amelia *am, const char *provider, const char *name, json_object *v)
{
	bool known = names_have(&am->providers, provider);
	const char *text = json_object_is_type(v, json_type_string)
			       ? json_object_get_string(v)
			       : "";
	json_object *o;
	char key[300];

	snprintf(key, sizeof(key), "providers.%.100s.%.100s", provider, name);
	if (!known) {
		row(am, key, NULL, false,
		    "not taken: no provider has this name; one of your own is "
		    "a file in ~/.ironcurtain/providers "
		    "(ironcurtain-config(5), PROVIDERS)");
	} else if (strcmp(name, "api_key_env") == 0 ||
		   strcmp(name, "key_env") == 0 || strcmp(name, "env") == 0) {
		if (text_of(am, key, v) == NULL)
			return;
		o = put_child(put_child(am->config, "credentials"), provider);
		if (stays(am, key, v, o, NULL, "env", text))
			return;
		put_str(o, "env", text);
		/* The name of the variable is what the person decides on. */
		row(am, key, NULL, true, "credentials.%s.env: the variable %s",
		    provider, text);
	} else if (strcmp(name, "base_url") == 0 ||
		   strcmp(name, "upstream") == 0 || strcmp(name, "url") == 0) {
		if (text_of(am, key, v) == NULL)
			return;
		o = put_child(put_child(am->config, "providers"), provider);
		if (stays(am, key, v, o, "upstream", "upstream", text))
			return;
		put_str(o, "upstream", text);
		row(am, key, v, true, "providers.%s.upstream", provider);
	} else if (names_secret(name) || secret_like(name, text)) {
		/* The value is not shown, nor kept. */
		row(am, key, NULL, false,
		    "not taken: a key belongs in a variable or a file of its "
		    "own (icctl login %s)",
		    provider);
	} else {
		row(am, key, v, false,
		    "not taken: there is no such setting here");
	}
}

static void
take_provider(struct amelia *am, const char *key, json_object *v)
{
	const char *name = text_of(am, key, v);

	if (name == NULL)
		return;
	if (names_have(&am->providers, name))
		row(am, key, v, false,
		    "nothing: it is offered where you have a key or login "
		    "(icctl login %.64s)",
		    name);
	else
		row(am, key, v, false,
		    "not taken: no provider has this name (icctl login lists "
		    "them)");
}

static void
take_providers(struct amelia *am, json_object *v)
{
	char key[64];

	if (json_object_is_type(v, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(v); i++) {
			snprintf(key, sizeof(key), "providers[%zu]", i);
			take_provider(am, key, json_object_array_get_idx(v, i));
		}
		return;
	}
	if (!json_object_is_type(v, json_type_object)) {
		(void)refuse(am, "providers", "must be an object or a list");
		return;
	}
	json_object_object_foreach(v, name, settings)
	{
		if (!json_object_is_type(settings, json_type_object)) {
			(void)refuse(
			    am, "providers", "its members must be objects");
			return;
		}
		json_object_object_foreach(settings, member, val)
		    take_provider_key(am, name, member, val);
	}
}

/* Note the models of agents: a request or an option says them. */
static void
take_models(struct amelia *am, const char *above, json_object *v)
{
	char key[300];

	json_object_object_foreach(v, name, val)
	{
		snprintf(key, sizeof(key), "%.200s.%.80s", above, name);
		if (json_object_is_type(val, json_type_object) &&
		    strlen(key) < 160)
			take_models(am, key, val);
		else if (names_secret(name))
			row(am, key, NULL, false,
			    "not taken: a key belongs in a variable or a file "
			    "of its own (icctl login)");
		else if (strcmp(name, "model") == 0)
			row(am, key, val, false,
			    "nothing to keep: each request of icctl driver "
			    "says its \"model\"");
		else
			row(am, key, val, false,
			    "not taken: it is the orchestrator's own");
	}
}

static void
take_key(struct amelia *am, const char *name, json_object *v)
{
	static const char *const rows[][2] = {
	    {"name", "nothing: config.json holds for all sessions"},
	    {"id", "nothing: config.json holds for all sessions"},
	    {"driver", "nothing to keep: icctl driver stands in its place, "
		       "with --agent NAME or -- COMMAND"},
	    {"model", "nothing to keep: each request of icctl driver says its "
		      "\"model\"; icctl driver --model NAME is for all"},
	    {"working_dir", "nothing to keep: icctl driver --workspace DIR, or "
			    "--clone DIR for workflows"},
	    {"repo_root", "nothing to keep: icctl driver --workspace DIR, or "
			  "--clone DIR for workflows"}};

	if (strcmp(name, "sandbox") == 0) {
		take_sandbox(am, v);
		return;
	}
	if (strcmp(name, "providers") == 0) {
		take_providers(am, v);
		return;
	}
	if (strcmp(name, "provider") == 0) {
		take_provider(am, name, v);
		return;
	}
	for (size_t i = 0; i < nitems(rows); i++) {
		if (strcmp(name, rows[i][0]) == 0) {
			row(am, name, v, false, "%s", rows[i][1]);
			return;
		}
	}
	if (json_object_is_type(v, json_type_object))
		take_models(am, name, v);
	else
		row(am, name, names_secret(name) ? NULL : v, false,
		    "not taken: it is the orchestrator's own");
}

int
amelia_take(struct amelia *am, json_object *profile)
{
	json_object_object_foreach(profile, name, val) take_key(am, name, val);
	return am->fault.text[0] == '\0' ? 0 : -1;
}
