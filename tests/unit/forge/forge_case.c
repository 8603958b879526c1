/* SPDX-License-Identifier: ISC */
#include "forge_case.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/json/json.h"

void
case_init(struct forge_case *c, enum forge_kind kind)
{
	memset(c, 0, sizeof(*c));
	c->repositories[0] = SPAN("me/shop");
	c->repositories[1] = SPAN("me/tools");
	c->grant.kind = kind;
	c->grant.repositories = c->repositories;
	c->grant.nrepositories = CASE_REPOSITORIES;
	forge_request_init(&c->request);
	forge_said_init(&c->said);
	if ((c->pool = value_pool_new(64U << 20)) == NULL)
		err(1, "value_pool_new");
}

void
case_free(struct forge_case *c)
{
	forge_request_free(&c->request);
	forge_said_free(&c->said);
	value_pool_free(c->pool);
}

/* The tree as another process gets it. */
static const struct value *
through_wire(struct forge_case *c, const struct value *tree)
{
	const struct value *v;
	struct buf wire;
	uint8_t *kept;

	buf_init(&wire, VALUE_MAX_BYTES);
	if (value_encode(tree, &wire) == -1)
		errx(1, "a tree cannot be encoded");
	if ((kept = value_pool_alloc(c->pool, wire.len)) == NULL)
		errx(1, "the pool is full");
	memcpy(kept, buf_span(&wire).p, wire.len);
	if ((v = value_decode(c->pool, span_of(kept, wire.len))) == NULL ||
	    !value_eq(v, tree))
		errx(1, "a tree changed on the wire");
	buf_free(&wire);
	return v;
}

/* A composed request has to be read as the same tree, and composed again. */
static void
compose_again(struct forge_case *c)
{
	struct forge_request second;
	struct forge_call call;
	struct forge_fail fail;
	const struct value *v;

	forge_request_init(&second);
	v = forge_request_read(&c->grant, c->pool, span_str(c->request.method),
	    buf_span(&c->request.target), buf_span(&c->request.body), &fail);
	if (v == NULL)
		errx(1, "a composed request is refused: %s: %.*s", fail.why,
		    (int)c->request.body.len, c->request.body.p);
	if (!value_eq(v, c->tree))
		errx(1, "a composed request is another one: %.*s",
		    (int)c->request.body.len, c->request.body.p);
	if (forge_check(&c->grant, v, &call, &fail) == -1 ||
	    forge_compose(&call, &second) == -1 ||
	    !span_eq(buf_span(&c->request.body), buf_span(&second.body)) ||
	    !span_eq(buf_span(&c->request.target), buf_span(&second.target)))
		errx(1, "a request is not composed in one way");
	forge_request_free(&second);
}

int
case_run(struct forge_case *c, const char *method, const char *target,
    struct span body)
{
	const struct value *v;

	c->fail.why[0] = '\0';
	v = forge_request_read(&c->grant, c->pool, span_str(method),
	    span_str(target), body, &c->fail);
	if (v == NULL)
		return -1;
	c->tree = through_wire(c, v);
	if (forge_check(&c->grant, c->tree, &c->call, &c->fail) == -1)
		return -1;
	if (forge_compose(&c->call, &c->request) == -1) {
		(void)snprintf(c->fail.why, sizeof(c->fail.why), "composing");
		return -1;
	}
	compose_again(c);
	return 0;
}

int
case_query(struct forge_case *c, const char *query, const char *variables)
{
	struct buf body;
	int r;

	buf_init(&body, 1U << 20);
	buf_adds(&body, "{\"query\":");
	if (json_write_string(&body, span_str(query)) == -1)
		errx(1, "no UTF-8: %s", query);
	if (variables != NULL && variables[0] != '\0')
		buf_printf(&body, ",\"variables\":%s", variables);
	buf_adds(&body, "}");
	r = case_run(c, "POST", "/graphql", buf_span(&body));
	buf_free(&body);
	return r;
}

/* The last four texts stay: a check and its name may have one each. */
static const char *
string_of(const struct buf *b)
{
	static char *kept[4];
	static unsigned at;
	struct span s = buf_span(b);
	char **to = &kept[at++ % 4];

	free(*to);
	if ((*to = malloc(s.len + 1)) == NULL)
		err(1, "malloc");
	if (s.len != 0)
		memcpy(*to, s.p, s.len);
	(*to)[s.len] = '\0';
	return *to;
}

const char *
case_body(const struct forge_case *c)
{
	return string_of(&c->request.body);
}

const char *
case_target(const struct forge_case *c)
{
	return string_of(&c->request.target);
}

const char *
case_say(struct forge_case *c, const struct forge_found *found)
{
	if (forge_say(&c->call, found, &c->said) == -1)
		return "(too long)";
	return string_of(&c->said.sentence);
}
