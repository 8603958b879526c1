/* SPDX-License-Identifier: ISC */
/*
 * Requests that wait for their answers. Each side sees numbers of the relay,
 * never an id of the other.
 */
#include "workers/acpd/acp_priv.h"

struct acp_call *
acp_calls_new(struct acp_calls *c, const struct jsonrpc_id *id)
{
	for (unsigned i = 0; i < ACP_MAX_CALLS; i++) {
		if (c->list[i].state != ACP_FREE)
			continue;
		c->list[i] = (struct acp_call){
		    .state = ACP_OPEN, .n = ++c->last, .id = *id};
		return &c->list[i];
	}
	return NULL;
}

struct acp_call *
acp_calls_find(struct acp_calls *c, uint64_t n)
{
	for (unsigned i = 0; i < ACP_MAX_CALLS; i++)
		if (c->list[i].state == ACP_OPEN && c->list[i].n == n)
			return &c->list[i];
	return NULL;
}

struct acp_call *
acp_calls_by_id(struct acp_calls *c, const struct jsonrpc_id *id)
{
	for (unsigned i = 0; i < ACP_MAX_CALLS; i++)
		if (c->list[i].state == ACP_OPEN &&
		    jsonrpc_id_eq(&c->list[i].id, id))
			return &c->list[i];
	return NULL;
}

struct acp_call *
acp_calls_answered(struct acp_calls *c, const struct jsonrpc_id *id)
{
	const struct value number = {
	    .type = VALUE_NUMBER, .text = span_of(id->text, id->len)};
	int64_t n;

	if (id->len == 0 || value_int(&number, 1, INT64_MAX, &n) == -1)
		return NULL;
	return acp_calls_find(c, (uint64_t)n);
}
