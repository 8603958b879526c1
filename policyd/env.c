/* SPDX-License-Identifier: ISC */
/*
 * Initialises and frees policyd's state. The memory for a call is one pool and
 * one buffer, reused for the next call.
 */
#include "policyd.h"

#include <stdlib.h>

#include "approval/forge_holds.h"

#define CALL_POOL ((size_t)48 << 20)
#define WORK_MAX_LINE (3U * PROTO_MAX_TREE)

int
policyd_init(struct policyd_env *e, struct loop *loop)
{
	e->loop = loop;
	TAILQ_INIT(&e->early);
	e->server_gone = call_server_gone;
	e->question = question_take;
	e->server_listed = early_listed;
	e->limits = (struct session_limits){
	    PROTO_TOOL_BYTES, PROTO_SERVER_BYTES, PROTO_LIST_BYTES};
	buf_init(&e->line, WORK_MAX_LINE);
	calls_table_init(&e->calls);
	reload_init(&e->reload);
	if (engine_init(&e->engine) == -1 ||
	    (e->breaker = breaker_new()) == NULL ||
	    (e->pool = value_pool_new(CALL_POOL)) == NULL)
		return -1;
	for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++) {
		e->sessions[i].env = e;
		e->sessions[i].index = (uint16_t)i;
	}
	return 0;
}

void
policyd_free(struct policyd_env *e)
{
	for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++)
		session_free(&e->sessions[i]);
	round_free(e);
	hold_free_all(&e->holds);
	asks_free(e);
	forge_dests_free(e);
	questions_free(e);
	remotes_free(&e->remotes);
	early_free(e);
	instances_free(e);
	grants_free(&e->grants);
	pins_free(&e->pins);
	reload_free(&e->reload);
	breaker_free(e->breaker);
	engine_free(&e->engine);
	value_pool_free(e->pool);
	buf_free(&e->line);
	free((void *)(uintptr_t)e->git_dir.p);
}
