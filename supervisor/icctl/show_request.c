/* SPDX-License-Identifier: ISC */
/*
 * How a held request of the model path is shown: what goes where, what a push
 * changes, how much of a body.  As with calls, what an agent wrote comes out
 * as printable ASCII, and whole where it is what is agreed to.
 */
#include <stdio.h>
#include <string.h>

#include "common/json/json.h"
#include "icctl/icctl.h"

#define REQUEST_POOL (8U << 20)
#define REQUEST_OBJECT 12 /* of an object's name, where there is no room */
#define REQUEST_WHOLE 8192

bool
icctl_is_request(json_object *hold)
{
	json_object *o;

	return json_object_object_get_ex(hold, "request", &o) &&
	       json_object_get_boolean(o);
}

static void
put_text(const struct value *v, const char *key, size_t max)
{
	struct span s = value_str(v, key);

	icctl_put(s.p == NULL ? SPAN("") : s, max, false);
}

static void
put_line(const char *name, const struct value *v, const char *key)
{
	if (value_get(v, key) == NULL)
		return;
	printf("  %-11s", name);
	put_text(v, key, REQUEST_WHOLE);
	putchar('\n');
}

/* "update refs/heads/main", and from what to what. */
static void
put_ref(const struct value *ref)
{
	bool create = span_is(value_str(ref, "action"), "create");
	bool gone = span_is(value_str(ref, "action"), "delete");

	fputs("    ", stdout);
	put_text(ref, "action", REQUEST_WHOLE);
	putchar(' ');
	put_text(ref, "name", REQUEST_WHOLE);
	fputs(create ? "\n      at   " : "\n      from ", stdout);
	put_text(ref, create ? "new" : "old", REQUEST_WHOLE);
	if (!create && !gone) {
		fputs("\n      to   ", stdout);
		put_text(ref, "new", REQUEST_WHOLE);
	}
	putchar('\n');
}

static void
put_body(const struct value *body)
{
	const struct value *bytes = value_get(body, "bytes");

	fputs("  body       ", stdout);
	icctl_put(bytes != NULL ? bytes->text : SPAN("?"), 40, false);
	fputs(" bytes, sha256 ", stdout);
	put_text(body, "sha256", 64);
	putchar('\n');
}

static void
put_request(const struct value *v)
{
	const struct value *refs = value_get(v, "refs");
	const struct value *headers = value_get(v, "headers");

	put_line("repository", v, "repository");
	if (refs != NULL && refs->type == VALUE_ARRAY) {
		puts("  refs");
		for (const struct value *r = refs->child; r != NULL;
		     r = r->next)
			put_ref(r);
	}
	put_body(value_get(v, "body"));
	if (headers == NULL || headers->child == NULL)
		return;
	puts("  headers");
	for (const struct value *h = headers->child; h != NULL; h = h->next) {
		fputs("    ", stdout);
		icctl_put(h->key, 128, false);
		fputs(": ", stdout);
		icctl_put(h->text, 400, false);
		putchar('\n');
	}
}

/* Method and address out of what was asked for, not out of a cut name. */
static void
put_target(const struct value *v)
{
	put_text(v, "method", 32);
	fputs(" https://", stdout);
	put_text(v, "host", 253);
	put_text(v, "path", REQUEST_WHOLE);
	if (value_get(v, "query") != NULL) {
		putchar('?');
		put_text(v, "query", REQUEST_WHOLE);
	}
}

void
icctl_show_request(json_object *h)
{
	struct value_pool *pool = value_pool_new(REQUEST_POOL);
	const struct value *v = NULL;

	if (pool != NULL)
		v = json_read(pool, span_str(icctl_text(h, "arguments")), NULL);
	printf("request %s\n  ", icctl_text(h, "id"));
	if (v != NULL && v->type == VALUE_OBJECT)
		put_target(v);
	else
		icctl_put_str(icctl_text(h, "tool"));
	fputs("\n  provider   ", stdout);
	icctl_put_str(icctl_text(h, "server"));
	fputs("\n  why        ", stdout);
	icctl_put_str(icctl_text(h, "reason"));
	putchar('\n');
	if (v != NULL && v->type == VALUE_OBJECT)
		put_request(v);
	printf("  digest     %.64s\n", icctl_text(h, "digest"));
	value_pool_free(pool);
}

/* "update refs/heads/main 0a1b.., ..." of a push, else the body's size. */
static void
put_summary(const struct value *v)
{
	const struct value *refs = value_get(v, "refs"), *bytes;
	const struct value *r = refs == NULL ? NULL : refs->child;
	struct span object;

	for (; r != NULL; r = r->next) {
		putchar(' ');
		put_text(r, "action", 16);
		putchar(' ');
		put_text(r, "name", 64);
		putchar(' ');
		object = value_str(r,
		    span_is(value_str(r, "action"), "delete") ? "old" : "new");
		if (object.len > REQUEST_OBJECT)
			object.len = REQUEST_OBJECT;
		icctl_put(object, REQUEST_OBJECT, false);
		if (r->next != NULL)
			putchar(',');
	}
	bytes = value_get(value_get(v, "body"), "bytes");
	if (refs != NULL || bytes == NULL)
		return;
	fputs(" (", stdout);
	icctl_put(bytes->text, 40, false);
	fputs(" bytes)", stdout);
}

void
icctl_show_request_line(json_object *h)
{
	struct value_pool *pool = value_pool_new(REQUEST_POOL);
	const struct value *v = NULL;

	icctl_put_str(icctl_text(h, "tool"));
	if (pool != NULL)
		v = json_read(pool, span_str(icctl_text(h, "arguments")), NULL);
	if (v != NULL && v->type == VALUE_OBJECT)
		put_summary(v);
	value_pool_free(pool);
}
