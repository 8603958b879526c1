/* SPDX-License-Identifier: ISC */
/*
 * Helpers of the readers of the three policy files. The files are the user's,
 * but may come from a generator or another system: nothing in them is trusted,
 * and every message names the place. Keeps no state.
 */
#include "engine/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/json/json.h"
#include "common/log.h"

/* A tree's nodes are larger than the text that they come from. */
#define LOAD_MAX_POOL ((size_t)256 << 20)
#define LOAD_MAX_NODES 2000000U

void
load_init(struct load *l, const char *file)
{
	l->file = file;
	l->error[0] = '\0';
	l->nwarnings = 0;
	buf_init(&l->warnings, LOAD_MAX_WARNINGS);
}

void
load_free(struct load *l)
{
	buf_free(&l->warnings);
}

size_t
where_down(struct where *w, const char *fmt, ...)
{
	size_t before = w->len, room = sizeof(w->text) - w->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(w->text + w->len, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		w->len += (size_t)n < room ? (size_t)n : room - 1;
	return before;
}

void
where_up(struct where *w, size_t len)
{
	w->len = len;
	w->text[len] = '\0';
}

__attribute__((format(printf, 5, 0))) static void
load_text(struct load *l, const struct where *w, char *dst, size_t cap,
    const char *fmt, va_list ap)
{
	const char *place = w != NULL && w->len != 0 ? w->text : NULL;
	int n;

	/* The place of a root member begins with a dot. */
	if (place != NULL && *place == '.')
		place++;
	n = snprintf(dst, cap, "%s: %s%s", l->file, place == NULL ? "" : place,
	    place == NULL ? "" : ": ");
	if (n >= 0 && (size_t)n < cap)
		(void)vsnprintf(dst + n, cap - (size_t)n, fmt, ap);
}

int
load_fail(struct load *l, const struct where *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	load_text(l, w, l->error, sizeof(l->error), fmt, ap);
	va_end(ap);
	return -1;
}

void
load_warn(struct load *l, const struct where *w, const char *fmt, ...)
{
	char text[LOAD_MAX_ERROR];
	va_list ap;

	va_start(ap, fmt);
	load_text(l, w, text, sizeof(text), fmt, ap);
	va_end(ap);
	l->nwarnings++;
	if (l->warnings.len + strlen(text) + 1 > LOAD_MAX_WARNINGS)
		return;
	if (l->warnings.len != 0)
		buf_addc(&l->warnings, '\n');
	buf_adds(&l->warnings, text);
}

static int
load_fail_json(struct load *l, struct span text, const struct json_fail *f)
{
	unsigned line = 1, column = 1;

	for (size_t i = 0; i < f->at && i < text.len; i++) {
		if (text.p[i] == '\n') {
			line++;
			column = 1;
		} else {
			column++;
		}
	}
	return load_fail(l, NULL, "line %u, column %u: %s%s", line, column,
	    json_strerror(f->error),
	    f->error == JSON_UTF8 && f->at == 0 &&
		    span_starts(text, SPAN("\xef\xbb\xbf"))
		? " (a byte order mark: save the file as UTF-8 without one)"
		: "");
}

int
load_doc(struct load *l, struct span text, struct load_doc *out)
{
	struct load_doc doc = {.len = text.len};
	struct json_fail fail;

	if (text.len > LOAD_MAX_TEXT)
		return load_fail(
		    l, NULL, "larger than %u bytes", LOAD_MAX_TEXT);
	if (text.len == 0)
		return load_fail(l, NULL, "is empty");
	if ((doc.text = malloc(text.len)) == NULL ||
	    (doc.pool = value_pool_new(LOAD_MAX_POOL)) == NULL) {
		(void)load_fail(l, NULL, "out of memory");
		goto bad;
	}
	memcpy(doc.text, text.p, text.len);
	text.p = doc.text;
	if ((doc.root = json_read_large(doc.pool, text, LOAD_MAX_NODES,
		 2 * LOAD_MAX_TEXT, &fail)) == NULL) {
		(void)load_fail_json(l, text, &fail);
		goto bad;
	}
	if (doc.root->type != VALUE_OBJECT) {
		(void)load_fail(l, NULL, "must be a JSON object");
		goto bad;
	}
	*out = doc;
	return 0;
bad:
	load_doc_free(&doc);
	return -1;
}

void
load_doc_free(struct load_doc *doc)
{
	value_pool_free(doc->pool);
	free(doc->text);
	*doc = (struct load_doc){0};
}

static bool
load_within(const struct load_doc *doc, struct span s)
{
	return s.p != NULL && s.p >= doc->text && s.p < doc->text + doc->len;
}

size_t
load_position(const struct load_doc *doc, const struct value *member)
{
	const struct value *v;

	/*
	 * A name with escapes was copied to the pool: use the value's position.
	 */
	if (load_within(doc, member->key))
		return (size_t)(member->key.p - doc->text);
	for (v = member; v != NULL; v = v->child) {
		if (load_within(doc, v->text))
			return (size_t)(v->text.p - doc->text);
	}
	return doc->len;
}

void *
load_alloc(struct load *l, struct load_doc *doc, size_t n, size_t size)
{
	void *p;

	if (n == 0)
		n = 1;
	if (size != 0 && n > LOAD_MAX_POOL / size)
		p = NULL;
	else
		p = value_pool_alloc(doc->pool, n * size);
	if (p == NULL)
		(void)load_fail(l, NULL, "too large");
	else
		memset(p, 0, n * size);
	return p;
}

/* Returns 0 if the member has the type, or is absent and optional. */
static int
load_member(struct load *l, struct where *at, const struct value *obj,
    const char *name, bool required, enum value_type type,
    const struct value **out)
{
	const struct value *v = value_get(obj, name);
	size_t up = where_down(at, ".%s", name);
	int ret = 0;

	if (v == NULL && required)
		ret = load_fail(
		    l, at, "is missing; must be %s", value_type_name(type));
	else if (v != NULL && v->type != type)
		ret = load_fail(l, at, "must be %s, not %s",
		    value_type_name(type), value_type_name(v->type));
	else
		*out = v;
	where_up(at, up);
	return ret;
}

int
load_object(struct load *l, struct where *at, const struct value *obj,
    const char *name, bool required, const struct value **out)
{
	return load_member(l, at, obj, name, required, VALUE_OBJECT, out);
}

int
load_array(struct load *l, struct where *at, const struct value *obj,
    const char *name, bool required, const struct value **out)
{
	return load_member(l, at, obj, name, required, VALUE_ARRAY, out);
}

int
load_string(struct load *l, struct where *at, const struct value *obj,
    const char *name, bool required, size_t max, struct span *out)
{
	const struct value *v;
	size_t up;
	int ret = 0;

	if (load_member(l, at, obj, name, required, VALUE_STRING, &v) == -1)
		return -1;
	*out = v == NULL ? span_of(NULL, 0) : v->text;
	up = where_down(at, ".%s", name);
	if (out->len > max)
		ret = load_fail(l, at, "is longer than %zu bytes", max);
	else if (required && out->len == 0)
		ret = load_fail(l, at, "must not be empty");
	else if (out->len != 0 && memchr(out->p, '\0', out->len) != NULL)
		ret = load_fail(l, at, "must not hold a NUL");
	where_up(at, up);
	return ret;
}

int
load_strings(struct load *l, struct where *at, const struct value *obj,
    const char *name, bool required, const struct value **out)
{
	const struct value *v;
	size_t i = 0, up;

	if (load_array(l, at, obj, name, required, out) == -1)
		return -1;
	if (*out == NULL)
		return 0;
	for (v = (*out)->child; v != NULL; v = v->next, i++) {
		if (v->type == VALUE_STRING)
			continue;
		up = where_down(at, ".%s[%zu]", name, i);
		(void)load_fail(l, at, "must be a string, not %s",
		    value_type_name(v->type));
		where_up(at, up);
		return -1;
	}
	return 0;
}

static const char *
roles_known(char *dst, size_t cap)
{
	size_t len = 0;
	int n;

	for (unsigned i = 0; i < ARG_COUNT && len < cap; i++) {
		n = snprintf(dst + len, cap - len, "%s%s", i != 0 ? ", " : "",
		    arg_role_name((enum arg_role)i));
		len += n > 0 ? (size_t)n : 0;
	}
	return dst;
}

int
load_roles(struct load *l, struct where *at, const struct value *array,
    uint8_t *list, unsigned *n, uint32_t *mask)
{
	const struct value *v;
	enum arg_role role;
	char vis[80], known[512];
	size_t i = 0, up;

	*n = 0;
	*mask = 0;
	for (v = array->child; v != NULL; v = v->next, i++) {
		up = where_down(at, "[%zu]", i);
		if (v->type != VALUE_STRING)
			return load_fail(l, at, "must be a role, not %s",
			    value_type_name(v->type));
		if ((role = arg_role_find(v->text)) == ARG_COUNT)
			return load_fail(l, at,
			    "unknown role \"%s\"; known "
			    "are %s",
			    log_vis(v->text, vis, sizeof(vis)),
			    roles_known(known, sizeof(known)));
		where_up(at, up);
		if (*mask & ARG_BIT(role))
			continue;
		*mask |= ARG_BIT(role);
		list[(*n)++] = (uint8_t)role;
	}
	return 0;
}

void
load_unknown(struct load *l, struct where *at, const struct value *obj,
    const char *const *known)
{
	const struct value *v;
	const char *const *k;
	char vis[80];
	size_t up;

	for (v = obj->child; v != NULL; v = v->next) {
		for (k = known; *k != NULL && !span_is(v->key, *k); k++)
			continue;
		if (*k != NULL)
			continue;
		up = where_down(at, ".%s", log_vis(v->key, vis, sizeof(vis)));
		load_warn(l, at, "unknown field, ignored");
		where_up(at, up);
	}
}
