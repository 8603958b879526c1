/* SPDX-License-Identifier: ISC */
/*
 * The members of a tool's definition, by MCP's own type (schema.ts of revision
 * 2025-11-25).  Members that are not listed here reach nobody.
 */
#include "define/define.h"

#include "common/json/json.h"
#include "define/fit.h"

_Static_assert(FIT_WHY == DEFINE_WHY, "reasons have one length");

const char *
define_name(const struct value *name)
{
	struct span s;

	if (name == NULL)
		return "it has no name";
	if (name->type != VALUE_STRING)
		return "its name is no string";
	s = name->text;
	if (s.len == 0 || s.len > DEFINE_NAME_MAX)
		return "a name has 1 to 128 characters";
	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') && c != '_' && c != '-' && c != '.')
			return "a name has letters, digits, _, - and . only";
	}
	return NULL;
}

/* Take a text that is for people, if it is one. */
static struct span
take_text(struct fit *f, const struct value *def, const char *name)
{
	const struct value *v = value_get(def, name);
	struct span text = {0};

	if (v == NULL)
		return text;
	fit_enter(f, span_str(name));
	if (v->type != VALUE_STRING)
		(void)fit_mend(f, "left out: is %s", value_type_name(v->type));
	else
		text = fit_text(f, v->text);
	fit_leave(f);
	return text;
}

/* Returns true if a member of `annotations` has the type that MCP gives it. */
static bool
is_annotation(const struct value *v)
{
	static const char *const hints[] = {"destructiveHint", "idempotentHint",
	    "openWorldHint", "readOnlyHint"};

	if (span_is(v->key, "title"))
		return v->type == VALUE_STRING;
	for (size_t i = 0; i < nitems(hints); i++)
		if (span_is(v->key, hints[i]))
			return v->type == VALUE_TRUE || v->type == VALUE_FALSE;
	return true;
}

static const struct value *
take_annotations(struct fit *f, const struct value *def)
{
	const struct value *v = value_get(def, "annotations");
	struct value *out = NULL, *one;

	if (v == NULL)
		return NULL;
	fit_enter(f, v->key);
	if (v->type != VALUE_OBJECT)
		(void)fit_mend(f, "left out: is %s", value_type_name(v->type));
	else
		out = value_new(f->pool, VALUE_OBJECT);
	for (v = v->child; out != NULL && v != NULL; v = v->next) {
		fit_enter(f, v->key);
		if (!is_annotation(v))
			(void)fit_mend(
			    f, "left out: is %s", value_type_name(v->type));
		else if (fit_plain(f, v->key) == 0 &&
			 (one = fit_words(f, v)) != NULL)
			(void)fit_put(f, out, v->key, one);
		fit_leave(f);
	}
	fit_leave(f);
	return out;
}

static const struct value *
take_input(struct fit *f, const struct value *def)
{
	const struct value *in = value_get(def, "inputSchema"), *root;
	struct value *out = NULL;

	if (in == NULL) {
		/* MCP requires it, and nobody misses it. */
		out = value_new(f->pool, VALUE_OBJECT);
		(void)fit_put(f, out, SPAN("type"), fit_string(f, "object"));
		return out;
	}
	fit_enter(f, in->key);
	f->root = in;
	if ((root = root_input(f, in)) != NULL)
		out = fit_schema(f, root);
	fit_leave(f);
	return out;
}

/* An outputSchema is of use only as a whole: left out if it does not fit. */
static const struct value *
take_output(struct fit *f, const struct value *def)
{
	const struct value *in = value_get(def, "outputSchema");
	struct fit one = {.pool = f->pool, .root = in, .output = true};
	struct value *out = NULL;

	if (in == NULL)
		return NULL;
	if (in->type != VALUE_OBJECT)
		(void)fit_bad(&one, "it is %s", value_type_name(in->type));
	else if (!span_is(value_str(in, "type"), "object"))
		(void)fit_bad(&one, "its type is not \"object\"");
	else
		out = fit_schema(&one, in);
	if (out == NULL)
		(void)fit_mend(f, "outputSchema left out: %s",
		    one.why[0] != '\0' ? one.why : "it is too large");
	else if (one.mended != 0)
		(void)fit_mend(f, "outputSchema/%s", one.first);
	return out;
}

/* Find what the reader of JSON put in place of what it could not take. */
static bool
is_whole(void *arg, struct span text)
{
	return !span_eq(text, json_unread);
}

int
define_tool(struct value_pool *pool, const struct value *def,
    struct definition *d, char why[DEFINE_WHY])
{
	struct fit f = {.pool = pool};

	*d = (struct definition){0};
	if (!value_strings(def, is_whole, NULL)) {
		(void)fit_bad(&f, "it is nested too deeply, has a member "
				  "twice, or a number beyond all limits");
	} else {
		d->schema = take_input(&f, def);
		if (d->schema != NULL)
			d->output = take_output(&f, def);
		d->annotations = take_annotations(&f, def);
		d->description = take_text(&f, def, "description");
		d->title = take_text(&f, def, "title");
	}
	if (d->schema == NULL)
		(void)fit_bad(&f, "is too large");
	d->mended = f.mended;
	memcpy(d->first, f.first, sizeof(d->first));
	memcpy(why, f.why, sizeof(f.why));
	return f.why[0] == '\0' ? 0 : -1;
}
