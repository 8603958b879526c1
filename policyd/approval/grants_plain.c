/* SPDX-License-Identifier: ISC */
/*
 * Plain values consist of letters, digits and the punctuation of ordinary
 * sentences. This is an allow list: no separator that someone may invent, in
 * Unicode or in percent encoding, is on it.
 */
#include "approval/grants_plain.h"

#include <string.h>

#include "common/visible.h"

/* clang-format off */
/* Words in a name that suggest that even a plain value has an effect. */
static const char *const acting[] = {
	"path", "paths", "file", "files", "filename", "filepath", "dir", "dirs",
	"directory", "folder", "url", "urls", "uri", "uris", "link", "href",
	"host", "hosts", "hostname", "domain", "server", "endpoint", "address",
	"to", "cc", "bcc", "from", "recipient", "recipients", "email", "mail",
	"channel", "command", "commands", "cmd", "exec", "shell", "script",
	"program", "args", "argv", "query", "sql", "code", "expression",
	"eval", "template", "env", "environment", "token", "key", "password",
};
/* clang-format on */

#define NACTING nitems(acting)
#define WORD_MAX 64U

static bool
is_acting(const char *word)
{
	for (size_t i = 0; i < NACTING; i++) {
		if (strcmp(word, acting[i]) == 0)
			return true;
	}
	return false;
}

static bool
is_upper(uint8_t c)
{
	return c >= 'A' && c <= 'Z';
}

static bool
is_lower(uint8_t c)
{
	return c >= 'a' && c <= 'z';
}

/*
 * Returns false if a word of the name is listed above. "filePath", "FILE_PATH"
 * and "file-path" all have the words file and path.
 */
static bool
name_plain(struct span name)
{
	char word[WORD_MAX + 1], whole[WORD_MAX + 1];
	size_t n = 0, all = 0;
	uint8_t c;

	if (name.len == 0 || name.len > WORD_MAX)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		c = name.p[i];
		if (n != 0 && ((is_upper(c) && is_lower(name.p[i - 1])) ||
				  !(is_upper(c) || is_lower(c)))) {
			word[n] = '\0';
			if (is_acting(word))
				return false;
			n = 0;
		}
		if (c >= 0x80)
			return false;
		if (!is_upper(c) && !is_lower(c))
			continue;
		word[n++] = whole[all++] =
		    (char)(is_upper(c) ? c - 'A' + 'a' : c);
	}
	word[n] = whole[all] = '\0';
	return !is_acting(word) && !is_acting(whole);
}

/* Returns true if the period or colon ends a sentence or clause. */
static bool
stop_plain(struct span s, size_t i)
{
	return i != 0 && s.p[i - 1] != '.' &&
	       (i + 1 == s.len || s.p[i + 1] == ' ');
}

static bool
text_plain(struct span s)
{
	bool good = s.len <= PLAIN_TEXT, same;
	struct buf b;

	for (size_t i = 0; i < s.len && good; i++) {
		uint8_t c = s.p[i];

		if (c == '.' || c == ':')
			good = stop_plain(s, i);
		else
			good = c >= 0x80 || is_upper(c) || is_lower(c) ||
			       (c >= '0' && c <= '9') ||
			       (c != '\0' && strchr(" ,;!?'()_-", c) != NULL);
	}
	/* "-x" and "--x" are command line options. */
	if (!good || (s.len != 0 && s.p[0] == '-'))
		return false;
	/*
	 * Accept letters of any language, but nothing that must be escaped for
	 * display.
	 */
	buf_init(&b, 8U * PLAIN_TEXT + 64);
	same = visible_add(&b, s, 0) == 0 && span_eq(buf_span(&b), s);
	buf_free(&b);
	return same;
}

static bool
scalar_schema(const struct value *v)
{
	static const char *const types[] = {
	    "string", "number", "integer", "boolean"};
	struct span type = value_str(v, "type");

	for (size_t i = 0; i < nitems(types); i++) {
		if (type.p != NULL && span_is(type, types[i]))
			return true;
	}
	return false;
}

bool
plain_schema(const struct value *schema)
{
	static const char *const known[] = {"$schema", "additionalProperties",
	    "description", "properties", "required", "title", "type"};
	const struct value *v, *more;
	bool found;

	if (schema == NULL || schema->type != VALUE_OBJECT ||
	    !span_is(value_str(schema, "type"), "object") ||
	    (more = value_get(schema, "additionalProperties")) == NULL ||
	    more->type != VALUE_FALSE)
		return false;
	for (v = schema->child; v != NULL; v = v->next) {
		found = false;
		for (size_t i = 0; i < nitems(known); i++)
			found = found || span_is(v->key, known[i]);
		if (!found)
			return false;
	}
	if ((v = value_get(schema, "properties")) == NULL)
		return true;
	if (v->type != VALUE_OBJECT)
		return false;
	for (v = v->child; v != NULL; v = v->next) {
		if (v->type != VALUE_OBJECT || !scalar_schema(v))
			return false;
	}
	return true;
}

bool
plain_arguments(const struct value *args)
{
	const struct value *v;

	if (args == NULL || args->type != VALUE_OBJECT)
		return false;
	for (v = args->child; v != NULL; v = v->next) {
		switch (v->type) {
		case VALUE_NUMBER:
		case VALUE_TRUE:
		case VALUE_FALSE:
			break;
		case VALUE_STRING:
			if (!name_plain(v->key) || !text_plain(v->text))
				return false;
			break;
		case VALUE_NULL:
		case VALUE_ARRAY:
		case VALUE_OBJECT:
			return false;
		}
	}
	return true;
}
