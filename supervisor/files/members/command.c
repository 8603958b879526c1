/* SPDX-License-Identifier: ISC */
/*
 * Commands of the user's that run on the host, outside of every sandbox, such as
 * those that print a credential.
 */
#include "files/parse.h"

#include <stdlib.h>
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

char **
config_command_words(char *const *argv, const char *session)
{
	size_t n = 0;
	char **out;

	while (argv[n] != NULL)
		n++;
	if ((out = calloc(n + 1, sizeof(*out))) == NULL)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const char *word =
		    strcmp(argv[i], "{session}") == 0 ? session : argv[i];

		if ((out[i] = strdup(word)) == NULL) {
			jsonfile_strings_free(out);
			return NULL;
		}
	}
	return out;
}
