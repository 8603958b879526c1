/* SPDX-License-Identifier: ISC */
/* Composes start.json, for icctl. */
#include "resume/start_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/jsonfile.h"
#include "base/own_file.h"
#include "base/session.h"
#include "resume/start_file_priv.h"

/*
 * Returns true if the value of the row is a path that depends on where we are.
 */
static bool
start_is_relative(const struct start_row *r, const char *value)
{
	if (value[0] == '/')
		return false;
	if (strcmp(r->value, "DIR") == 0 || strcmp(r->value, "DIR:ro") == 0 ||
	    strcmp(r->value, "FILE") == 0)
		return true;
	/* The name of a policy has no slash. */
	return strcmp(r->value, "POLICY") == 0 && strchr(value, '/') != NULL;
}

static char *
start_whole(const struct start_row *r, const char *value)
{
	char here[PATH_MAX], *whole;

	if (!start_is_relative(r, value))
		return strdup(value);
	if (getcwd(here, sizeof(here)) == NULL ||
	    asprintf(&whole, "%s/%s", here, value) == -1)
		return NULL;
	return whole;
}

int
start_file_add(struct start_file *f, const char *option, const char *value,
    struct fault *fault)
{
	const struct start_row *r = start_row_find(option + 2);
	const char *wrong;
	char *copy = NULL;

	if (r == NULL)
		return 0;
	if (f->n == START_FILE_OPTIONS)
		return fault_set(
		    fault, "more than %u options", START_FILE_OPTIONS);
	if (value != NULL && (copy = start_whole(r, value)) == NULL)
		return fault_errno(fault, "%s %s", option, value);
	wrong = copy == NULL ? NULL : start_value_wrong(copy, strlen(copy));
	if (wrong != NULL) {
		free(copy);
		return fault_set(fault, "%s: the value %s", option, wrong);
	}
	f->options[f->n].name = r->name;
	f->options[f->n++].value = copy;
	return 0;
}

int
start_file_write(
    const struct start_file *f, int dirfd, const char *dir, struct fault *fault)
{
	struct json_object *o = json_object_new_object(), *list, *pair;
	const char *text;
	int rv = 0;

	put_int(o, "version", START_FILE_VERSION);
	put_bool(o, "detach", f->detach);
	put_bool(o, "command", f->command);
	list = json_object_new_array();
	for (size_t i = 0; i < f->n; i++) {
		pair = json_object_new_array();
		json_object_array_add(pair, json_text(f->options[i].name));
		if (f->options[i].value != NULL)
			json_object_array_add(
			    pair, json_text(f->options[i].value));
		json_object_array_add(list, pair);
	}
	json_object_object_add(o, "options", list);
	text = json_object_to_json_string_ext(
	    o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (strlen(text) > OWN_FILE_MAX)
		rv = fault_set(
		    fault, "the options of this session have more than 64 KiB");
	else if (session_write(dirfd, START_FILE, 0600, span_str(text)) == -1)
		rv = fault_errno(fault, "%s/" START_FILE, dir);
	json_object_put(o);
	return rv;
}

const char *
start_file_get(const struct start_file *f, const char *name)
{
	for (size_t i = f->n; i-- > 0;)
		if (strcmp(f->options[i].name, name) == 0)
			return f->options[i].value;
	return NULL;
}
