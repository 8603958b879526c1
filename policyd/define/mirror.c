/* SPDX-License-Identifier: ISC */
/*
 * A mark names a header, once in a tool, and stands at a parameter that is a
 * text, an integer or a truth value and is found through `properties` alone.
 */
#include "define/mirror.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/json/json.h"

#define MIRROR_MARK "x-mcp-header"
#define MIRROR_MAX 32U  /* parameters of one tool */
#define MIRROR_NAME 64U /* bytes of a header's name, without Mcp-Param- */

struct mirror {
	struct span seen[MIRROR_MAX];
	unsigned n;
	char *why;
};

static int __attribute__((format(printf, 2, 3)))
mirror_bad(struct mirror *m, const char *fmt, ...)
{
	char text[DEFINE_WHY - 32];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)snprintf(m->why, DEFINE_WHY, "its " MIRROR_MARK " %s", text);
	return -1;
}

/* Returns true for a letter of a header's name (RFC 9110, 5.6.2). */
static bool
mirror_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static int
mirror_mark(struct mirror *m, const struct value *mark,
    const struct value *schema, bool reached)
{
	struct span type = value_str(schema, "type");

	if (mark->type != VALUE_STRING || mark->text.len == 0)
		return mirror_bad(m, "is no name");
	if (mark->text.len > MIRROR_NAME)
		return mirror_bad(m, "has more than %u bytes", MIRROR_NAME);
	for (size_t i = 0; i < mark->text.len; i++)
		if (!mirror_letter(mark->text.p[i]))
			return mirror_bad(m, "is no name of a header");
	if (!reached)
		return mirror_bad(m, "is not at a parameter");
	if (type.p == NULL ||
	    (!span_is(type, "string") && !span_is(type, "integer") &&
		!span_is(type, "boolean")))
		return mirror_bad(m,
		    "is at a parameter that is no string, integer or boolean");
	for (unsigned i = 0; i < m->n; i++)
		if (span_ieq(m->seen[i], mark->text))
			return mirror_bad(m, "names one header twice");
	if (m->n == MIRROR_MAX)
		return mirror_bad(
		    m, "marks more than %u parameters", MIRROR_MAX);
	m->seen[m->n++] = mark->text;
	return 0;
}

/* Keywords whose value is an object with a schema under each name. */
static const char *const mirror_maps[] = {"$defs", "definitions",
    "dependentSchemas", "patternProperties", "properties", NULL};
/* Keywords whose value is no schema. */
static const char *const mirror_plain[] = {
    "const", "default", "enum", "examples", NULL};

static bool
mirror_among(struct span key, const char *const *list)
{
	while (*list != NULL && !span_is(key, *list))
		list++;
	return *list != NULL;
}

/*
 * Look through a schema, and what is below it; its depth is that of the reader.
 * `root`: it is the tool's own. `reached`: it is that, or a parameter.
 */
static int
mirror_walk(
    struct mirror *m, const struct value *schema, bool root, bool reached)
{
	const struct value *v, *one;
	bool map;

	if (schema->type == VALUE_ARRAY) {
		for (v = schema->child; v != NULL; v = v->next)
			if (mirror_walk(m, v, false, false) == -1)
				return -1;
		return 0;
	}
	if (schema->type != VALUE_OBJECT)
		return 0;
	for (v = schema->child; v != NULL; v = v->next) {
		if (span_is(v->key, MIRROR_MARK)) {
			if (mirror_mark(m, v, schema, reached && !root) == -1)
				return -1;
			continue;
		}
		if (mirror_among(v->key, mirror_plain))
			continue;
		map = v->type == VALUE_OBJECT && mirror_among(v->key, mirror_maps);
		for (one = map ? v->child : NULL; one != NULL; one = one->next)
			if (mirror_walk(m, one, false,
				reached && span_is(v->key, "properties")) == -1)
				return -1;
		if (!map && mirror_walk(m, v, false, false) == -1)
			return -1;
	}
	return 0;
}

int
mirror_check(const struct value *schema, char why[DEFINE_WHY])
{
	struct mirror m = {.why = why};

	return schema == NULL ? 0 : mirror_walk(&m, schema, true, true);
}

static int
mirror_value(struct buf *b, struct span name, const struct value *v)
{
	if (v->type == VALUE_NULL || v->type == VALUE_ARRAY ||
	    v->type == VALUE_OBJECT)
		return 0;
	if (v->type == VALUE_STRING &&
	    (v->text.len > MIRROR_TEXT ||
		(v->text.len != 0 &&
		    memchr(v->text.p, '\0', v->text.len) != NULL)))
		return -1;
	buf_addc(b, ' ');
	buf_addspan(b, name);
	buf_addc(b, ' ');
	return json_write(b, v) == -1 || b->failed ? -1 : 0;
}

int
mirror_put(struct buf *b, const struct value *schema, const struct value *args,
    struct span *bad)
{
	const struct value *all = value_get(schema, "properties"), *p, *v;
	struct span name;

	if (all == NULL || all->type != VALUE_OBJECT)
		return 0;
	for (p = all->child; p != NULL; p = p->next) {
		if (p->type != VALUE_OBJECT ||
		    (v = value_getspan(args, p->key)) == NULL)
			continue;
		name = value_str(p, MIRROR_MARK);
		if (name.p != NULL && mirror_value(b, name, v) == -1) {
			*bad = p->key;
			return -1;
		}
		if (name.p == NULL && v->type == VALUE_OBJECT &&
		    mirror_put(b, p, v, bad) == -1)
			return -1;
	}
	return 0;
}
