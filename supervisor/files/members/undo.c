/* SPDX-License-Identifier: ISC */
/* Reads "undo": checkpoints of the workspace, their limits, or false. */
#include "files/parse.h"

#include <string.h>

#define UNDO_MAX_MB (16U << 20)

void
config_undo_default(struct config_undo *u)
{
	*u = (struct config_undo){.on = true,
	    .file_mb = 100,
	    .files = 300000,
	    .turn_mb = 4096,
	    .store_mb = 10240,
	    .free = 10,
	    .keep = 200,
	    .days = 30};
}

static int
undo_number(const struct jsonfile *j, struct json_object *o, const char *key,
    int64_t min, int64_t max, uint32_t *out)
{
	int64_t n = *out;

	if (jsonfile_int(j, o, "undo", key, min, max, &n) == -1)
		return -1;
	*out = (uint32_t)n;
	return 0;
}

/* Names, or paths below the workspace. */
static int
undo_names(const struct jsonfile *j, struct json_object *o, const char *key,
    char ***out)
{
	const char *s;

	if (jsonfile_strings(j, o, "undo", key, CONFIG_MAX_UNDO, out) == -1)
		return -1;
	for (size_t i = 0; *out != NULL && (*out)[i] != NULL; i++) {
		s = (*out)[i];
		if (s[0] == '\0' || s[0] == '/' || strlen(s) > 1000 ||
		    s[strlen(s) - 1] == '/' || strpbrk(s, "*?[\n") != NULL ||
		    strcmp(s, ".") == 0 || strstr(s, "..") != NULL)
			return jsonfile_bad(j, "undo", key,
			    "\"%s\": must be a name, or a path below the "
			    "workspace without a slash at its ends; patterns "
			    "are not allowed",
			    s);
	}
	return 0;
}

int
config_undo(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	static const char *const keys[] = {"leaveOut", "include", "maxFileMb",
	    "maxFiles", "maxTurnMb", "maxStoreMb", "minFreePercent",
	    "maxCheckpoints", "maxDays", NULL};
	struct config_undo *u = &cfg->undo;
	struct json_object *o;

	if (!json_object_object_get_ex(root, "undo", &o))
		return 0;
	if (json_object_is_type(o, json_type_boolean)) {
		u->on = json_object_get_boolean(o);
		return 0;
	}
	if (!json_object_is_type(o, json_type_object))
		return jsonfile_bad(j, "", "undo",
		    "must be true, false, or an object of limits");
	if (jsonfile_known(j, o, "undo", keys) == -1 ||
	    undo_names(j, o, "leaveOut", &u->leave) == -1 ||
	    undo_names(j, o, "include", &u->include) == -1 ||
	    undo_number(j, o, "maxFileMb", 1, UNDO_MAX_MB, &u->file_mb) == -1 ||
	    undo_number(j, o, "maxFiles", 1, 2000000, &u->files) == -1 ||
	    undo_number(j, o, "maxTurnMb", 1, UNDO_MAX_MB, &u->turn_mb) == -1 ||
	    undo_number(j, o, "maxStoreMb", 1, UNDO_MAX_MB, &u->store_mb) ==
		-1 ||
	    undo_number(j, o, "minFreePercent", 0, 99, &u->free) == -1 ||
	    undo_number(j, o, "maxCheckpoints", 4, 5000, &u->keep) == -1 ||
	    undo_number(j, o, "maxDays", 1, 3650, &u->days) == -1)
		return -1;
	return 0;
}
