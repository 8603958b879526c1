/* SPDX-License-Identifier: ISC */
/*
 * Queue of calls outside the views that need an instance: a limited number
 * runs, a limited number waits, the rest are refused. A call that waited is
 * rebuilt when its turn comes.
 */
#include "policyd.h"

#include "instance_priv.h"

static struct instance *
place(struct policyd_env *env)
{
	struct instance *i;

	for (i = env->instances; i < env->instances + INSTANCE_MAX; i++) {
		if (i->state == INSTANCE_NONE)
			return i;
	}
	return NULL;
}

static enum work_way
too_many(struct policyd_env *env, struct work *k)
{
	k->d.status = PROTO_DENY;
	k->d.rule = SPAN("instance-limit");
	k->d.reason = reason_printf(env->pool,
	    "Too many calls for files outside the sandbox are waiting (%u)",
	    INSTANCE_WAITING);
	k->answer = reason_printf(env->pool, "DENIED: %.*s" INSTANCE_AGAIN,
	    (int)k->d.reason.len, (const char *)k->d.reason.p);
	return WORK_REFUSE;
}

static void
begin(struct policyd_env *env, struct instance *i, struct call *call,
    struct work *k, enum proto_hold how)
{
	i->how = how;
	call->state = CALL_HELD;
	i->state = INSTANCE_QUEUED;
	if (instance_running(env) < PROTO_MAX_INSTANCES)
		instance_ask(env, i, &k->outside);
	buf_reset(&env->line, 1 << 16);
}

enum work_way
instance_call(struct policyd_env *env, struct call *call, struct work *k,
    struct span args, const struct composed *c)
{
	struct instance *i = place(env);

	if (i == NULL)
		return too_many(env, k);
	if (hold_init(&i->hold, k->id, args) == -1)
		return too_many(env, k);
	if (work_note(env, k, c, &i->hold) == -1) {
		hold_clear(&i->hold);
		return too_many(env, k);
	}
	begin(env, i, call, k, PROTO_HOLD_NONE);
	return WORK_ASK;
}

enum work_way
instance_held(struct policyd_env *env, struct call *call, struct work *k,
    struct hold *h, enum proto_hold how)
{
	const struct msg_APPROVED m = {
	    .id = h->id, .state = (uint8_t)how, .granted = k->grant == h->id};
	struct instance *i = place(env);

	if (i == NULL) {
		hold_free(&env->holds, h);
		return too_many(env, k);
	}
	hold_take(&env->holds, h, &i->hold);
	/* Report the approval now; the instance may take time to start. */
	env->send(env, ROLE_AUDIT, MSG_APPROVED, &m);
	call->over = true;
	begin(env, i, call, k, how);
	return WORK_ASK;
}
