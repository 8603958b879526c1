/* SPDX-License-Identifier: ISC */
/*
 * Reads the schema of a server's form. Everything in it is the server's: known
 * keywords of MCP's own types count, and a field whose type has no meaning here
 * refuses the form, so that a person never answers a part of a question.
 */
#include "asks/form.h"

#include <string.h>

#include "asks/form_priv.h"
#include "common/hidden.h"

/* Take a text for people, if it is there. */
static int
take_words(struct form *f, struct form_field *k, const struct value *v,
    const char *key, struct span *out)
{
	const struct value *text = value_get(v, key);

	*out = span_of(NULL, 0);
	if (text == NULL)
		return 0;
	if (text->type != VALUE_STRING || text->text.len > FORM_MAX_TEXT)
		return form_bad(f, k, "its %s is no text of at most %u bytes",
		    key, FORM_MAX_TEXT);
	if (hidden_in(text->text))
		return form_bad(
		    f, k, "its %s has characters that nobody sees", key);
	*out = text->text;
	return 0;
}

/* Take a count, if it is there. */
static int
take_count(struct form *f, struct form_field *k, const struct value *v,
    const char *key, uint64_t *out)
{
	const struct value *n = value_get(v, key);
	int64_t count;

	if (n == NULL)
		return 0;
	if (value_int(n, 0, UINT32_MAX, &count) == -1)
		return form_bad(f, k, "its %s is no count", key);
	*out = (uint64_t)count;
	return 0;
}

static int
take_number(struct form *f, struct form_field *k, const struct value *v,
    const char *key, const struct value **out)
{
	const struct value *n = value_get(v, key);

	if (n != NULL && n->type != VALUE_NUMBER)
		return form_bad(f, k, "its %s is no number", key);
	*out = n;
	return 0;
}

/* Returns true for a text that a person sees as it is sent. */
static bool
is_plain(struct span s)
{
	return s.p != NULL && s.len != 0 && s.len <= FORM_MAX_TEXT &&
	       !hidden_in(s) && memchr(s.p, '\n', s.len) == NULL &&
	       memchr(s.p, '\t', s.len) == NULL;
}

/* Take the options of a choice: `key` has strings, or objects with `const`. */
static int
take_options(struct form *f, struct form_field *k, const struct value *v,
    const char *key, bool named)
{
	const struct value *list = value_get(v, key), *o;
	struct span s;

	if (list->type != VALUE_ARRAY || list->count == 0 ||
	    list->count > FORM_MAX_OPTIONS)
		return form_bad(f, k, "its %s is no list of at most %u options",
		    key, FORM_MAX_OPTIONS);
	for (o = list->child; o != NULL; o = o->next) {
		s = named                     ? value_str(o, "const")
		    : o->type == VALUE_STRING ? o->text
					      : span_of(NULL, 0);
		if (!is_plain(s))
			return form_bad(f, k,
			    "an option of it is no text that can be shown");
		if (named && value_get(o, "title") != NULL &&
		    (value_str(o, "title").p == NULL ||
			value_str(o, "title").len > FORM_MAX_TEXT))
			return form_bad(f, k, "an option has an odd title");
	}
	k->options = list;
	return 0;
}

/* The names that servers of 2025-06-18 give to the strings of an enum. */
static int
take_labels(struct form *f, struct form_field *k, const struct value *v)
{
	const struct value *list = value_get(v, "enumNames"), *o;

	if (list == NULL)
		return 0;
	if (list->type != VALUE_ARRAY || list->count != k->options->count)
		return form_bad(f, k, "its enumNames do not fit its options");
	for (o = list->child; o != NULL; o = o->next)
		if (o->type != VALUE_STRING || o->text.len > FORM_MAX_TEXT)
			return form_bad(f, k, "a name of an option is no text");
	k->labels = list;
	return 0;
}

static int
take_text(struct form *f, struct form_field *k, const struct value *v)
{
	const struct value *format = value_get(v, "format");

	if (value_get(v, "enum") != NULL || value_get(v, "oneOf") != NULL) {
		k->type = FORM_ONE;
		if (value_get(v, "oneOf") != NULL)
			return take_options(f, k, v, "oneOf", true);
		return take_options(f, k, v, "enum", false) == -1
			   ? -1
			   : take_labels(f, k, v);
	}
	k->type = FORM_TEXT;
	if (format != NULL && format->type != VALUE_STRING)
		return form_bad(f, k, "its format is no text");
	if (format != NULL)
		k->format = format->text;
	return take_count(f, k, v, "minLength", &k->min) == -1 ||
		       take_count(f, k, v, "maxLength", &k->max) == -1
		   ? -1
		   : 0;
}

static int
take_several(struct form *f, struct form_field *k, const struct value *v)
{
	const struct value *items = value_get(v, "items");

	k->type = FORM_SEVERAL;
	if (take_count(f, k, v, "minItems", &k->min) == -1 ||
	    take_count(f, k, v, "maxItems", &k->max) == -1)
		return -1;
	if (value_get(items, "anyOf") != NULL)
		return take_options(f, k, items, "anyOf", true);
	if (value_get(items, "enum") != NULL)
		return take_options(f, k, items, "enum", false);
	return form_bad(f, k,
	    "a list is answered only if its items are one of some options");
}

static int
take_type(struct form *f, struct form_field *k, const struct value *v)
{
	struct span type = value_str(v, "type");

	if (type.p == NULL)
		return form_bad(f, k, "it has no type");
	if (span_is(type, "string"))
		return take_text(f, k, v);
	if (span_is(type, "array"))
		return take_several(f, k, v);
	if (span_is(type, "boolean")) {
		k->type = FORM_YES_NO;
		return 0;
	}
	if (!span_is(type, "number") && !span_is(type, "integer"))
		return form_bad(f, k,
		    "its type is none that a form may have: string, number, "
		    "integer, boolean, or a choice");
	k->type = span_is(type, "number") ? FORM_NUMBER : FORM_INTEGER;
	return take_number(f, k, v, "minimum", &k->least) == -1 ||
		       take_number(f, k, v, "maximum", &k->most) == -1
		   ? -1
		   : 0;
}

/* A name is typed by people, and shown in one line. */
static bool
name_good(struct span s)
{
	if (s.len == 0 || s.len > FORM_MAX_NAME || hidden_in(s))
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] < ' ' || s.p[i] == '=' || s.p[i] == 0x7f)
			return false;
	return true;
}

static int
take_field(struct form *f, const struct value *v)
{
	struct form_field *k = &f->fields[f->n];

	*k = (struct form_field){.name = v->key, .max = UINT64_MAX};
	if (!name_good(v->key))
		return form_bad(f, NULL,
		    "it has a field whose name cannot be shown in one line of "
		    "at most %u bytes",
		    FORM_MAX_NAME);
	if (v->type != VALUE_OBJECT)
		return form_bad(f, k, "it is no schema");
	if (take_words(f, k, v, "title", &k->title) == -1 ||
	    take_words(f, k, v, "description", &k->description) == -1 ||
	    take_type(f, k, v) == -1)
		return -1;
	if (k->min > k->max)
		return form_bad(f, k, "it asks for more than it takes");
	k->preset = value_get(v, "default");
	f->n++;
	/* A default that is no answer is left out: the person decides. */
	if (k->preset != NULL && form_check_field(f, k, k->preset) == -1)
		k->preset = NULL;
	return 0;
}

static int
take_required(struct form *f, const struct value *list)
{
	const struct value *v;

	if (list == NULL)
		return 0;
	if (list->type != VALUE_ARRAY)
		return form_bad(f, NULL, "its \"required\" is no list");
	for (v = list->child; v != NULL; v = v->next) {
		struct form_field *k = NULL;

		for (unsigned i = 0; v->type == VALUE_STRING && i < f->n; i++)
			if (span_eq(f->fields[i].name, v->text))
				k = &f->fields[i];
		if (k == NULL)
			return form_bad(f, NULL,
			    "it requires a field that it does not have");
		k->required = true;
	}
	return 0;
}

int
form_from_schema(struct form *f, const struct value *schema)
{
	const struct value *list = value_get(schema, "properties"), *v;

	*f = (struct form){.n = 0};
	if (schema == NULL || schema->type != VALUE_OBJECT ||
	    value_str(schema, "type").p == NULL ||
	    !span_is(value_str(schema, "type"), "object"))
		return form_bad(f, NULL, "its schema is no flat object");
	if (list == NULL || list->type != VALUE_OBJECT ||
	    list->count > FORM_MAX_FIELDS)
		return form_bad(f, NULL,
		    "it has no \"properties\", or more than %u fields",
		    FORM_MAX_FIELDS);
	for (v = list->child; v != NULL; v = v->next)
		if (take_field(f, v) == -1)
			return -1;
	f->why[0] = '\0';
	return take_required(f, value_get(schema, "required"));
}
