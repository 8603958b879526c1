/* SPDX-License-Identifier: ISC */
/*
 * Parses the parts of config.json about model providers: where a credential is
 * kept ("credentials") and where requests go ("providers").
 */
#include "files/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
config_name_ok(const char *s, size_t max, const char *extra)
{
	size_t n = strlen(s);

	if (n == 0 || n > max)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') ||
			(s[i] >= 'A' && s[i] <= 'Z') ||
			(s[i] >= '0' && s[i] <= '9') ||
			strchr(extra, s[i]) != NULL))
			return false;
	return true;
}

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
	if ((p->name = strdup(name)) == NULL) {
		fault_errno(j->fault, "%s", j->file);
		return NULL;
	}
	p->reuse = p->http2 = true;
	cfg->nproviders++;
	return p;
}

/* Make the attributes arguments of the program that prints the credential. */
static int
config_service(struct config_provider *p, const struct jsonfile *j,
    struct json_object *o, const char *where)
{
	size_t n = (size_t)json_object_object_length(o), i = 0;
	const char *text;

	if (n == 0 || n > 16)
		return jsonfile_bad(j, where, "secret-service",
		    "must hold 1 to 16 attributes: "
		    "{\"service\":\"anthropic\"}");
	if ((p->command.argv = calloc(2 * n + 3, sizeof(char *))) == NULL)
		return fault_errno(j->fault, "%s", j->file);
	p->command.argv[i++] = strdup("secret-tool");
	p->command.argv[i++] = strdup("lookup");
	json_object_object_foreach(o, name, val)
	{
		if (jsonfile_text_of(j, val, where, name, &text) == -1)
			return -1;
		if (name[0] == '-' || name[0] == '\0')
			return jsonfile_bad(j, where, "secret-service",
			    "an attribute's name must not begin with -");
		p->command.argv[i++] = strdup(name);
		p->command.argv[i++] = strdup(text);
	}
	while (i-- > 0)
		if (p->command.argv[i] == NULL)
			return fault_errno(j->fault, "%s", j->file);
	return 0;
}

static int
config_credential_value(struct config_provider *p, const struct jsonfile *j,
    struct json_object *o, const char *where, const char *user_home)
{
	const char *env = NULL, *file = NULL, *unit = NULL, *login = NULL,
		   *capture = NULL;
	struct json_object *service = NULL;

	if (jsonfile_str(j, o, where, "env", &env) == -1 ||
	    jsonfile_str(j, o, where, "file", &file) == -1 ||
	    jsonfile_str(j, o, where, "systemd", &unit) == -1 ||
	    jsonfile_str(j, o, where, "login", &login) == -1 ||
	    jsonfile_str(j, o, where, "capture", &capture) == -1 ||
	    jsonfile_object(j, o, where, "secret-service", &service) == -1 ||
	    config_command(&p->command, j, o, where) == -1)
		return -1;
	if (login != NULL) {
		if (!config_name_ok(login, 64, "-"))
			return jsonfile_bad(j, where, "login",
			    "must say whose login it is: \"claude-code\"");
		p->kind = CREDENTIAL_LOGIN;
		p->value = strdup(login);
		if (file != NULL && (p->login_file = config_path(
					 j->file, user_home, file)) == NULL)
			return fault_errno(j->fault, "%s", j->file);
	} else if (capture != NULL) {
		if (!config_name_ok(capture, 64, "-"))
			return jsonfile_bad(j, where, "capture",
			    "must say whose login it is: \"claude-code\"");
		p->kind = CREDENTIAL_CAPTURE;
		p->value = strdup(capture);
	} else if (service != NULL) {
		p->kind = CREDENTIAL_SERVICE;
		return config_service(p, j, service, where);
	} else if (env != NULL) {
		if (!config_name_ok(env, 256, "_") ||
		    (env[0] >= '0' && env[0] <= '9'))
			return jsonfile_bad(j, where, "env",
			    "must be the NAME "
			    "of an environment variable (letters, digits, _), "
			    "not its value");
		p->kind = CREDENTIAL_ENV;
		p->value = strdup(env);
	} else if (file != NULL) {
		p->kind = CREDENTIAL_FILE;
		p->value = config_path(j->file, user_home, file);
	} else if (unit != NULL) {
		if (!config_name_ok(unit, 255, "_.:@-") || unit[0] == '.')
			return jsonfile_bad(j, where, "systemd",
			    "must be the "
			    "name given to LoadCredential=, without a slash");
		p->kind = CREDENTIAL_SYSTEMD;
		p->value = strdup(unit);
	} else {
		p->kind = CREDENTIAL_COMMAND;
		if (p->command.argv[0] == NULL || p->command.argv[0][0] == '\0')
			return jsonfile_bad(j, where, "command",
			    "must name a "
			    "program: [\"pass\", \"show\", \"anthropic\"]");
		return 0;
	}
	return p->value != NULL ? 0 : fault_errno(j->fault, "%s", j->file);
}

int
config_credential_of(struct config_provider *p, const struct jsonfile *j,
    struct json_object *val, const char *where, const char *user_home,
    bool login)
{
	static const char *const keys[] = {"env", "file", "command", "systemd",
	    "secret-service", "login", "capture", "variables", "shell", NULL};
	const char *more = login ? ", {\"login\":\"claude-code\"} or "
				   "{\"capture\":\"claude-code\"}"
				 : "";
	int want = 1, n;

	/* A bare string here is most likely the key itself: do not show it. */
	if (!json_object_is_type(val, json_type_object))
		return jsonfile_bad(j, where, NULL,
		    "must be an object that says where the key is, is %s. "
		    "Write {\"env\":\"NAME\"}, {\"file\":\"PATH\"}, "
		    "{\"command\":[...]}, {\"systemd\":\"NAME\"}, "
		    "{\"secret-service\":{...}}%s",
		    jsonfile_kind(val), more);
	if (jsonfile_known(j, val, where, keys) == -1)
		return -1;
	if (!login && json_object_object_get_ex(val, "capture", NULL))
		return jsonfile_bad(
		    j, where, "capture", "there is none for this");
	n = json_object_object_length(val);
	/*
	 * "login" may come with "file" if the login is not in its usual place.
	 */
	if (json_object_object_get_ex(val, "login", NULL)) {
		if (!login)
			return jsonfile_bad(
			    j, where, "login", "there is none for this");
		want += json_object_object_get_ex(val, "file", NULL);
	}
	if (json_object_object_get_ex(val, "command", NULL)) {
		want += json_object_object_get_ex(val, "variables", NULL);
		want += json_object_object_get_ex(val, "shell", NULL);
	}
	if (n != want)
		return jsonfile_bad(j, where, NULL,
		    "must have exactly one of env, file, command, systemd, "
		    "secret-service%s; has %d",
		    login ? ", login, capture" : "", n);
	return config_credential_value(p, j, val, where, user_home);
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
		    -1)
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

	snprintf(at, sizeof(at), "%s.filter", where);
	if (jsonfile_known(j, filter, at, keys) == -1)
		return -1;
	json_object_object_foreach(filter, name, val)
	{
		if (jsonfile_text_of(j, val, at, name, &s) == -1)
			return -1;
		if (strcmp(name, "usage") == 0) {
			if (strcmp(s, "ask") != 0 && strcmp(s, "leave") != 0)
				return jsonfile_bad(j, at, name,
				    "must be \"ask\" or \"leave\"");
			continue;
		}
		if (strcmp(s, "strip") != 0 && strcmp(s, "deny") != 0 &&
		    strcmp(s, "allow") != 0)
			return jsonfile_bad(j, at, name,
			    "must be \"strip\", \"deny\" or \"allow\"");
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
	    "filter", "http2", "region", "project", NULL};
	struct json_object *filter = NULL;
	const char *why = NULL, *token = NULL;

	if (jsonfile_known(j, o, where, keys) == -1 ||
	    jsonfile_str(j, o, where, "token", &token) == -1 ||
	    config_param(p, j, o, where, "region", PARAM_REGION) == -1 ||
	    config_param(p, j, o, where, "project", PARAM_PROJECT) == -1 ||
	    jsonfile_bool(j, o, where, "http2", &p->http2) == -1 ||
	    jsonfile_object(j, o, where, "filter", &filter) == -1)
		return -1;
	if (filter != NULL) {
		if (config_filter(j, filter, where) == -1)
			return -1;
		p->filter = json_object_get(filter);
	}
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
