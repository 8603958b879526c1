/* SPDX-License-Identifier: ISC */
/*
 * Helpers for the check of tool definitions: places, reasons, and texts with
 * characters that nobody sees.  All values come from an MCP server.  Recursion
 * is bounded by VALUE_MAX_DEPTH.
 */
#include "define/fit.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/hidden.h"
#include "common/log.h"
#include "common/visible.h"

#define FIT_NAME 40U   /* bytes of a name in a place; a longer one is cut */
#define FIT_PLACE 120U /* bytes of a place; the end of a longer one is shown   \
			*/

void
fit_enter(struct fit *f, struct span name)
{
	if (f->depth < nitems(f->path))
		f->path[f->depth] = name;
	f->depth++;
}

void
fit_leave(struct fit *f)
{
	f->depth--;
}

/* Write the place: "inputSchema/properties/a: ", or nothing at the top. */
static size_t
put_place(const struct fit *f, char *dst, size_t cap)
{
	unsigned n = f->depth < nitems(f->path) ? f->depth : nitems(f->path);
	unsigned from = n;
	struct buf b;
	size_t len;

	/* Take as many of the innermost names as there is room for. */
	for (size_t sum = 0; from != 0; from--) {
		len = f->path[from - 1].len + 1;
		sum += len < FIT_NAME ? len : FIT_NAME;
		if (sum > FIT_PLACE)
			break;
	}
	buf_init(&b, 1024);
	if (from != 0)
		buf_adds(&b, "...");
	for (unsigned i = from; i < n; i++) {
		if (b.len != 0)
			buf_addc(&b, '/');
		len = visible_cut(f->path[i], FIT_NAME);
		(void)visible_add(
		    &b, span_of(f->path[i].p, len), VISIBLE_ASCII);
		if (len < f->path[i].len)
			buf_adds(&b, "...");
	}
	len = (size_t)snprintf(dst, cap, "%.*s%s", (int)buf_span(&b).len,
	    (const char *)buf_span(&b).p, b.len != 0 ? ": " : "");
	buf_free(&b);
	return len < cap ? len : cap - 1;
}

static void __attribute__((format(printf, 3, 0)))
say(const struct fit *f, char dst[FIT_WHY], const char *fmt, va_list ap)
{
	size_t n = put_place(f, dst, FIT_WHY);

	(void)vsnprintf(dst + n, FIT_WHY - n, fmt, ap);
}

int
fit_bad(struct fit *f, const char *fmt, ...)
{
	va_list ap;

	if (f->why[0] != '\0')
		return -1;
	va_start(ap, fmt);
	say(f, f->why, fmt, ap);
	va_end(ap);
	return -1;
}

int
fit_mend(struct fit *f, const char *fmt, ...)
{
	va_list ap;

	if (f->mended++ != 0)
		return 0;
	va_start(ap, fmt);
	say(f, f->first, fmt, ap);
	va_end(ap);
	return 0;
}

struct value *
fit_alias(struct fit *f, const struct value *v)
{
	struct value *n = value_new(f->pool, v->type);

	if (n == NULL) {
		(void)fit_bad(f, "is too large");
		return NULL;
	}
	*n = *v;
	n->key = span_of(NULL, 0);
	n->next = NULL;
	return n;
}

int
fit_put(struct fit *f, struct value *object, struct span name, struct value *v)
{
	if (v == NULL)
		return fit_bad(f, "is too large");
	if (value_getspan(object, name) != NULL)
		return 0;
	return value_set(object, name, v) == 0 ? 0 : fit_bad(f, "is too large");
}

int
fit_append(struct fit *f, struct value *array, struct value *v)
{
	return v != NULL && value_append(array, v) == 0
		   ? 0
		   : fit_bad(f, "is too large");
}

struct value *
fit_string(struct fit *f, const char *text)
{
	return value_new_string(f->pool, span_str(text));
}

struct span
fit_text(struct fit *f, struct span text)
{
	struct buf b;
	uint8_t *p;

	if (!hidden_in(text))
		return text.p != NULL ? text : SPAN("");
	(void)fit_mend(f, "characters that nobody sees are shown escaped");
	buf_init(&b, VALUE_MAX_STRING);
	if (hidden_escape(&b, text) == -1 ||
	    (p = value_pool_alloc(f->pool, b.len)) == NULL) {
		(void)fit_bad(f, "is too large");
		text = span_of(NULL, 0);
	} else {
		memcpy(p, buf_span(&b).p, b.len);
		text = span_of(p, b.len);
	}
	buf_free(&b);
	return text;
}

int
fit_plain(struct fit *f, struct span text)
{
	return hidden_in(text) ? fit_bad(f, "has characters that nobody sees")
			       : 0;
}

/* Copy a value; escape its texts if `words`, else refuse hidden characters. */
static struct value *
copy(struct fit *f, const struct value *v, bool words)
{
	struct value *n = value_new(f->pool, v->type), *c;

	if (n == NULL) {
		(void)fit_bad(f, "is too large");
		return NULL;
	}
	n->text = v->text;
	if (v->type == VALUE_STRING && words)
		n->text = fit_text(f, v->text);
	else if (v->type == VALUE_STRING)
		(void)fit_plain(f, v->text);
	for (v = v->child; v != NULL && f->why[0] == '\0'; v = v->next) {
		if ((c = copy(f, v, words)) == NULL)
			return NULL;
		if (n->type == VALUE_ARRAY)
			(void)fit_append(f, n, c);
		else if (fit_plain(f, v->key) == 0)
			(void)fit_put(f, n, v->key, c);
	}
	return f->why[0] == '\0' ? n : NULL;
}

struct value *
fit_words(struct fit *f, const struct value *v)
{
	return copy(f, v, true);
}

struct value *
fit_exact(struct fit *f, const struct value *v)
{
	return copy(f, v, false);
}

int
fit_keep(struct fit *f, struct value *object, const struct value *in,
    struct value *v)
{
	return v == NULL ? -1 : fit_put(f, object, in->key, v);
}

int
fit_keep_alias(struct fit *f, struct value *object, const struct value *in)
{
	return fit_keep(f, object, in, fit_alias(f, in));
}

int
fit_wrong(struct fit *f, const struct value *in, const char *want)
{
	return fit_bad(f, "is %s, not %s", value_type_name(in->type), want);
}

int
fit_drop(struct fit *f, const struct value *in)
{
	return fit_mend(f, "left out: is %s", value_type_name(in->type));
}
