/* SPDX-License-Identifier: ISC */
/*
 * A remote MCP server: its keyd posts the messages that policyd composed, and
 * no agent can send it anything else. The file has the parts of the address
 * that an upstream does not have, the constant headers that the user wrote, and
 * how the credential is written.
 */
#include "provider/dest_mcp.h"

#include <stdio.h>

#include "provider/class.h"
#include "provider/dest.h"

/* A server streams its answer to one call; the rest is the reader's limit. */
#define MCP_REPLY (256ULL << 20)

/* `location` is shown to the person; nobody follows it. */
static const char *const mcp_response[] = {
    "content-type", "location", "retry-after", NULL};

/*
 * A message; a stream of events; the end of a session. The routes have this
 * order (keyd/post.c).
 */
static const char *const mcp_methods[] = {"POST", "GET", "DELETE"};

/* Headers of every POST, which keyd composes. */
static const char *const mcp_own[] = {"accept", "content-type"};

static bool
mcp_header_ok(struct span name)
{
	for (size_t i = 0; i < nitems(mcp_own); i++)
		if (span_is(name, mcp_own[i]))
			return false;
	return name.len != 0 && name.p[name.len - 1] != '*' &&
	       !span_starts(name, SPAN("mcp-")) &&
	       !span_starts(name, SPAN("last-event-id")) &&
	       provider_is_allowed(name);
}

static int
mcp_headers(struct parse *ps, const struct value *v, struct dest_mcp *m)
{
	struct buf b;
	int rv = 0;

	if (v == NULL)
		return 0;
	if (v->type != VALUE_OBJECT || v->count > DEST_MCP_HEADERS)
		return parse_fail(ps,
		    "headers: must be an object of at most %u members",
		    DEST_MCP_HEADERS);
	buf_init(&b, PROVIDER_MAX_BLOB);
	for (v = v->child; rv == 0 && v != NULL; v = v->next) {
		if (!mcp_header_ok(v->key))
			rv = parse_fail(ps,
			    "headers: %.*s may not be set: it is no header's "
			    "name in lower case, or it carries a credential, "
			    "frames the message, or belongs to MCP",
			    (int)(v->key.len < 64 ? v->key.len : 64),
			    (const char *)v->key.p);
		else if (v->type != VALUE_STRING ||
			 !provider_value_ok(v->text) ||
			 provider_pack(&b, v->key, v->text) == -1)
			rv = parse_fail(ps,
			    "headers: a value must be text of printable ASCII, "
			    "at most %u bytes",
			    PROVIDER_MAX_VALUE);
	}
	if (rv == 0)
		rv = parse_copy(ps, buf_span(&b), &m->headers);
	buf_free(&b);
	return rv;
}

/* Any header but those of the frame may carry the credential. */
static bool
mcp_is_key(struct span name)
{
	return provider_is_kind(name) || mcp_header_ok(name);
}

static int
mcp_credential(struct parse *ps, const struct value *v)
{
	static const char *const names[] = {"env", "name", "prefix"};
	struct provider *p = ps->p;

	if (v == NULL)
		return 0;
	p->keyless = true;
	p->nkinds = 1;
	if (parse_members(ps, v, "credential", names, 3, 3) == -1 ||
	    parse_text(ps, value_get(v, "env"), "credential.env",
		provider_is_env, &p->env) == -1 ||
	    parse_text(ps, value_get(v, "prefix"), "credential.prefix",
		provider_is_prefix, &p->kinds[0].prefix) == -1)
		return -1;
	return parse_text(ps, value_get(v, "name"), "credential.name",
	    mcp_is_key, &p->kinds[0].name);
}

/*
 * Describe the file of a login: every server's has the same form, and says
 * itself which client it is for.
 */
static int
mcp_login(struct parse *ps, const struct value *v)
{
	struct provider *p = ps->p;
	struct provider_login *l = &p->logins[0];

	if (v == NULL)
		return 0;
	if (v->type != VALUE_TRUE || p->nkinds == 0)
		return parse_fail(
		    ps, "login: must be true, beside a credential");
	*l = (struct provider_login){.name = SPAN("oauth"),
	    .access = SPAN("access_token"),
	    .refresh = SPAN("refresh_token"),
	    .expires = SPAN("expires_at"),
	    .client_at = SPAN("client_id"),
	    .secret = SPAN("client_secret"),
	    .resource = SPAN("resource"),
	    .auth = SPAN("auth"),
	    .endpoint = SPAN("token_endpoint"),
	    .ended = SPAN("ended_at"),
	    .unit = PROVIDER_EXPIRES_S};
	p->nlogins = 1;
	return 0;
}

/* The end of the path, behind the upstream's: a slash, or nothing. */
static bool
mcp_is_rest(struct span s)
{
	return s.len == 0 || span_is(s, "/");
}

static int
mcp_parse(struct parse *ps, const struct value *file)
{
	static const char *const names[] = {"name", "kind", "hosts", "path",
	    "query", "headers", "credential", "login"};
	struct provider *p = ps->p;
	struct dest_mcp *m;

	if (parse_members(ps, file, "file", names, nitems(names), 5) == -1 ||
	    parse_text(ps, value_get(file, "name"), "name", provider_is_label,
		&p->name) == -1 ||
	    parse_hosts(ps, file) == -1 ||
	    (m = parse_alloc(ps, 1, sizeof(*m))) == NULL ||
	    parse_text(ps, value_get(file, "path"), "path", mcp_is_rest,
		&m->path) == -1 ||
	    parse_text(ps, value_get(file, "query"), "query", dest_is_query,
		&m->query) == -1 ||
	    mcp_headers(ps, value_get(file, "headers"), m) == -1 ||
	    mcp_credential(ps, value_get(file, "credential")) == -1 ||
	    mcp_login(ps, value_get(file, "login")) == -1 ||
	    dest_list(ps, mcp_response, &p->response) == -1 ||
	    (p->routes = parse_alloc(
		 ps, nitems(mcp_methods), sizeof(*p->routes))) == NULL)
		return -1;
	p->mcp = m;
	p->nroutes = nitems(mcp_methods);
	for (size_t i = 0; i < nitems(mcp_methods); i++) {
		p->routes[i].method = span_str(mcp_methods[i]);
		p->routes[i].path = SPAN("/");
		p->routes[i].reads = true;
		p->routes[i].reply = MCP_REPLY;
	}
	p->routes[0].max = PROTO_MAX_LINE;
	return 0;
}

/* A request of mitmd has no route here. */
static enum provider_result
mcp_match(const struct provider *p, unsigned host, struct span method,
    struct span path, struct span query, unsigned *route)
{
	return PROVIDER_NO_ROUTE;
}

const struct dest_kind dest_mcp = {"mcp", mcp_parse, mcp_match};
