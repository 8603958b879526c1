/* SPDX-License-Identifier: ISC */
/*
 * Reads a provider file into struct provider.  Every member is named here and
 * any other is an error; every text is checked against the class that the
 * checks of requests later rely on; lists that would let a credential, a
 * cookie or framing through do not load.  Trusts nothing of the text but that
 * it is bounded.
 */
#include "provider.h"

#include <openssl/sha.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "provider_class.h"
#include "provider_login.h"

struct parse {
	struct provider *p;
	char *err;
	size_t cap;
};

/* Says what is wrong, once; always -1. */
static int parse_fail(struct parse *, const char *, ...)
    __attribute__((format(printf, 2, 3)));

static int
parse_fail(struct parse *ps, const char *fmt, ...)
{
	va_list ap;

	if (ps->cap != 0 && ps->err[0] == '\0') {
		va_start(ap, fmt);
		vsnprintf(ps->err, ps->cap, fmt, ap);
		va_end(ap);
	}
	errno = EINVAL;
	return -1;
}

static void *
parse_alloc(struct parse *ps, size_t n, size_t size)
{
	void *mem;

	if (n > PROVIDER_MAX_FILE ||
	    (mem = value_pool_alloc(ps->p->pool, n * size)) == NULL) {
		parse_fail(ps, "out of memory");
		return NULL;
	}
	memset(mem, 0, n * size);
	return mem;
}

static int
parse_copy(struct parse *ps, struct span s, struct span *out)
{
	uint8_t *mem;

	if ((mem = parse_alloc(ps, s.len + 1, 1)) == NULL)
		return -1;
	if (s.len != 0)
		memcpy(mem, s.p, s.len);
	*out = span_of(mem, s.len);
	return 0;
}

/* v is an object of only these members, the first `need` of which must be. */
static int
parse_members(struct parse *ps, const struct value *v, const char *where,
    const char *const *names, size_t n, size_t need)
{
	const struct value *m;
	char text[64];
	size_t i;

	if (v == NULL || v->type != VALUE_OBJECT)
		return parse_fail(ps, "%s: must be an object", where);
	for (m = v->child; m != NULL; m = m->next) {
		for (i = 0; i < n && !span_is(m->key, names[i]); i++)
			;
		if (i == n)
			return parse_fail(ps, "%s: unknown member \"%s\"",
			    where, provider_vis(m->key, text, sizeof(text)));
	}
	for (i = 0; i < need; i++) {
		if (value_get(v, names[i]) == NULL)
			return parse_fail(
			    ps, "%s: \"%s\" is missing", where, names[i]);
	}
	return 0;
}

/* A string of the class; the copy in *out. */
static int
parse_text(struct parse *ps, const struct value *v, const char *where,
    bool (*class)(struct span), struct span *out)
{
	char text[64];

	if (v == NULL || v->type != VALUE_STRING)
		return parse_fail(ps, "%s: must be a string", where);
	if (!class(v->text))
		return parse_fail(ps, "%s: \"%s\" does not fit here", where,
		    provider_vis(v->text, text, sizeof(text)));
	return parse_copy(ps, v->text, out);
}

/* An array of strings of the class, at least one unless `empty`. */
static int
parse_texts(struct parse *ps, const struct value *v, const char *where,
    bool (*class)(struct span), unsigned max, bool empty, struct span **out,
    unsigned *count)
{
	const struct value *m;
	struct span *s;
	char at[160];
	unsigned n = 0;

	if (v == NULL || v->type != VALUE_ARRAY)
		return parse_fail(ps, "%s: must be an array", where);
	if (v->count > max || (v->count == 0 && !empty))
		return parse_fail(ps, "%s: must have %s%u entries", where,
		    empty ? "at most " : "1 to ", max);
	if ((s = parse_alloc(ps, v->count, sizeof(*s))) == NULL)
		return -1;
	for (m = v->child; m != NULL; m = m->next) {
		snprintf(at, sizeof(at), "%s[%u]", where, n);
		if (parse_text(ps, m, at, class, &s[n]) == -1)
			return -1;
		for (unsigned i = 0; i < n; i++) {
			if (span_eq(s[i], s[n]))
				return parse_fail(ps, "%s: repeated", at);
		}
		n++;
	}
	*out = s;
	*count = n;
	return 0;
}

static int
parse_kind(struct parse *ps, const struct value *v, unsigned n)
{
	static const char *const names[] = {"name", "prefix"};
	struct provider_kind *k = &ps->p->kinds[n];
	const struct value *prefix;
	char at[64];

	snprintf(at, sizeof(at), "credential.headers[%u]", n);
	if (parse_members(ps, v, at, names, 2, 1) == -1 ||
	    parse_text(
		ps, value_get(v, "name"), at, provider_is_kind, &k->name) == -1)
		return -1;
	if ((prefix = value_get(v, "prefix")) != NULL &&
	    parse_text(ps, prefix, at, provider_is_prefix, &k->prefix) == -1)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		if (span_eq(ps->p->kinds[i].name, k->name))
			return parse_fail(ps, "%s: repeated", at);
	}
	return 0;
}

static int
parse_credential(struct parse *ps, const struct value *v)
{
	static const char *const names[] = {"env", "sentinel", "headers"};
	struct provider *p = ps->p;
	const struct value *headers, *m;

	if (parse_members(ps, v, "credential", names, 3, 3) == -1 ||
	    parse_text(ps, value_get(v, "env"), "credential.env",
		provider_is_env, &p->env) == -1 ||
	    parse_text(ps, value_get(v, "sentinel"), "credential.sentinel",
		provider_is_sentinel, &p->sentinel) == -1)
		return -1;
	headers = value_get(v, "headers");
	if (headers->type != VALUE_ARRAY || headers->count == 0 ||
	    headers->count > PROVIDER_MAX_KINDS)
		return parse_fail(ps,
		    "credential.headers: must be an array of 1 to %u objects",
		    PROVIDER_MAX_KINDS);
	for (m = headers->child; m != NULL; m = m->next) {
		if (parse_kind(ps, m, p->nkinds) == -1)
			return -1;
		p->nkinds++;
	}
	return 0;
}

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

/* A member that is true or false, or absent: then dflt. */
static int
parse_bool(struct parse *ps, const struct value *v, const char *where,
    const char *name, bool dflt, bool *out)
{
	const struct value *m = value_get(v, name);

	if (m != NULL && m->type != VALUE_TRUE && m->type != VALUE_FALSE)
		return parse_fail(
		    ps, "%s.%s: must be true or false", where, name);
	*out = value_bool(v, name, dflt);
	return 0;
}

/* What the body is to the filter and the meter. */
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
		    "%s.dialect: must be \"anthropic\", \"chat\", "
		    "\"responses\" or \"gemini\"",
		    where);
	r->dialect = (enum filter_dialect)d;
	return parse_bool(ps, v, where, "turn", d != FILTER_NONE, &r->turn);
}

static int
parse_body(struct parse *ps, const struct value *v, const char *where,
    struct provider_route *r)
{
	static const char *const names[] = {
	    "types", "max", "read", "dialect", "turn"};
	const struct value *max;
	char at[64];
	int64_t n = PROVIDER_DFLT_BODY;

	if (v == NULL)
		return 0;
	snprintf(at, sizeof(at), "%s.body", where);
	if (parse_members(ps, v, at, names, 5, 1) == -1)
		return -1;
	if (span_is(r->method, "GET") || span_is(r->method, "HEAD"))
		return parse_fail(ps, "%s: a %s has no body", at,
		    span_is(r->method, "GET") ? "GET" : "HEAD");
	if ((max = value_get(v, "max")) != NULL &&
	    value_int(max, 1, PROVIDER_MAX_BODY, &n) == -1)
		return parse_fail(
		    ps, "%s.max: must be 1 to %u", at, PROVIDER_MAX_BODY);
	r->max = (uint64_t)n;
	if (parse_bool(ps, v, at, "read", false, &r->reads) == -1 ||
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
	const struct value *max;
	char at[64];
	int64_t n = PROVIDER_DFLT_BODY;

	if (v == NULL)
		return 0;
	snprintf(at, sizeof(at), "%s.websocket", where);
	if (parse_members(ps, v, at, names, 3, 0) == -1)
		return -1;
	if (!span_is(r->method, "GET"))
		return parse_fail(ps, "%s: the method must be GET", at);
	if ((max = value_get(v, "max")) != NULL &&
	    value_int(max, 1, PROVIDER_MAX_BODY, &n) == -1)
		return parse_fail(
		    ps, "%s.max: must be 1 to %u", at, PROVIDER_MAX_BODY);
	r->max = (uint64_t)n;
	r->websocket = true;
	return parse_dialect(ps, v, at, r);
}

static int
parse_route(struct parse *ps, const struct value *v, unsigned n)
{
	static const char *const names[] = {
	    "method", "path", "query", "body", "answer", "websocket"};
	struct provider_route *r = &ps->p->routes[n];
	const struct value *answer;
	char at[32], member[48];
	int64_t status = 0;

	snprintf(at, sizeof(at), "routes[%u]", n);
	if (parse_members(ps, v, at, names, 6, 2) == -1)
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
	    parse_websocket(ps, value_get(v, "websocket"), at, r) == -1)
		return -1;
	/* 401 makes clients try again for minutes. */
	if ((answer = value_get(v, "answer")) != NULL &&
	    (value_int(answer, 400, 499, &status) == -1 || status == 401))
		return parse_fail(
		    ps, "%s.answer: must be 400 to 499, not 401", at);
	r->answer = (unsigned)status;
	for (unsigned i = 0; i < n; i++) {
		if (span_eq(ps->p->routes[i].method, r->method) &&
		    span_eq(ps->p->routes[i].path, r->path))
			return parse_fail(ps, "%s: repeated", at);
	}
	return 0;
}

static int
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

static int
parse_filter(struct parse *ps, const struct value *v)
{
	const char *why;

	ps->p->filter = filter_dflt;
	why = v == NULL ? NULL : filter_rules_read(v, &ps->p->filter);
	return why == NULL ? 0 : parse_fail(ps, "filter: %s", why);
}

static int
parse_file(struct parse *ps, const struct value *v)
{
	static const char *const names[] = {"name", "host", "credential",
	    "requestHeaders", "responseHeaders", "routes", "filter", "logins"};
	struct provider *p = ps->p;

	if (parse_members(ps, v, "file", names, 8, 6) == -1 ||
	    parse_filter(ps, value_get(v, "filter")) == -1 ||
	    parse_text(ps, value_get(v, "name"), "name", provider_is_label,
		&p->name) == -1 ||
	    parse_text(ps, value_get(v, "host"), "host", provider_is_host,
		&p->host) == -1 ||
	    parse_credential(ps, value_get(v, "credential")) == -1 ||
	    provider_parse_logins(
		p, value_get(v, "logins"), ps->err, ps->cap) == -1 ||
	    parse_texts(ps, value_get(v, "requestHeaders"), "requestHeaders",
		provider_is_allowed, PROVIDER_MAX_HEADERS, true,
		&p->request.names, &p->request.n) == -1 ||
	    parse_texts(ps, value_get(v, "responseHeaders"), "responseHeaders",
		provider_is_allowed, PROVIDER_MAX_HEADERS, true,
		&p->response.names, &p->response.n) == -1)
		return -1;
	return parse_routes(ps, value_get(v, "routes"));
}

struct provider *
provider_parse(struct span text, char *err, size_t cap)
{
	struct parse ps = {.err = err, .cap = cap};
	struct value_pool *scratch = NULL;
	const struct value *v;
	struct json_fail fail;
	int saved;

	if (cap != 0)
		err[0] = '\0';
	if (text.len > PROVIDER_MAX_FILE) {
		parse_fail(
		    &ps, "file: larger than %u bytes", PROVIDER_MAX_FILE);
		return NULL;
	}
	if ((ps.p = calloc(1, sizeof(*ps.p))) == NULL ||
	    (ps.p->pool = value_pool_new(8U * PROVIDER_MAX_FILE)) == NULL ||
	    (scratch = value_pool_new(16U * PROVIDER_MAX_FILE)) == NULL) {
		errno = ENOMEM;
		goto bad;
	}
	if ((v = json_read(scratch, text, &fail)) == NULL) {
		parse_fail(&ps, "file: at byte %zu: %s", fail.at,
		    json_strerror(fail.error));
		goto bad;
	}
	if (parse_file(&ps, v) == -1)
		goto bad;
	SHA256(text.p, text.len, ps.p->digest);
	value_pool_free(scratch);
	return ps.p;
bad:
	saved = errno;
	value_pool_free(scratch);
	provider_free(ps.p);
	errno = saved;
	return NULL;
}

void
provider_free(struct provider *p)
{
	if (p == NULL)
		return;
	value_pool_free(p->pool);
	free(p);
}
