/* SPDX-License-Identifier: ISC */
/*
 * The way in: reads what an agent sends, of either kind. It is apart from the
 * check, since the processes that check and act have no reader of GraphQL.
 */
#include "common/forge/forge_priv.h"

const struct value *
forge_request_read(const struct forge_grant *grant, struct value_pool *pool,
    struct span method, struct span target, struct span body,
    struct forge_fail *fail)
{
	if (!forge_is_graphql(grant, target))
		return forge_rest_read(grant, pool, method, target, body, fail);
	if (!span_is(method, "POST")) {
		forge_refuse(fail, "GraphQL is sent with POST");
		return NULL;
	}
	return forge_graphql_read(
	    forge_table(grant->kind)->query, pool, body, fail);
}
