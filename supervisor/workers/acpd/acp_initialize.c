/* SPDX-License-Identifier: ISC */
/*
 * The first request: what either side may do is composed here. The agent is
 * told that the editor has neither files nor terminals for it, and the editor
 * that the agent takes no MCP servers and needs no authentication.
 */
#include "workers/acpd/acp_priv.h"

static const struct acp_member info[] = {{"name", ACP_COPY},
    {"title", ACP_COPY}, {"version", ACP_COPY}, {NULL, ACP_COPY}};

/* Copy the name and version of either program, if they are given. */
static int
initialize_info(const struct acp_copy *c, struct value *o,
    const struct value *from, const char *key)
{
	const struct value *v = value_get(from, key);

	if (v == NULL || v->type != VALUE_OBJECT)
		return 0;
	return value_set(o, span_str(key), acp_members(c, v, info));
}

struct value *
acp_initialize(
    struct acp *a, const struct jsonrpc_id *id, const struct value *params)
{
	const struct acp_copy c = {.acp = a};
	struct value *o, *caps, *fs;
	int64_t version;

	if (value_int(value_get(params, "protocolVersion"), 1, UINT16_MAX,
		&version) == -1) {
		acp_editor_error(a, id, JSONRPC_PARAMS,
		    "protocolVersion must be a number from 1 on");
		return NULL;
	}
	o = value_new(a->pool, VALUE_OBJECT);
	caps = value_new(a->pool, VALUE_OBJECT);
	fs = value_new(a->pool, VALUE_OBJECT);
	if (o == NULL || caps == NULL || fs == NULL ||
	    acp_put_bool(a, fs, "readTextFile", false) == -1 ||
	    acp_put_bool(a, fs, "writeTextFile", false) == -1 ||
	    value_set(caps, SPAN("fs"), fs) == -1 ||
	    acp_put_bool(a, caps, "terminal", false) == -1 ||
	    value_set(o, SPAN("clientCapabilities"), caps) == -1 ||
	    acp_put_number(a, o, "protocolVersion", ACP_VERSION) == -1 ||
	    initialize_info(&c, o, params, "clientInfo") == -1) {
		acp_editor_error(a, id, JSONRPC_LIMIT, "the message is too large");
		return NULL;
	}
	return o;
}

/* Copy the agent's capabilities, but no way to give it MCP servers. */
static struct value *
initialized_caps(const struct acp_copy *c, const struct value *result)
{
	static const struct acp_member keep[] = {{"loadSession", ACP_COPY},
	    {"promptCapabilities", ACP_COPY}, {"sessionCapabilities", ACP_COPY},
	    {NULL, ACP_COPY}};
	const struct value *v = value_get(result, "agentCapabilities");
	struct value *o, *mcp = value_new(c->acp->pool, VALUE_OBJECT);

	o = acp_members(c, v, keep);
	if (o == NULL || mcp == NULL ||
	    acp_put_bool(c->acp, mcp, "http", false) == -1 ||
	    acp_put_bool(c->acp, mcp, "sse", false) == -1 ||
	    value_set(o, SPAN("mcpCapabilities"), mcp) == -1)
		return NULL;
	return o;
}

struct value *
acp_initialized(struct acp *a, const struct value *result)
{
	const struct acp_copy c = {.acp = a, .to_editor = true};
	struct value *o = value_new(a->pool, VALUE_OBJECT);
	int64_t version;

	if (value_int(value_get(result, "protocolVersion"), ACP_VERSION,
		ACP_VERSION, &version) == -1 ||
	    o == NULL ||
	    value_set(o, SPAN("agentCapabilities"),
		initialized_caps(&c, result)) == -1 ||
	    value_set(o, SPAN("authMethods"),
		value_new(a->pool, VALUE_ARRAY)) == -1 ||
	    acp_put_number(a, o, "protocolVersion", version) == -1 ||
	    initialize_info(&c, o, result, "agentInfo") == -1)
		return NULL;
	return o;
}
