/* SPDX-License-Identifier: ISC */
/*
 * Reads start.json. The names that it may contain are the START rows of
 * option_rows.h.
 */
#include "resume/start_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "base/own_file.h"
#include "resume/start_file_priv.h"

#define START_FILE_VALUE 4096U

/* clang-format off */
static const struct start_row start_rows[] = {
#define START_OPTION(name, id, value, help) {name, value},
#define START_FLAG(name, id, help) {name, NULL},
#define START_ONCE_OPTION(name, id, value, help)
#define START_ONCE_FLAG(name, id, help)
#include "files/option_rows.h"
};
/* clang-format on */

const struct start_row *
start_row_find(const char *name)
{
	for (size_t i = 0; i < nitems(start_rows); i++)
		if (strcmp(start_rows[i].name, name) == 0)
			return &start_rows[i];
	return NULL;
}

const char *
start_value_wrong(const char *s, size_t len)
{
	if (len == 0)
		return "is empty";
	if (len > START_FILE_VALUE)
		return "has more than 4096 bytes";
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
			return "contains a control character";
	return NULL;
}

/* Read one member of the list. Returns 0, or -1 with the fault set. */
static int
start_read_one(
    struct start_file *f, const struct jsonfile *j, struct json_object *pair)
{
	const struct start_row *r;
	struct json_object *v[2] = {NULL, NULL};
	const char *wrong;
	size_t n = 0;

	if (json_object_is_type(pair, json_type_array))
		n = json_object_array_length(pair);
	for (size_t i = 0; i < n && i < 2; i++)
		v[i] = json_object_array_get_idx(pair, i);
	if (n == 0 || n > 2 || !json_object_is_type(v[0], json_type_string) ||
	    (n == 2 && !json_object_is_type(v[1], json_type_string)))
		return jsonfile_bad(j, "", "options",
		    "must be arrays of one or two strings");
	r = start_row_find(json_object_get_string(v[0]));
	if (r == NULL || (r->value != NULL) != (n == 2))
		return jsonfile_bad(j, "", "options",
		    "\"%s\" is no option that is kept in this file",
		    json_object_get_string(v[0]));
	wrong = n == 1 ? NULL
		       : start_value_wrong(json_object_get_string(v[1]),
			     (size_t)json_object_get_string_len(v[1]));
	if (wrong != NULL)
		return jsonfile_bad(
		    j, "", "options", "the value of \"%s\" %s", r->name, wrong);
	f->options[f->n].name = r->name;
	f->options[f->n].value =
	    n == 1 ? NULL : strdup(json_object_get_string(v[1]));
	if (n == 2 && f->options[f->n].value == NULL)
		return fault_errno(j->fault, "%s", j->file);
	f->n++;
	return 0;
}

static int
start_read(
    struct start_file *f, const struct jsonfile *j, struct json_object *o)
{
	static const char *const keys[] = {
	    "command", "detach", "options", "version", NULL};
	struct json_object *list;
	int64_t version = 0;

	if (jsonfile_known(j, o, "", keys) == -1 ||
	    jsonfile_int(j, o, "", "version", 0, INT32_MAX, &version) == -1 ||
	    jsonfile_bool(j, o, "", "detach", &f->detach) == -1 ||
	    jsonfile_bool(j, o, "", "command", &f->command) == -1)
		return -1;
	if (version != START_FILE_VERSION)
		return jsonfile_bad(j, "", "version",
		    "must be %d: another version of IronCurtain wrote it",
		    START_FILE_VERSION);
	if (!json_object_object_get_ex(o, "options", &list) ||
	    !json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > START_FILE_OPTIONS)
		return jsonfile_bad(j, "", "options",
		    "must be an array of at most %u", START_FILE_OPTIONS);
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (start_read_one(f, j, json_object_array_get_idx(list, i)) ==
		    -1)
			return -1;
	return 0;
}

int
start_file_read(
    struct start_file *f, int dirfd, const char *dir, struct fault *fault)
{
	struct jsonfile j = {START_FILE, fault};
	struct json_object *o;
	int rv;

	memset(f, 0, sizeof(*f));
	if ((o = own_file_read(dirfd, dir, START_FILE, fault)) == NULL)
		return -1;
	rv = start_read(f, &j, o);
	json_object_put(o);
	if (rv == -1)
		start_file_free(f);
	errno = EINVAL;
	return rv;
}

void
start_file_free(struct start_file *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->options[i].value);
	memset(f, 0, sizeof(*f));
}
