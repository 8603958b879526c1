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

/* Returns true if the answer has a token that runners register with. */
static bool
shows_runners(const struct value *v)
{
	const bool object = v->type == VALUE_OBJECT;

	if (!object && v->type != VALUE_ARRAY)
		return false;
	for (v = v->child; v != NULL; v = v->next)
		if ((object && span_is(v->key, "runners_token") &&
			v->type == VALUE_STRING && v->text.len != 0) ||
		    shows_runners(v))
			return true;
	return false;
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
	if (call->grant->kind == FORGE_GITLAB && !call->grant->classic &&
	    shows_runners(v)) {
		errno = EACCES;
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

	/* Nothing else that an address may have before its path is a host. */
	for (size_t i = 0; i < host.len; i++)
		if (memchr("abcdefghijklmnopqrstuvwxyz0123456789-.", host.p[i],
			38) == NULL)
			return false;
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

const char *
forge_place_read(
    enum forge_kind kind, struct span s, size_t most, struct forge_place *place)
{
	static const char https[] = "https://";
	struct span rest;
	const uint8_t *slash;

	if (!span_starts(s, SPAN(https)))
		return "it is no address that begins with https://";
	rest = span_of(s.p + sizeof(https) - 1, s.len - (sizeof(https) - 1));
	for (size_t i = 0; i < rest.len; i++)
		if (rest.p[i] <= 0x20 || rest.p[i] > 0x7e || rest.p[i] == '#')
			return "its address has characters that none may have";
	if ((slash = memchr(rest.p, '/', rest.len)) == NULL)
		return "its address has no path";
	place->host = span_of(rest.p, (size_t)(slash - rest.p));
	place->target = span_of(slash, rest.len - place->host.len);
	if (place->host.len > 4 && span_is(span_of(slash - 4, 4), ":443"))
		place->host.len -= 4;
	if (!forge_follow_host(kind, place->host))
		return "its host is none of those to which this forge may "
		       "redirect";
	if (place->target.len > most)
		return "its address is too long";
	return NULL;
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
