/* SPDX-License-Identifier: ISC */
/*
 * Parses "notify", the command that tells a person about pending calls, and
 * what else it is run for, and when not.
 */
#include "files/parse.h"

#include <stdio.h>
#include <string.h>

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

static const struct {
	const char *name;
	uint32_t bit;
} notify_words[] = {{"waiting", CONFIG_NOTIFY_WAITING},
    {"turn", CONFIG_NOTIFY_TURN}, {"limit", CONFIG_NOTIFY_LIMIT}};

static int
notify_on(struct config *cfg, const struct jsonfile *j, char *const *list)
{
	size_t k;

	cfg->notify_on = 0;
	for (; *list != NULL; list++) {
		for (k = 0; k < nitems(notify_words); k++)
			if (strcmp(*list, notify_words[k].name) == 0)
				break;
		if (k == nitems(notify_words))
			return jsonfile_bad(j, "", "notifyOn",
			    "\"%s\": known are waiting, turn and limit", *list);
		cfg->notify_on |= notify_words[k].bit;
	}
	return 0;
}

/* Read "HH:MM" as minutes. Returns false if it is none. */
static bool
notify_minutes(const char *s, uint32_t *n)
{
	static const char form[] = "09:09";

	for (size_t i = 0; i < sizeof(form) - 1; i++)
		if (form[i] == ':' ? s[i] != ':' : s[i] < '0' || s[i] > '9')
			return false;
	*n = (uint32_t)((s[0] - '0') * 10 + (s[1] - '0')) * 60 +
	     (uint32_t)((s[3] - '0') * 10 + (s[4] - '0'));
	return s[3] <= '5' && *n < 24 * 60;
}

int
config_notify_when(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	char **list = NULL;
	const char *s = NULL;
	int rv;

	if (jsonfile_strings(
		j, root, "", "notifyOn", NOTIFY_MAX_WORDS, &list) == -1)
		return -1;
	rv = list == NULL ? 0 : notify_on(cfg, j, list);
	jsonfile_strings_free(list);
	if (rv == -1 || jsonfile_str(j, root, "", "notifyQuiet", &s) == -1)
		return -1;
	if (s != NULL && (strlen(s) != strlen("22:00-07:00") || s[5] != '-' ||
			     !notify_minutes(s, &cfg->quiet_from) ||
			     !notify_minutes(s + 6, &cfg->quiet_to)))
		return jsonfile_bad(j, "", "notifyQuiet",
		    "\"%s\": must be two times of the day, such as "
		    "\"22:00-07:00\"",
		    s);
	return 0;
}
