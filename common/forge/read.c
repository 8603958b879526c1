/* SPDX-License-Identifier: ISC */
/* Checks and composes a call, which another process may have read. */
#include <errno.h>

#include "common/forge/forge_priv.h"
#include "common/json/json.h"

bool
forge_needs_body(struct span method)
{
	return !span_is(method, "GET") && !span_is(method, "HEAD");
}

int
forge_check(const struct forge_grant *grant, const struct value *tree,
    struct forge_call *call, struct forge_fail *fail)
{
	struct span kind = value_str(tree, "call");

	*call = (struct forge_call){.grant = grant, .tree = tree};
	if (span_is(kind, "rest"))
		return forge_rest_check(call, fail);
	if (forge_table(grant->kind)->query != NULL &&
	    (span_is(kind, "query") || span_is(kind, "mutation")))
		return forge_graphql_check(call, fail);
	return forge_refuse(fail, "the tree is no call of this forge");
}

void
forge_request_init(struct forge_request *r)
{
	r->method = NULL;
	buf_init(&r->target, 3U * FORGE_MAX_TARGET);
	buf_init(&r->body, FORGE_MAX_BODY);
}

void
forge_request_free(struct forge_request *r)
{
	buf_free(&r->target);
	buf_free(&r->body);
}

int
forge_compose(const struct forge_call *call, struct forge_request *out)
{
	buf_reset(&out->target, FORGE_MAX_TARGET);
	buf_reset(&out->body, FORGE_MAX_BODY);
	return call->route != NULL ? forge_rest_compose(call, out)
				   : forge_graphql_compose(call, out);
}
