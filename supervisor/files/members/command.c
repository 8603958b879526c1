/* SPDX-License-Identifier: ISC */
/*
 * Commands of the user's that run on the host, outside of every sandbox: the
 * notify command, and those that print a credential.
 */
#include "files/parse.h"

#include <string.h>

#define COMMAND_MAX_WORDS 64U
#define COMMAND_MAX_VARIABLES 64U

static bool
command_variable_ok(const char *s)
{
	return s[0] != '\0' && strlen(s) <= 256 &&
	       strchr("0123456789", s[0]) == NULL &&
	       s[strspn(s, "abcdefghijklmnopqrstuvwxyz"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

int
config_command(struct config_command *c, const struct jsonfile *j,
    struct json_object *o, const char *where)
{
	if (jsonfile_strings(
		j, o, where, "command", COMMAND_MAX_WORDS, &c->argv) == -1 ||
	    jsonfile_strings(j, o, where, "variables", COMMAND_MAX_VARIABLES,
		&c->variables) == -1 ||
	    jsonfile_bool(j, o, where, "shell", &c->shell) == -1)
		return -1;
	for (char **v = c->variables; v != NULL && *v != NULL; v++)
		if (!command_variable_ok(*v))
			return jsonfile_bad(j, where, "variables",
			    "must list names of environment variables "
			    "(letters, digits, _), without values");
	if (c->argv == NULL && (c->variables != NULL || c->shell))
		return jsonfile_bad(j, where, NULL,
		    "\"variables\" and \"shell\" belong to a \"command\"");
	return 0;
}

int
config_notify(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	static const char *const keys[] = {
	    "command", "variables", "shell", NULL};
	struct config_command *c = &cfg->notify;
	struct json_object *o;

	if (!json_object_object_get_ex(root, "notify", &o))
		return 0;
	if (json_object_is_type(o, json_type_object)) {
		if (jsonfile_known(j, o, "notify", keys) == -1 ||
		    config_command(c, j, o, "notify") == -1)
			return -1;
		if (c->argv == NULL)
			return jsonfile_bad(j, "notify", "command",
			    "missing: name a program: "
			    "[\"notify-send\", \"IronCurtain\"]");
	} else if (jsonfile_strings(j, root, "", "notify", COMMAND_MAX_WORDS,
		       &c->argv) == -1) {
		return -1;
	}
	/* An empty list is nobody. */
	if (c->argv != NULL && c->argv[0] != NULL && c->argv[0][0] == '\0')
		return jsonfile_bad(j, "", "notify",
		    "must name a command: "
		    "[\"notify-send\", \"IronCurtain\"]");
	return 0;
}
