/* SPDX-License-Identifier: ISC */
/*
 * Reading adapters and filling in what only a session knows.  Sentinel keys
 * are the only secrets here, and they are worth nothing outside the box.
 */
#include "adapter.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "jsonfile.h"
#include "session.h"

#define ADAPTER_MAX_FILE (256U << 10)

static int
adapter_read(
    struct adapter *a, const char *path, const char *name, struct fault *fault)
{
	static const char *const keys[] = {"args", "env", "home", "name",
	    "orientation", "program", "providers", "taskArgs", "title", NULL};
	const struct jsonfile j = {path, fault};
	struct json_object *o = NULL;
	const char *s = NULL;

	if (jsonfile_known(&j, a->root, "", keys) == -1 ||
	    jsonfile_str(&j, a->root, "", "name", &s) == -1 ||
	    jsonfile_strings(&j, a->root, "", "providers", PROTO_MAX_PROVIDERS,
		&a->providers) == -1 ||
	    jsonfile_strings(&j, a->root, "", "program", 16, &a->program) ==
		-1 ||
	    jsonfile_strings(&j, a->root, "", "taskArgs", ADAPTER_MAX_ARGS,
		&a->task_args) == -1 ||
	    jsonfile_strings(
		&j, a->root, "", "args", ADAPTER_MAX_ARGS, &a->args) == -1 ||
	    jsonfile_object(&j, a->root, "", "env", &o) == -1 ||
	    jsonfile_object(&j, a->root, "", "home", &o) == -1 ||
	    jsonfile_object(&j, a->root, "", "orientation", &o) == -1)
		return -1;
	if (s == NULL || strcmp(s, name) != 0)
		return jsonfile_bad(&j, "", "name",
		    "must be \"%s\", as the "
		    "file is called",
		    name);
	if ((a->name = strdup(name)) == NULL ||
	    (a->file = strdup(path)) == NULL)
		return fault_errno(fault, "%s", path);
	return 0;
}

int
adapter_load(struct adapter *a, const struct paths *p, const char *name,
    struct fault *fault)
{
	const char *dirs[] = {p->home, p->datadir};
	char path[4400], *text = NULL;
	struct stat st;
	size_t len = 0;

	memset(a, 0, sizeof(*a));
	if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789-_") != strlen(name) ||
	    name[0] == '\0' || strlen(name) > 64)
		return fault_set(fault, "--agent %s: is no agent's name", name);
	for (size_t i = 0; i < 2 && text == NULL; i++) {
		snprintf(path, sizeof(path), "%.4000s/agents/%s.json", dirs[i],
		    name);
		text = jsonfile_text(path, &len, &st, fault);
		if (text == NULL && errno != ENOENT)
			return -1;
	}
	if (text == NULL)
		return fault_set(fault,
		    "--agent %s: there is no %s. Known "
		    "are claude-code, codex, gemini-cli, opencode and command",
		    name, path);
	a->root = jsonfile_parse(path, span_of(text, len), fault);
	free(text);
	if (a->root == NULL || adapter_read(a, path, name, fault) == -1) {
		adapter_free(a);
		return -1;
	}
	return 0;
}

void
adapter_free(struct adapter *a)
{
	free(a->name);
	free(a->file);
	jsonfile_strings_free(a->providers);
	jsonfile_strings_free(a->program);
	jsonfile_strings_free(a->task_args);
	jsonfile_strings_free(a->args);
	json_object_put(a->root);
	memset(a, 0, sizeof(*a));
}

/* What "{...}" at p stands for, and its length; NULL: it is text. */
static const char *
adapter_value(
    const struct providers *ps, const char *task, const char *p, size_t *len)
{
	const char *key;
	char word[96];
	size_t n;

	if (task != NULL && strncmp(p, "{task}", 6) == 0) {
		*len = 6;
		return task;
	}
	for (unsigned i = 0; i < ps->n; i++) {
		key = ps->list[i].key;
		n = (size_t)snprintf(
		    word, sizeof(word), "{key:%s}", ps->list[i].name);
		*len = n;
		if (strncmp(p, word, n) == 0)
			return key;
		n = (size_t)snprintf(
		    word, sizeof(word), "{tail:%s}", ps->list[i].name);
		*len = n;
		if (strncmp(p, word, n) == 0)
			return strlen(key) > 20 ? key + strlen(key) - 20 : key;
	}
	return NULL;
}

char *
adapter_fill(const struct providers *ps, const char *task, const char *p)
{
	const char *value;
	struct buf b;
	char *out;
	size_t n;

	buf_init(&b, 4U << 20);
	while (*p != '\0') {
		if (*p == '{' &&
		    (value = adapter_value(ps, task, p, &n)) != NULL) {
			buf_adds(&b, value);
			p += n;
		} else {
			buf_addc(&b, (uint8_t)*p++);
		}
	}
	out = b.failed ? NULL : span_dup(buf_span(&b));
	buf_free(&b);
	return out;
}

int
adapter_env(const struct adapter *a, const struct providers *ps, char **env,
    size_t *n, size_t max, struct fault *fault)
{
	const struct jsonfile j = {a->file, fault};
	struct json_object *o;
	const char *s;
	char *value;

	if (!json_object_object_get_ex(a->root, "env", &o))
		return 0;
	json_object_object_foreach(o, name, val)
	{
		if (*n == max)
			return jsonfile_bad(&j, "", "env", "too many");
		if (jsonfile_text_of(&j, val, "env", name, &s) == -1)
			return -1;
		if (strpbrk(name, "=\n") != NULL || strchr(s, '\n') != NULL)
			return jsonfile_bad(&j, "env", name,
			    "must not hold "
			    "a newline");
		if ((value = adapter_fill(ps, NULL, s)) == NULL ||
		    asprintf(&env[*n], "%s=%s", name, value) == -1) {
			env[*n] = NULL;
			free(value);
			return fault_errno(fault, "%s", a->file);
		}
		free(value);
		(*n)++;
	}
	return 0;
}

int
adapter_files(const struct adapter *a, const struct providers *ps,
    const char *which, int dirfd, unsigned mode, struct fault *fault)
{
	struct json_object *o;
	const char *text;
	char *filled;
	int rv = 0;

	if (!json_object_object_get_ex(a->root, which, &o))
		return 0;
	json_object_object_foreach(o, path, val)
	{
		/* A string is a file's text, anything else its JSON. */
		text = json_object_is_type(val, json_type_string)
			   ? json_object_get_string(val)
			   : json_object_to_json_string_ext(
				 val, JSON_C_TO_STRING_PRETTY |
					  JSON_C_TO_STRING_NOSLASHESCAPE);
		if ((filled = adapter_fill(ps, NULL, text)) == NULL)
			return fault_errno(fault, "%s", a->file);
		rv = session_seed(dirfd, path, mode, span_str(filled));
		free(filled);
		if (rv == -1)
			return fault_errno(
			    fault, "%s: %s/%s", a->file, which, path);
	}
	return rv;
}
