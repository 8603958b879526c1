/* SPDX-License-Identifier: ISC */
/*
 * Reads JSON that people wrote: configuration, MCP servers, adapters, provider
 * files. Does not trust the syntax; the values are the user's own.
 */
#include "base/jsonfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "common/json/json.h"
#include "common/near.h"

static int
jsonfile_check(const char *path, const struct stat *st, struct fault *fault)
{
	if (!S_ISREG(st->st_mode))
		return fault_set(fault, "%s: not a plain file", path);
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return fault_set(fault,
		    "%s: belongs to another user (uid %u). Make it yours: "
		    "chown %u %s",
		    path, (unsigned)st->st_uid, (unsigned)geteuid(), path);
	if ((st->st_mode & 022) != 0)
		return fault_set(fault,
		    "%s: other users can write to it (mode %04o). Run: chmod "
		    "go-w %s",
		    path, (unsigned)st->st_mode & 07777, path);
	if (st->st_size > (off_t)JSONFILE_MAX)
		return fault_set(
		    fault, "%s: too large (over %u bytes)", path, JSONFILE_MAX);
	return 0;
}

static char *
jsonfile_slurp(int fd, size_t size, size_t *len)
{
	char *text;
	ssize_t n;

	if ((text = malloc(size + 1)) == NULL)
		return NULL;
	*len = 0;
	while (*len < size) {
		n = read(fd, text + *len, size - *len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			free(text);
			return NULL;
		}
		if (n == 0)
			break;
		*len += (size_t)n;
	}
	text[*len] = '\0';
	return text;
}

char *
jsonfile_text(
    const char *path, size_t *len, struct stat *st, struct fault *fault)
{
	char *text = NULL;
	int fd, save;

	/* Non-blocking: a FIFO in the file's place must not block us. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd == -1) {
		save = errno;
		fault_errno(fault, "%s", path);
		errno = save;
		return NULL;
	}
	save = EINVAL;
	if (fstat(fd, st) == -1) {
		fault_errno(fault, "%s", path);
		goto out;
	}
	if (jsonfile_check(path, st, fault) == -1)
		goto out;
	if ((text = jsonfile_slurp(fd, (size_t)st->st_size, len)) == NULL)
		fault_errno(fault, "%s", path);
out:
	close(fd);
	errno = save;
	return text;
}

static const char *
jsonfile_hint(struct span text, const struct json_fail *f)
{
	if (f->error == JSON_SYNTAX)
		return " (strings in double quotes, no comments, no comma "
		       "before ] or })";
	if (f->error == JSON_UTF8 && f->at == 0 &&
	    span_starts(text, SPAN("\xef\xbb\xbf")))
		return " (a byte order mark: save the file as UTF-8 without "
		       "one)";
	if (f->error != JSON_TRUNCATED)
		return "";
	for (size_t i = 0; i < text.len; i++)
		if (strchr(" \t\r\n", text.p[i]) == NULL)
			return " (a bracket or quote is not closed)";
	return " (it is empty: write {} at least)";
}

/* Set "FILE:LINE:COLUMN: reason", with bytes counted from 1. */
static void
jsonfile_locate(const char *path, struct span text, const struct json_fail *f,
    struct fault *fault)
{
	size_t at = f->at < text.len ? f->at : text.len, line = 1, column = 1;

	for (size_t i = 0; i < at; i++) {
		column++;
		if (text.p[i] == '\n') {
			line++;
			column = 1;
		}
	}
	fault_set(fault, "%s:%zu:%zu: %s%s", path, line, column,
	    json_strerror(f->error), jsonfile_hint(text, f));
}

/* Returns true if a name has a NUL: json-c would take what precedes it. */
static bool
jsonfile_hides(const struct value *v)
{
	for (v = v->child; v != NULL; v = v->next)
		if ((v->key.len != 0 &&
			memchr(v->key.p, '\0', v->key.len) != NULL) ||
		    jsonfile_hides(v))
			return true;
	return false;
}

struct json_object *
jsonfile_parse(const char *path, struct span text, struct fault *fault)
{
	struct json_tokener *tok = NULL;
	struct json_object *root = NULL;
	struct value_pool *pool;
	const struct value *v;
	struct json_fail fail;

	if ((pool = value_pool_new(64U << 20)) == NULL) {
		fault_errno(fault, "%s", path);
		return NULL;
	}
	if ((v = json_read(pool, text, &fail)) == NULL) {
		jsonfile_locate(path, text, &fail, fault);
		goto out;
	}
	if (v->type != VALUE_OBJECT) {
		fault_set(fault, "%s:1:1: must be an object: {...}", path);
		goto out;
	}
	if (jsonfile_hides(v)) {
		fault_set(fault,
		    "%s: the name of a member has \\u0000: write it without",
		    path);
		goto out;
	}
	if ((tok = json_tokener_new_ex(VALUE_MAX_DEPTH + 2)) == NULL) {
		fault_set(fault, "%s: out of memory", path);
		goto out;
	}
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	root = json_tokener_parse_ex(tok, (const char *)text.p, (int)text.len);
	if (root == NULL || !json_object_is_type(root, json_type_object)) {
		fault_set(fault, "%s: %s", path,
		    json_tokener_error_desc(json_tokener_get_error(tok)));
		json_object_put(root);
		root = NULL;
	}
out:
	if (tok != NULL)
		json_tokener_free(tok);
	value_pool_free(pool);
	return root;
}

int
jsonfile_bad(const struct jsonfile *j, const char *where, const char *key,
    const char *fmt, ...)
{
	char what[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (key == NULL)
		return fault_set(j->fault, "%s: %s: %s", j->file, where, what);
	return fault_set(j->fault, "%s: %s%s%s: %s", j->file, where,
	    where[0] != '\0' ? "." : "", key, what);
}

const char *
jsonfile_kind(struct json_object *o)
{
	static const char *const kinds[] = {
	    [json_type_null] = "null",
	    [json_type_boolean] = "a boolean",
	    [json_type_double] = "a number",
	    [json_type_int] = "a number",
	    [json_type_object] = "an object",
	    [json_type_array] = "an array",
	    [json_type_string] = "a string",
	};

	return kinds[json_object_get_type(o)];
}

int
jsonfile_known(const struct jsonfile *j, struct json_object *o,
    const char *where, const char *const *known)
{
	char list[768] = "", hint[NEAR_HINT];
	size_t i;

	json_object_object_foreach(o, key, val)
	{
		(void)val;
		for (i = 0; known[i] != NULL; i++)
			if (strcmp(key, known[i]) == 0)
				break;
		if (known[i] != NULL)
			continue;
		for (i = 0; known[i] != NULL; i++)
			snprintf(list + strlen(list),
			    sizeof(list) - strlen(list), "%s%s",
			    i != 0 ? ", " : "", known[i]);
		jsonfile_bad(j, where, key, "unknown key%s. Known here: %s",
		    near_hint(key, known, hint), list);
		j->fault->kind = FAULT_KEY;
		return -1;
	}
	return 0;
}

int
jsonfile_text_of(const struct jsonfile *j, struct json_object *v,
    const char *where, const char *key, const char **out)
{
	const char *s;

	if (!json_object_is_type(v, json_type_string))
		return jsonfile_bad(
		    j, where, key, "must be a string, is %s", jsonfile_kind(v));
	s = json_object_get_string(v);
	if (strlen(s) != (size_t)json_object_get_string_len(v))
		return jsonfile_bad(j, where, key, "must not hold a NUL");
	*out = s;
	return 0;
}

int
jsonfile_str(const struct jsonfile *j, struct json_object *o, const char *where,
    const char *key, const char **out)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v))
		return 0;
	if (jsonfile_text_of(j, v, where, key, out) == -1)
		return -1;
	if ((*out)[0] == '\0')
		return jsonfile_bad(j, where, key, "must not be empty");
	return 1;
}

int
jsonfile_copy(const struct jsonfile *j, struct json_object *o,
    const char *where, const char *key, bool (*ok)(const char *),
    const char *rule, char **out)
{
	const char *s = NULL;

	if (jsonfile_str(j, o, where, key, &s) == -1)
		return -1;
	if (s == NULL)
		return 0;
	if (!ok(s))
		return jsonfile_bad(j, where, key, "%s", rule);
	*out = strdup(s);
	return *out == NULL ? fault_errno(j->fault, "%s", j->file) : 0;
}

int
jsonfile_bool(const struct jsonfile *j, struct json_object *o,
    const char *where, const char *key, bool *out)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v))
		return 0;
	if (!json_object_is_type(v, json_type_boolean))
		return jsonfile_bad(j, where, key,
		    "must be true or false, is %s", jsonfile_kind(v));
	*out = json_object_get_boolean(v) != 0;
	return 1;
}

int
jsonfile_int(const struct jsonfile *j, struct json_object *o, const char *where,
    const char *key, int64_t min, int64_t max, int64_t *out)
{
	struct json_object *v;
	int64_t n;

	if (!json_object_object_get_ex(o, key, &v))
		return 0;
	if (!json_object_is_type(v, json_type_int))
		return jsonfile_bad(j, where, key,
		    "must be a whole number from %lld to %lld, is %s",
		    (long long)min, (long long)max,
		    json_object_is_type(v, json_type_double)
			? "a fraction"
			: jsonfile_kind(v));
	/*
	 * json-c saturates: a number that it cannot hold is beyond `max`
	 * anyway.
	 */
	n = json_object_get_int64(v);
	if (n < min || n > max)
		return jsonfile_bad(j, where, key,
		    "must be from %lld to %lld, is %s", (long long)min,
		    (long long)max,
		    n == INT64_MAX || n == INT64_MIN
			? "far beyond"
			: json_object_get_string(v));
	*out = n;
	return 1;
}

int
jsonfile_object(const struct jsonfile *j, struct json_object *o,
    const char *where, const char *key, struct json_object **out)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v))
		return 0;
	if (!json_object_is_type(v, json_type_object))
		return jsonfile_bad(j, where, key, "must be an object, is %s",
		    jsonfile_kind(v));
	*out = v;
	return 1;
}

int
jsonfile_strings(const struct jsonfile *j, struct json_object *o,
    const char *where, const char *key, size_t max, char ***out)
{
	struct json_object *v;
	const char *s;
	char item[64], **list;
	size_t n;

	if (!json_object_object_get_ex(o, key, &v))
		return 0;
	if (!json_object_is_type(v, json_type_array))
		return jsonfile_bad(j, where, key,
		    "must be an array of strings, is %s", jsonfile_kind(v));
	if ((n = json_object_array_length(v)) > max)
		return jsonfile_bad(j, where, key,
		    "has %zu entries, at most %zu are taken", n, max);
	if ((list = calloc(n + 1, sizeof(*list))) == NULL)
		return fault_errno(j->fault, "%s", j->file);
	for (size_t i = 0; i < n; i++) {
		snprintf(item, sizeof(item), "%s[%zu]", key, i);
		if (jsonfile_text_of(j, json_object_array_get_idx(v, i), where,
			item, &s) == -1)
			goto bad;
		if ((list[i] = strdup(s)) == NULL) {
			fault_errno(j->fault, "%s", j->file);
			goto bad;
		}
	}
	*out = list;
	return 1;
bad:
	jsonfile_strings_free(list);
	return -1;
}

void
jsonfile_strings_free(char **list)
{
	if (list == NULL)
		return;
	for (size_t i = 0; list[i] != NULL; i++)
		freezero(list[i], strlen(list[i]));
	free(list);
}

struct json_object *
jsonfile_load(const char *path, struct fault *fault)
{
	struct json_object *o;
	struct stat st;
	size_t len = 0;
	char *text;

	if ((text = jsonfile_text(path, &len, &st, fault)) == NULL)
		return NULL;
	o = jsonfile_parse(path, span_of(text, len), fault);
	freezero(text, len);
	errno = EBADMSG;
	return o;
}

void
jsonfile_peek(const char *path, const char *key, char *dst, size_t cap)
{
	struct fault ignored;
	struct json_object *root = jsonfile_load(path, &ignored);

	(void)strlcpy(dst, get_str(root, key, ""), cap);
	json_object_put(root);
}
