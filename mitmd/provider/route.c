/* SPDX-License-Identifier: ISC */
/*
 * Reads the routes of a provider file: method, path pattern, query, body.
 * Trusts only that the text is of bounded size.
 */
#include "provider/parse.h"

#include <stdio.h>

#include "provider/class.h"

static int
parse_param(struct parse *ps, const struct value *v, const char *where,
    struct provider_param *q)
{
	char at[128];

	if (!provider_is_param(v->key))
		return parse_fail(ps, "%s.query: bad parameter name", where);
	snprintf(at, sizeof(at), "%s.query.%.*s", where, (int)v->key.len,
	    (const char *)v->key.p);
	if (parse_copy(ps, v->key, &q->name) == -1)
		return -1;
	if (v->type == VALUE_ARRAY) {
		q->class = PROVIDER_LISTED;
		return parse_texts(ps, v, at, provider_is_token,
		    PROVIDER_MAX_VALUES, false, &q->values, &q->nvalues);
	}
	if (v->type == VALUE_STRING && span_is(v->text, "number"))
		q->class = PROVIDER_NUMBER;
	else if (v->type == VALUE_STRING && span_is(v->text, "token"))
		q->class = PROVIDER_TOKEN;
	else
		return parse_fail(ps,
		    "%s: must be \"number\", \"token\" or "
		    "an array of values",
		    at);
	return 0;
}

static int
parse_query(struct parse *ps, const struct value *v, const char *where,
    struct provider_route *r)
{
	const struct value *m;

	if (v == NULL)
		return 0;
	if (v->type != VALUE_OBJECT || v->count > PROVIDER_MAX_PARAMS)
		return parse_fail(ps,
		    "%s.query: must be an object of at most %u parameters",
		    where, PROVIDER_MAX_PARAMS);
	if ((r->params = parse_alloc(ps, v->count, sizeof(*r->params))) == NULL)
		return -1;
	for (m = v->child; m != NULL; m = m->next) {
		if (parse_param(ps, m, where, &r->params[r->nparams]) == -1)
			return -1;
		r->nparams++;
	}
	return 0;
}

/* Read the members for the filter and the meter. */
static int
parse_dialect(struct parse *ps, const struct value *v, const char *where,
    struct provider_route *r)
{
	const struct value *dialect = value_get(v, "dialect");
	int d = FILTER_NONE;

	if (dialect != NULL &&
	    (dialect->type != VALUE_STRING ||
		(d = filter_dialect_find(dialect->text)) <= FILTER_NONE))
		return parse_fail(ps,
		    "%s.dialect: must be \"anthropic\", \"bedrock\", "
		    "\"chat\", \"converse\", \"gemini\" or "
		    "\"responses\"",
		    where);
	r->dialect = (enum filter_dialect)d;
	return parse_bool(ps, v, where, "turn", d != FILTER_NONE, &r->turn);
}

/* Read "max": bytes of a body or a message. */
static int
parse_max(struct parse *ps, const struct value *v, const char *where,
    struct provider_route *r)
{
	const struct value *max = value_get(v, "max");
	int64_t n = PROVIDER_DFLT_BODY;

	if (max != NULL && value_int(max, 1, PROVIDER_MAX_BODY, &n) == -1)
		return parse_fail(
		    ps, "%s.max: must be 1 to %u", where, PROVIDER_MAX_BODY);
	r->max = (uint64_t)n;
	return 0;
}

static int
parse_body(struct parse *ps, const struct value *v, const char *where,
    struct provider_route *r)
{
	static const char *const names[] = {
	    "types", "max", "read", "dialect", "turn"};
	char at[64];

	if (v == NULL)
		return 0;
	snprintf(at, sizeof(at), "%s.body", where);
	if (parse_members(ps, v, at, names, 5, 1) == -1)
		return -1;
	if (span_is(r->method, "GET") || span_is(r->method, "HEAD"))
		return parse_fail(ps, "%s: a %s has no body", at,
		    span_is(r->method, "GET") ? "GET" : "HEAD");
	if (parse_max(ps, v, at, r) == -1 ||
	    parse_bool(ps, v, at, "read", false, &r->reads) == -1 ||
	    parse_dialect(ps, v, at, r) == -1)
		return -1;
	snprintf(at, sizeof(at), "%s.body.types", where);
	return parse_texts(ps, value_get(v, "types"), at, provider_is_type,
	    PROVIDER_MAX_TYPES, false, &r->types, &r->ntypes);
}

static int
parse_websocket(struct parse *ps, const struct value *v, const char *where,
    struct provider_route *r)
{
	static const char *const names[] = {"max", "dialect", "turn"};
	char at[64];

	if (v == NULL)
		return 0;
	snprintf(at, sizeof(at), "%s.websocket", where);
	if (parse_members(ps, v, at, names, 3, 0) == -1)
		return -1;
	if (!span_is(r->method, "GET"))
		return parse_fail(ps, "%s: the method must be GET", at);
	if (parse_max(ps, v, at, r) == -1)
		return -1;
	r->websocket = true;
	return parse_dialect(ps, v, at, r);
}

/* Read a route's "host", "reply", "ask" and "digest". */
static int
parse_terms(struct parse *ps, const struct value *v, const char *where,
    struct provider_route *r)
{
	const struct value *host = value_get(v, "host"),
			   *reply = value_get(v, "reply");
	struct provider *p = ps->p;
	int64_t n = 0;

	if (reply != NULL &&
	    value_int(reply, 1, (int64_t)PROVIDER_MAX_REPLY, &n) == -1)
		return parse_fail(ps, "%s.reply: must be 1 to %llu", where,
		    PROVIDER_MAX_REPLY);
	r->reply = (uint64_t)n;
	if (parse_bool(ps, v, where, "ask", false, &r->ask) == -1 ||
	    parse_bool(ps, v, where, "digest", p->sigv4.service.len != 0,
		&r->digest) == -1)
		return -1;
	if (p->sigv4.service.len != 0 && !r->digest)
		return parse_fail(
		    ps, "%s.digest: what is signed must have one", where);
	if (r->websocket && (r->ask || r->digest || r->reply != 0))
		return parse_fail(ps,
		    "%s: \"ask\", \"digest\" and \"reply\" are not for a "
		    "WebSocket",
		    where);
	if (host == NULL)
		return 0;
	while (host->type == VALUE_STRING && r->host < p->nhosts &&
	       !span_eq(p->hosts[r->host], host->text))
		r->host++;
	if (host->type != VALUE_STRING || r->host == p->nhosts)
		return parse_fail(
		    ps, "%s.host: must be one of the file's hosts", where);
	return 0;
}

/*
 * Read "capture": the route is the token endpoint of a login, which keyd
 * answers.
 */
static int
parse_capture(struct parse *ps, const struct value *v, const char *where,
    struct provider_route *r)
{
	const struct value *m = value_get(v, "capture");
	struct provider *p = ps->p;

	if (parse_bool(ps, v, where, "bare", m != NULL, &r->bare) == -1)
		return -1;
	if (r->bare && r->websocket)
		return parse_fail(ps, "%s.bare: not for a WebSocket", where);
	if (m == NULL)
		return 0;
	for (r->capture = 0; r->capture < p->nlogins; r->capture++)
		if (m->type == VALUE_STRING &&
		    span_eq(p->logins[r->capture].name, m->text))
			break;
	if (r->capture++ == p->nlogins || !p->logins[r->capture - 1].captured)
		return parse_fail(ps,
		    "%s.capture: must be one of the file's logins that has "
		    "\"capture\"",
		    where);
	if (!span_is(r->method, "POST") || r->ntypes == 0 || !r->bare ||
	    r->ask || r->digest || r->max > PROVIDER_MAX_CAPTURE)
		return parse_fail(ps,
		    "%s.capture: must be a bare POST whose body is of at most "
		    "%u bytes, without \"ask\" and \"digest\"",
		    where, PROVIDER_MAX_CAPTURE);
	p->captures = true;
	return 0;
}

static int
parse_route(struct parse *ps, const struct value *v, unsigned n)
{
	static const char *const names[] = {"method", "path", "query", "body",
	    "answer", "websocket", "host", "reply", "ask", "digest", "bare",
	    "capture"};
	struct provider_route *r = &ps->p->routes[n];
	const struct value *answer;
	char at[32], member[48];
	int64_t status = 0;

	snprintf(at, sizeof(at), "routes[%u]", n);
	if (parse_members(ps, v, at, names, 12, 2) == -1)
		return -1;
	snprintf(member, sizeof(member), "%s.method", at);
	if (parse_text(ps, value_get(v, "method"), member, provider_is_method,
		&r->method) == -1)
		return -1;
	snprintf(member, sizeof(member), "%s.path", at);
	if (parse_text(ps, value_get(v, "path"), member, provider_is_pattern,
		&r->path) == -1 ||
	    parse_query(ps, value_get(v, "query"), at, r) == -1 ||
	    parse_body(ps, value_get(v, "body"), at, r) == -1 ||
	    parse_websocket(ps, value_get(v, "websocket"), at, r) == -1 ||
	    parse_terms(ps, v, at, r) == -1 ||
	    parse_capture(ps, v, at, r) == -1)
		return -1;
	/* 401 makes clients retry for minutes. */
	if ((answer = value_get(v, "answer")) != NULL &&
	    (value_int(answer, 400, 499, &status) == -1 || status == 401))
		return parse_fail(
		    ps, "%s.answer: must be 400 to 499, not 401", at);
	r->answer = (unsigned)status;
	for (unsigned i = 0; i < n; i++) {
		if (ps->p->routes[i].host == r->host &&
		    span_eq(ps->p->routes[i].method, r->method) &&
		    span_eq(ps->p->routes[i].path, r->path))
			return parse_fail(ps, "%s: repeated", at);
	}
	return 0;
}

int
parse_routes(struct parse *ps, const struct value *v)
{
	struct provider *p = ps->p;
	const struct value *m;

	if (v->type != VALUE_ARRAY || v->count == 0 ||
	    v->count > PROVIDER_MAX_ROUTES)
		return parse_fail(ps,
		    "routes: must be an array of 1 to %u objects",
		    PROVIDER_MAX_ROUTES);
	if ((p->routes = parse_alloc(ps, v->count, sizeof(*p->routes))) == NULL)
		return -1;
	for (m = v->child; m != NULL; m = m->next) {
		if (parse_route(ps, m, p->nroutes) == -1)
			return -1;
		p->nroutes++;
	}
	return 0;
}
