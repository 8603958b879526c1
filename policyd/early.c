/* SPDX-License-Identifier: ISC */
#include "early.h"

#include <errno.h>
#include <stdlib.h>

#include "policyd.h"

bool
early_wanted(const struct policyd_env *env, const struct work *k)
{
	const struct session *s;

	if (!k->may_ask || k->server == PROTO_NO_SERVER)
		return false;
	s = &env->sessions[k->server];
	return s->used && s->state != PROTO_STATE_READY &&
	       s->state != PROTO_STATE_GONE && !session_is_away(s);
}

int
early_keep(struct policyd_env *env, struct call *call, const struct work *k,
    struct span args, early_go *go)
{
	struct early *e;

	if ((e = malloc(sizeof(*e) + args.len)) == NULL)
		return -1;
	*e = (struct early){.id = k->id,
	    .server = k->server,
	    .progress = k->progress,
	    .go = go,
	    .len = args.len};
	if (span_copy(k->tool, e->tool, sizeof(e->tool)) == -1) {
		free(e);
		errno = EINVAL;
		return -1;
	}
	memcpy(e->args, args.p, args.len);
	call->state = CALL_ASKING;
	TAILQ_INSERT_TAIL(&env->early, e, entry);
	return 0;
}

static void
early_end(struct policyd_env *env, struct early *e)
{
	TAILQ_REMOVE(&env->early, e, entry);
	e->go(env, e);
	free(e);
}

void
early_listed(struct policyd_env *env, uint16_t server)
{
	struct early *e, *next;

	for (e = TAILQ_FIRST(&env->early); e != NULL; e = next) {
		next = TAILQ_NEXT(e, entry);
		if (e->server == server)
			early_end(env, e);
	}
}

void
early_drop(struct policyd_env *env, uint64_t id)
{
	struct early *e;

	TAILQ_FOREACH (e, &env->early, entry)
		if (e->id == id)
			break;
	if (e != NULL)
		early_end(env, e);
}

void
early_free(struct policyd_env *env)
{
	struct early *e;

	while ((e = TAILQ_FIRST(&env->early)) != NULL) {
		TAILQ_REMOVE(&env->early, e, entry);
		free(e);
	}
}
