/* SPDX-License-Identifier: ISC */
/*
 * Parses the parts of config.json about model providers: where a credential is
 * kept ("credentials") and where requests go ("providers").
 */
#include "files/parse.h"

#include <stdio.h>
#include <string.h>

static struct config_provider *
config_provider_get(struct config *cfg, const struct jsonfile *j,
    const char *where, const char *name)
{
	struct config_provider *p;

	for (size_t i = 0; i < cfg->nproviders; i++)
		if (strcmp(cfg->providers[i].name, name) == 0)
			return &cfg->providers[i];
	if (!config_name_ok(name, 64, "-_")) {
		jsonfile_bad(j, where, name,
		    "is not a valid name for a provider: letters, digits, - "
		    "and _ only");
		return NULL;
	}
	if (cfg->nproviders == PROTO_MAX_PROVIDERS) {
		jsonfile_bad(j, where, name, "at most %u providers are taken",
		    PROTO_MAX_PROVIDERS);
		return NULL;
	}
	p = &cfg->providers[cfg->nproviders];
	memset(p, 0, sizeof(*p));
	if ((p->name = strdup(name)) == NULL) {
		fault_errno(j->fault, "%s", j->file);
		return NULL;
	}
	p->reuse = p->http2 = true;
	cfg->nproviders++;
	return p;
}

/* Read the command that takes a session's key back, if there is one. */
static int
config_revoke(struct config_provider *p, const struct jsonfile *j,
    struct json_object *val, const char *where)
{
	static const char *const keys[] = {
	    "command", "variables", "shell", NULL};
	struct json_object *o;
	char at[128];
	int r;

	if (!json_object_object_get_ex(val, "revoke", &o))
		return 0;
	snprintf(at, sizeof(at), "%s.revoke", where);
	if (!json_object_is_type(o, json_type_object))
		r = jsonfile_strings(
		    j, val, where, "revoke", 64, &p->revoke.argv);
	else if ((r = jsonfile_known(j, o, at, keys)) == 0)
		r = config_command(&p->revoke, j, o, at);
	if (r == -1)
		return -1;
	if (p->revoke.argv == NULL || p->revoke.argv[0] == NULL ||
	    p->revoke.argv[0][0] == '\0')
		return jsonfile_bad(j, where, "revoke",
		    "must name a program: [\"gateway-key\", \"delete\", "
		    "\"{session}\"]");
	return 0;
}

int
config_credentials(struct config *cfg, const struct jsonfile *j,
    struct json_object *root, const char *user_home)
{
	struct json_object *all = NULL;
	struct config_provider *p;
	char where[96];

	if (jsonfile_object(j, root, "", "credentials", &all) == -1)
		return -1;
	if (all == NULL)
		return 0;
	json_object_object_foreach(all, name, val)
	{
		if ((p = config_provider_get(cfg, j, "credentials", name)) ==
		    NULL)
			return -1;
		snprintf(where, sizeof(where), "credentials.%s", name);
		if (config_credential_of(p, j, val, where, user_home, true) ==
			-1 ||
		    config_revoke(p, j, val, where) == -1)
			return -1;
		p->listed = true;
	}
	return 0;
}

/* The same rules as for a provider file (mitmd/provider/filter_rules.h). */
static int
config_filter(
    const struct jsonfile *j, struct json_object *filter, const char *where)
{
	static const char *const keys[] = {
	    "tools", "mcp", "urls", "store", "background", "usage", NULL};
	const char *s;
	char at[128];
	bool usage;

	snprintf(at, sizeof(at), "%s.filter", where);
	if (jsonfile_known(j, filter, at, keys) == -1)
		return -1;
	json_object_object_foreach(filter, name, val)
	{
		if (jsonfile_text_of(j, val, at, name, &s) == -1)
			return -1;
		usage = strcmp(name, "usage") == 0;
		if (usage ? strcmp(s, "ask") != 0 && strcmp(s, "leave") != 0
			  : strcmp(s, "strip") != 0 && strcmp(s, "deny") != 0 &&
				strcmp(s, "allow") != 0)
			return jsonfile_bad(j, at, name,
			    usage ? "must be \"ask\" or \"leave\""
				  : "must be \"strip\", \"deny\" or "
				    "\"allow\"");
	}
	return 0;
}

static int
config_param(struct config_provider *p, const struct jsonfile *j,
    struct json_object *o, const char *where, const char *name,
    enum providers_param which)
{
	const char *value = NULL;

	if (jsonfile_str(j, o, where, name, &value) == -1)
		return -1;
	if (value != NULL && (p->params[which] = strdup(value)) == NULL)
		return fault_errno(j->fault, "%s", j->file);
	return 0;
}

static int
config_one_provider(struct config_provider *p, const struct jsonfile *j,
    struct json_object *o, const char *where, const char *user_home)
{
	static const char *const keys[] = {"upstream", "token", "ca", "reuse",
	    "filter", "http2", "region", "project", "headers", NULL};
	struct json_object *filter = NULL, *headers = NULL;
	const char *why = NULL, *token = NULL;

	if (jsonfile_known(j, o, where, keys) == -1 ||
	    jsonfile_str(j, o, where, "token", &token) == -1 ||
	    config_param(p, j, o, where, "region", PARAM_REGION) == -1 ||
	    config_param(p, j, o, where, "project", PARAM_PROJECT) == -1 ||
	    jsonfile_bool(j, o, where, "http2", &p->http2) == -1 ||
	    jsonfile_object(j, o, where, "headers", &headers) == -1 ||
	    jsonfile_object(j, o, where, "filter", &filter) == -1 ||
	    (filter != NULL && config_filter(j, filter, where) == -1))
		return -1;
	/* Both become members of the provider's file. */
	if (filter != NULL || headers != NULL)
		p->filter = json_object_new_object();
	if (filter != NULL)
		json_object_object_add(
		    p->filter, "filter", json_object_get(filter));
	if (headers != NULL)
		json_object_object_add(
		    p->filter, "sendHeaders", json_object_get(headers));
	if (config_reach(p, j, o, where, user_home) == -1)
		return -1;
	if (token != NULL && config_url(token, &p->token, &why) == -1)
		return jsonfile_bad(j, where, "token", "\"%s\": %s",
		    strpbrk(token, "@?") != NULL ? "..." : token, why);
	return 0;
}

int
config_providers(struct config *cfg, const struct jsonfile *j,
    struct json_object *root, const char *user_home)
{
	struct json_object *all = NULL, *o;
	struct config_provider *p;
	char where[96];

	if (jsonfile_object(j, root, "", "providers", &all) == -1)
		return -1;
	if (all == NULL)
		return 0;
	json_object_object_foreach(all, name, val)
	{
		(void)val;
		if ((p = config_provider_get(cfg, j, "providers", name)) ==
			NULL ||
		    jsonfile_object(j, all, "providers", name, &o) == -1)
			return -1;
		snprintf(where, sizeof(where), "providers.%s", name);
		if (config_one_provider(p, j, o, where, user_home) == -1)
			return -1;
	}
	return 0;
}
