/* SPDX-License-Identifier: ISC */
/* Reads the rules for an agent's error messages, in ic-reader. */
#include "files/adapter/errors.h"

#include <stdio.h>
#include <string.h>

#define ERRORS_MAX_TEXTS 16U
#define ERRORS_MAX_TEXT 128U

/* Check texts to look for: an empty one would be found everywhere. */
static int
errors_texts(
    const struct jsonfile *j, const char *where, const char *name, char **list)
{
	for (char **p = list; p != NULL && *p != NULL; p++)
		if (**p == '\0' || strlen(*p) > ERRORS_MAX_TEXT)
			return jsonfile_bad(j, where, name,
			    "must be texts of 1 to %u bytes", ERRORS_MAX_TEXT);
	return 0;
}

static int
errors_rule(struct adapter_error *e, const struct jsonfile *j,
    const char *where, struct json_object *o)
{
	static const char *const keys[] = {"contains", "kind", "reset", NULL};
	const char *kind = NULL;

	if (!json_object_is_type(o, json_type_object))
		return jsonfile_bad(j, where, NULL, "must be an object");
	if (jsonfile_known(j, o, where, keys) == -1 ||
	    jsonfile_str(j, o, where, "kind", &kind) == -1 ||
	    jsonfile_strings(j, o, where, "contains", ERRORS_MAX_TEXTS,
		&e->contains) == -1 ||
	    jsonfile_strings(
		j, o, where, "reset", ERRORS_MAX_TEXTS, &e->reset) == -1 ||
	    errors_texts(j, where, "contains", e->contains) == -1 ||
	    errors_texts(j, where, "reset", e->reset) == -1)
		return -1;
	if (e->contains == NULL || e->contains[0] == NULL)
		return jsonfile_bad(
		    j, where, "contains", "must be a list of texts");
	for (unsigned k = TROUBLE_NONE + 1; k <= TROUBLE_HARD; k++)
		if (kind != NULL && strcmp(kind, adapter_trouble_name(k)) == 0)
			e->kind = k;
	if (e->kind == TROUBLE_NONE)
		return jsonfile_bad(j, where, "kind",
		    "must be quota, transient, authentication or hard");
	if (e->reset != NULL && e->kind != TROUBLE_QUOTA)
		return jsonfile_bad(
		    j, where, "reset", "is for \"kind\": \"quota\" only");
	return 0;
}

int
adapter_errors_read(struct adapter_errors *es, const struct jsonfile *j,
    struct json_object *root)
{
	struct json_object *list;
	char where[48];

	if (!json_object_object_get_ex(root, "errors", &list))
		return 0;
	if (!json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > ADAPTER_MAX_ERRORS)
		return jsonfile_bad(j, "", "errors",
		    "must be an array of at most %u", ADAPTER_MAX_ERRORS);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		snprintf(where, sizeof(where), "errors[%zu]", i);
		if (errors_rule(&es->list[es->n++], j, where,
			json_object_array_get_idx(list, i)) == -1)
			return -1;
	}
	return 0;
}
