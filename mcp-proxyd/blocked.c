/* SPDX-License-Identifier: ISC */
/*
 * Errors that came of a server's sandbox. mcp-backd recognizes them; here the
 * first text of the decoded result gets a mark, and a text of our own follows
 * it, so that the agent does not try to repair permissions that are not the
 * reason. Nothing else of the result changes.
 */
#include "proxy.h"

#include <stdio.h>
#include <string.h>

#define BLOCKED_MARK "[SANDBOX BLOCKED] "

/* Returns the marked text, in the pool, or one without bytes if it is full. */
static struct span
blocked_mark(struct proxy *p, struct span text)
{
	size_t n = sizeof(BLOCKED_MARK) - 1;
	uint8_t *t = value_pool_alloc(p->pool, n + text.len);

	if (t == NULL)
		return span_of(NULL, 0);
	memcpy(t, BLOCKED_MARK, n);
	if (text.len != 0)
		memcpy(t + n, text.p, text.len);
	return span_of(t, n + text.len);
}

static void
blocked_hint(const struct call *c, char *dst, size_t cap)
{
	const struct proxy_server *s = &c->agent->p->servers[c->server];

	if (c->from != c->server)
		snprintf(dst, cap,
		    "The sandbox of this one call has only what was approved, "
		    "without the workspace. A retry of the same call fails in "
		    "the same way.");
	else
		snprintf(dst, cap,
		    "The server %.*s runs in a sandbox, which has %s. A retry "
		    "of the same call fails in the same way.",
		    (int)s->name.len, (const char *)s->name.p, s->view);
}

/* Mark the first text of a result's content, and append the hint. */
static int
blocked_content(struct proxy *p, const struct value *result, struct span hint)
{
	/* The tree is this process's own copy, in its pool. */
	struct value *content =
	    (struct value *)(uintptr_t)value_get(result, "content");
	struct value *v, *block = value_new(p->pool, VALUE_OBJECT);
	struct span marked;

	for (v = content->child; v != NULL; v = v->next)
		if (span_is(value_str(v, "type"), "text"))
			break;
	if (v == NULL)
		return -1;
	marked = blocked_mark(p, value_str(v, "text"));
	v = (struct value *)(uintptr_t)value_get(v, "text");
	if (marked.p == NULL || v == NULL || v->type != VALUE_STRING ||
	    value_set(block, SPAN("type"),
		value_new_string(p->pool, SPAN("text"))) == -1 ||
	    value_set(block, SPAN("text"), value_new_string(p->pool, hint)) ==
		-1 ||
	    value_append(content, block) == -1)
		return -1;
	v->text = marked;
	return 0;
}

static int
blocked_error(struct proxy *p, const struct value *error, struct span hint)
{
	struct value *v =
	    (struct value *)(uintptr_t)value_get(error, "message");
	struct span marked;
	struct buf b;

	if (v == NULL || v->type != VALUE_STRING)
		return -1;
	buf_init(&b, v->text.len + hint.len + 8);
	buf_addspan(&b, v->text);
	buf_adds(&b, ". ");
	buf_addspan(&b, hint);
	marked = b.failed ? span_of(NULL, 0) : blocked_mark(p, buf_span(&b));
	buf_free(&b);
	if (marked.p == NULL)
		return -1;
	v->text = marked;
	return 0;
}

void
answer_blocked(struct call *c, const struct value *tree, bool error)
{
	struct proxy *p = c->agent->p;
	const struct value *content = value_get(tree, "content");
	char hint[PROTO_MAX_SEEN + 256];

	blocked_hint(c, hint, sizeof(hint));
	/* If it cannot be marked, the answer goes out as it is. */
	if (error)
		(void)blocked_error(p, tree, span_str(hint));
	else if (content != NULL && content->type == VALUE_ARRAY)
		(void)blocked_content(p, tree, span_str(hint));
	if (error)
		answer_error(c, tree);
	else
		answer_result(c, tree);
}
