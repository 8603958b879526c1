/* SPDX-License-Identifier: ISC */
/*
 * The end of an agent's connection: it gets a last answer, and some time to read
 * it.
 */
#include "proxy.h"

void
agent_end(struct agent *a, const struct jsonrpc_id *id, enum jsonrpc_code code,
    const char *text)
{
	struct proxy *p = a->p;

	if (a->closing != 0)
		return;
	answer_fail(a, id, code, "%s", text);
	a->closing = loop_now(&p->w.loop) + PROXY_CLOSE_MS;
	p->nclosing++;
	calls_wake(p);
}

void
agent_fail(struct agent *a, enum jsonrpc_code code, const char *text)
{
	agent_end(a, NULL, code, text);
}
