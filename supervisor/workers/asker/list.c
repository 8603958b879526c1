/* SPDX-License-Identifier: ISC */
/*
 * Reads what a forge says about a token: the scopes that a header names, and
 * the repositories of a list. Everything in the answer is hostile: nothing but
 * names of plain letters leaves this file.
 */
#include "workers/asker/list.h"

#include <string.h>

#include "common/http/http1.h"
#include "common/json/json.h"

#define LIST_POOL (24U << 20)

/* Returns true for a text of the letters that scopes and names have. */
static bool
list_plain(struct span s, const char *more)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] == '\0' ||
		    (strchr("abcdefghijklmnopqrstuvwxyz0123456789-_.",
			 s.p[i]) == NULL &&
			strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ", s.p[i]) == NULL &&
			strchr(more, s.p[i]) == NULL))
			return false;
	return true;
}

static bool
list_true(const struct value *o, const char *name)
{
	const struct value *v = value_get(o, name);

	return v != NULL && v->type == VALUE_TRUE;
}

/* Say one repository, and whether its permissions include a push. */
static void
list_one(struct buf *out, const struct value *v)
{
	const struct value *may = value_get(v, "permissions");
	struct span name = value_str(v, "full_name");

	if (name.p == NULL)
		name = value_str(v, "path_with_namespace");
	if (name.p == NULL || name.len == 0 || name.len > LIST_MAX_NAME ||
	    !list_plain(name, "/"))
		return;
	buf_printf(out, "repository %.*s %s\n", (int)name.len,
	    (const char *)name.p,
	    may != NULL && !list_true(may, "push") ? "read" : "write");
}

/* Decode the body that follows the head. Returns 0, or -1. */
static int
list_body(struct span rest, struct http1_body *body, struct buf *to)
{
	struct span data;
	size_t used;

	while (!body->done && rest.len != 0) {
		if (http1_body_next(body, rest, &data, &used) == HTTP1_BAD)
			return -1;
		buf_addspan(to, data);
		rest = span_of(rest.p + used, rest.len - used);
	}
	return body->done || http1_body_eof(body) == HTTP1_OK ? buf_check(to)
							      : -1;
}

bool
list_complete(struct span answer)
{
	struct http1_head head;
	struct http1_body body;
	struct buf text;

	if (http1_response(answer, &head) != HTTP1_OK)
		return false;
	if (http1_response_body(&head, false, &body) != HTTP1_OK)
		return true;
	answer = span_of(answer.p + head.size, answer.len - head.size);
	if (body.framing == HTTP1_LENGTH)
		return answer.len >= body.length;
	buf_init(&text, LIST_MAX_ANSWER);
	(void)list_body(answer, &body, &text);
	buf_free(&text);
	return body.done;
}

int
list_read(struct span answer, struct buf *out)
{
	struct http1_head head;
	struct http1_body body;
	const struct value *root;
	struct value_pool *pool = NULL;
	struct span scopes;
	struct buf text;
	unsigned n = 0;
	int rv = -1;

	buf_init(&text, LIST_MAX_ANSWER);
	if (http1_response(answer, &head) != HTTP1_OK ||
	    http1_response_body(&head, false, &body) != HTTP1_OK)
		goto done;
	if (http1_header(&head, "x-oauth-scopes", &scopes) == 1 &&
	    scopes.len != 0 && scopes.len <= LIST_MAX_SCOPES &&
	    list_plain(scopes, ":, "))
		buf_printf(out, "scopes %.*s\n", (int)scopes.len,
		    (const char *)scopes.p);
	if (list_body(span_of(answer.p + head.size, answer.len - head.size),
		&body, &text) == -1 ||
	    (pool = value_pool_new(LIST_POOL)) == NULL ||
	    (root = json_read(pool, buf_span(&text), NULL)) == NULL ||
	    root->type != VALUE_ARRAY)
		goto done;
	for (const struct value *v = root->child;
	     v != NULL && n < LIST_MAX_NAMES; v = v->next, n++)
		list_one(out, v);
	rv = buf_check(out);
done:
	value_pool_free(pool);
	buf_free(&text);
	return rv;
}
