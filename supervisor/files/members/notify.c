/* SPDX-License-Identifier: ISC */
/* Parses "notify": the command that tells a person about pending calls. */
#include "files/parse.h"

#define NOTIFY_MAX_WORDS 64U

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
	} else if (jsonfile_strings(j, root, "", "notify", NOTIFY_MAX_WORDS,
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
