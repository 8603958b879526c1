/* SPDX-License-Identifier: ISC */
/* Reads an agent's file in ic-reader. */
#include "files/adapter/adapter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "files/adapter/adapter_put.h"
#include "files/image.h"

/* Take a copy of a text. Returns 0, or -1 with the fault set. */
static int
read_copy(const struct jsonfile *j, const char *text, char **to)
{
	*to = strdup(text);
	return *to == NULL ? fault_errno(j->fault, "%s", j->file) : 0;
}

static int
read_env(const struct jsonfile *j, struct json_object *o, const char *where,
    char ***env)
{
	struct json_object *of = NULL;
	const char *s;
	size_t n = 0;

	if (jsonfile_object(j, o, "", "env", &of) == -1)
		return -1;
	if (of == NULL)
		return 0;
	if (json_object_object_length(of) > (int)PACK_MAX_STRINGS)
		return jsonfile_bad(j, where, NULL, "has too many members");
	*env = calloc((size_t)json_object_object_length(of) + 1, sizeof(**env));
	if (*env == NULL)
		return fault_errno(j->fault, "%s", j->file);
	json_object_object_foreach(of, name, val)
	{
		if (jsonfile_text_of(j, val, where, name, &s) == -1)
			return -1;
		if (strpbrk(name, "=\n") != NULL || strchr(s, '\n') != NULL)
			return jsonfile_bad(
			    j, where, name, "must not hold a newline");
		if (asprintf(&(*env)[n], "%s=%s", name, s) == -1) {
			(*env)[n] = NULL;
			return fault_errno(j->fault, "%s", j->file);
		}
		n++;
	}
	return 0;
}

/* Read files: a string is the text of one, any other value is its JSON. */
static int
read_files(const struct jsonfile *j, struct json_object *o, const char *where,
    const char *key, struct adapter_files *files)
{
	struct json_object *of = NULL;
	struct adapter_file *f;
	const char *text;

	if (jsonfile_object(j, o, where, key, &of) == -1)
		return -1;
	if (of == NULL)
		return 0;
	json_object_object_foreach(of, path, val)
	{
		if (files->n == ADAPTER_MAX_FILES)
			return jsonfile_bad(j, where, key,
			    "has more than %u files", ADAPTER_MAX_FILES);
		f = &files->list[files->n++];
		f->json = !json_object_is_type(val, json_type_string);
		text = f->json ? json_object_to_json_string_ext(
				     val, JSON_C_TO_STRING_PRETTY |
					      JSON_C_TO_STRING_NOSLASHESCAPE)
			       : json_object_get_string(val);
		if (read_copy(j, path, &f->path) == -1 ||
		    read_copy(j, text, &f->text) == -1)
			return -1;
	}
	return 0;
}

/* Only alternatives have variables, and they name what they replace. */
static int
read_use(const struct jsonfile *j, struct json_object *o, const char *where,
    bool other, struct adapter_use *u)
{
	static const char *const keys[] = {
	    "home", "instead", "provider", "env", NULL};
	static const char *const no_env[] = {
	    "home", "instead", "provider", NULL};
	const char *provider = NULL, *instead = NULL;
	char place[64];

	if (!json_object_is_type(o, json_type_object))
		return jsonfile_bad(j, where, NULL, "must be an object");
	snprintf(place, sizeof(place), "%s.env", where);
	if (jsonfile_known(j, o, where, other ? keys : no_env) == -1 ||
	    jsonfile_str(j, o, where, "provider", &provider) == -1 ||
	    jsonfile_str(j, o, where, "instead", &instead) == -1 ||
	    read_env(j, o, place, &u->env) == -1 ||
	    read_files(j, o, where, "home", &u->home) == -1)
		return -1;
	if (provider == NULL || (other && instead == NULL))
		return jsonfile_bad(j, where, NULL,
		    other ? "needs provider and instead" : "needs provider");
	if (instead != NULL && read_copy(j, instead, &u->instead) == -1)
		return -1;
	return read_copy(j, provider, &u->provider);
}

static int
read_uses(const struct jsonfile *j, struct json_object *root, const char *name,
    bool other, struct adapter_uses *uses)
{
	struct json_object *list;
	char where[48];

	if (!json_object_object_get_ex(root, name, &list))
		return 0;
	if (!json_object_is_type(list, json_type_array))
		return jsonfile_bad(j, "", name, "must be an array");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		if (uses->n == ADAPTER_MAX_USES)
			return jsonfile_bad(j, "", name,
			    "has more than %u entries", ADAPTER_MAX_USES);
		snprintf(where, sizeof(where), "%s[%zu]", name, i);
		if (read_use(j, json_object_array_get_idx(list, i), where,
			other, &uses->list[uses->n++]) == -1)
			return -1;
	}
	return 0;
}

/* Note which {words} the file has. */
static void
read_words(struct adapter *a, struct json_object *root)
{
	const char *text;

	json_object_object_foreach(root, key, val)
	{
		text = json_object_to_json_string(val);
		if (strcmp(key, "model") != 0 && strcmp(key, "acp") != 0 &&
		    strstr(text, "{model}") != NULL)
			a->needs_model = true;
		if (strstr(text, "{orientation}") != NULL)
			a->tells_orientation = true;
		if (strstr(text, "{tools}") != NULL)
			a->tells_tools = true;
	}
}

static int
adapter_read(struct adapter *a, const struct jsonfile *j,
    struct json_object *root, const char *name)
{
	static const char *const keys[] = {"acp", "alternatives", "anyOf",
	    "args", "background", "caches", "continue", "env", "errors", "home",
	    "homeFiles", "image", "interactive", "internal", "leftOut",
	    "logins", "message", "model", "name", "orientation", "output",
	    "program", "prompt", "providers", "resume", "state", "taskArgs",
	    "title", "turn", "unasked", NULL};
	const char *s = NULL;
	char **twice = NULL;

	if (jsonfile_known(j, root, "", keys) == -1 ||
	    jsonfile_str(j, root, "", "name", &s) == -1 ||
	    jsonfile_strings(j, root, "", "providers", PROTO_MAX_PROVIDERS,
		&a->providers) == -1 ||
	    jsonfile_strings(j, root, "", "program", 16, &a->program) == -1 ||
	    jsonfile_strings(j, root, "", "taskArgs", ADAPTER_MAX_ARGS,
		&a->task_args) == -1 ||
	    jsonfile_strings(j, root, "", "args", ADAPTER_MAX_ARGS, &a->args) ==
		-1 ||
	    jsonfile_strings(j, root, "", "acp", ADAPTER_MAX_ARGS, &a->acp) ==
		-1 ||
	    jsonfile_strings(j, root, "", "interactive", ADAPTER_MAX_ARGS,
		a->args == NULL ? &a->args : &twice) == -1 ||
	    jsonfile_strings(
		j, root, "", "model", ADAPTER_MAX_ARGS, &a->model) == -1 ||
	    jsonfile_strings(
		j, root, "", "prompt", ADAPTER_MAX_ARGS, &a->prompt) == -1 ||
	    jsonfile_strings(
		j, root, "", "leftOut", ADAPTER_MAX_ARGS, &a->left_out) == -1 ||
	    adapter_home_read(a, j, root) == -1 ||
	    adapter_unasked_read(a, j, root) == -1 ||
	    config_built(j, root, "", &a->image) == -1 ||
	    jsonfile_strings(
		j, root, "", "anyOf", PROTO_MAX_PROVIDERS, &a->any) == -1 ||
	    adapter_talk_read(&a->talk, j, root) == -1 ||
	    adapter_errors_read(&a->errors, j, root) == -1 ||
	    jsonfile_bool(j, root, "", "internal", &a->internal) == -1 ||
	    read_env(j, root, "env", &a->env) == -1 ||
	    read_files(j, root, "", "home", &a->home) == -1 ||
	    read_files(j, root, "", "orientation", &a->orientation) == -1)
		return -1;
	if (twice != NULL) {
		jsonfile_strings_free(twice);
		return jsonfile_bad(j, "", "interactive",
		    "is another name of \"args\": write one of them");
	}
	if (s == NULL || strcmp(s, name) != 0)
		return jsonfile_bad(j, "", "name",
		    "must be \"%s\", like the file's name", name);
	return read_uses(j, root, "logins", false, &a->logins) == -1 ||
		       read_uses(j, root, "alternatives", true,
			   &a->alternatives) == -1
		   ? -1
		   : 0;
}

int
adapter_parse(struct adapter *a, const char *path, const char *name,
    struct span text, struct fault *fault)
{
	const struct jsonfile j = {path, fault};
	struct json_object *root = jsonfile_parse(path, text, fault), *title;
	const char *shown = name;
	int rv = -1;

	memset(a, 0, sizeof(*a));
	if (root == NULL)
		return -1;
	if (json_object_object_get_ex(root, "title", &title) &&
	    json_object_is_type(title, json_type_string))
		shown = json_object_get_string(title);
	if (adapter_read(a, &j, root, name) == 0 &&
	    read_copy(&j, name, &a->name) == 0 &&
	    read_copy(&j, shown, &a->title) == 0 &&
	    read_copy(&j, path, &a->file) == 0) {
		read_words(a, root);
		rv = 0;
	}
	json_object_put(root);
	return rv;
}

int
adapter_put(struct buf *b, const char *path, const char *name, struct span text,
    struct fault *fault)
{
	static struct adapter a;
	int rv = adapter_parse(&a, path, name, text, fault);

	if (rv == 0 && pack_put(b, adapter_rows, adapter_nrows, &a) == -1)
		rv = fault_errno(fault, "%s", path);
	adapter_free(&a);
	return rv;
}
