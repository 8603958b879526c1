/* SPDX-License-Identifier: ISC */
/*
 * Answers: the members that no agent may see are cut out, and refusals are
 * composed in the form that the tools of a forge print and do not retry.
 */
#include <errno.h>

#include "common/forge/forge_priv.h"
#include "common/json/json.h"

#define ANSWER_MAX_POOL (96U << 20)
#define ANSWER_MAX_NODES 500000U

static bool
listed(const char *const *list, struct span name)
{
	for (; *list != NULL; list++) {
		if (span_is(name, *list))
			return true;
	}
	return false;
}

/* Append a value without the members on the list of cuts, at any depth. */
static void
put_cut(struct buf *b, const struct value *v, const char *const *cuts)
{
	bool object = v->type == VALUE_OBJECT, first = true;

	if (!object && v->type != VALUE_ARRAY) {
		/* A failure stays in the buffer. */
		(void)json_write(b, v);
		return;
	}
	buf_addc(b, object ? '{' : '[');
	for (v = v->child; v != NULL; v = v->next) {
		if (object && listed(cuts, v->key))
			continue;
		if (!first)
			buf_addc(b, ',');
		first = false;
		if (object) {
			(void)json_write_string(b, v->key);
			buf_addc(b, ':');
		}
		put_cut(b, v, cuts);
	}
	buf_addc(b, object ? '}' : ']');
}

/* Append an object with the members on the list alone, or a list of them. */
static void
put_kept(struct buf *b, const struct value *v, const struct forge_table *table)
{
	bool object = v->type == VALUE_OBJECT, first = true;

	if (!object && v->type != VALUE_ARRAY) {
		buf_adds(b, "null");
		return;
	}
	buf_addc(b, object ? '{' : '[');
	for (v = v->child; v != NULL; v = v->next) {
		if (object && !listed(table->keeps, v->key))
			continue;
		if (!first)
			buf_addc(b, ',');
		first = false;
		if (!object) {
			put_kept(b, v, table);
			continue;
		}
		(void)json_write_string(b, v->key);
		buf_addc(b, ':');
		put_cut(b, v, table->cuts);
	}
	buf_addc(b, object ? '}' : ']');
}

int
forge_answer_cut(
    const struct forge_call *call, struct span json, struct buf *out)
{
	const struct forge_table *table = forge_table(call->grant->kind);
	struct value_pool *pool;
	const struct value *v;
	int r = -1;

	if ((pool = value_pool_new(ANSWER_MAX_POOL)) == NULL)
		return -1;
	if ((v = json_read_large(pool, json, ANSWER_MAX_NODES, FORGE_MAX_ANSWER,
		 NULL)) == NULL) {
		errno = EBADMSG;
		goto out;
	}
	if (call->route != NULL && (call->route->flags & FORGE_ROUTE_KEEP))
		put_kept(out, v, table);
	else
		put_cut(out, v, table->cuts);
	r = buf_check(out);
out:
	value_pool_free(pool);
	return r;
}

bool
forge_follow_host(enum forge_kind kind, struct span host)
{
	const char *const *row = forge_table(kind)->follow;
	struct span tail;

	for (; *row != NULL; row++) {
		if ((*row)[0] != '*') {
			if (span_is(host, *row))
				return true;
			continue;
		}
		tail = span_str(*row + 1);
		if (host.len > tail.len &&
		    span_eq(tail,
			span_of(host.p + host.len - tail.len, tail.len)) &&
		    memchr(host.p, '.', host.len - tail.len) == NULL)
			return true;
	}
	return false;
}

bool
forge_accept(const struct forge_call *call, struct span value)
{
	const uint8_t *end =
	    value.len == 0 ? NULL : memchr(value.p, ';', value.len);

	/* "; charset=utf-8" */
	if (end != NULL)
		value.len = (size_t)(end - value.p);
	return call->route != NULL &&
	       (call->route->flags & FORGE_ROUTE_RAW) != 0 &&
	       listed(forge_table(call->grant->kind)->accepts, value);
}

int
forge_refusal(bool graphql, const char *why, struct buf *out)
{
	static const char by[] = "IronCurtain: ";
	struct buf text;
	int r;

	buf_init(&text, sizeof(by) + FORGE_MAX_WHY);
	buf_adds(&text, by);
	buf_adds(&text, why);
	buf_adds(out, graphql ? "{\"data\":null,\"errors\":[{\"type\":"
				"\"FORBIDDEN\",\"message\":"
			      : "{\"message\":");
	r = json_write_string(out, buf_span(&text));
	buf_adds(out, graphql ? "}]}" : "}");
	buf_free(&text);
	if (r == -1 || buf_check(out) == -1)
		return -1;
	return graphql ? 200 : 403;
}
