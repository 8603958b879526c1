/* SPDX-License-Identifier: ISC */
/*
 * Parses objects that say where a credential is kept: of model providers, of
 * destinations, and of MCP servers.
 */
#include "files/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
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
	    "secret-service", "login", "capture", "variables", "shell", "revoke",
	    NULL};
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
	n = json_object_object_length(val) -
	    json_object_object_get_ex(val, "revoke", NULL);
	if (!login && json_object_object_get_ex(val, "revoke", NULL))
		return jsonfile_bad(
		    j, where, "revoke", "there is none for this");
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
