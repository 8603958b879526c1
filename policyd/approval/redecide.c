/* SPDX-License-Identifier: ISC */
/*
 * Judges pending calls again after the rules or grants changed. Each is rebuilt
 * from what the agent sent and judged as if it were new. An allowed call is
 * sent, a denied one is refused, and one that still needs a person keeps
 * waiting under its id, with the current reason.
 */
#include "policyd.h"

static void
go_out(struct policyd_env *env, struct hold *h, struct work *k,
    enum proto_hold how)
{
	struct call *call = calls_table_find(&env->calls, k->id);
	struct composed c;
	enum work_way way;

	if (call == NULL)
		return;
	way = work_compose(env, k, &c);
	if (way == WORK_FORWARD)
		way = work_breaker(env, k, &c);
	/* The call is allowed for the objects that exist now. */
	if (way == WORK_FORWARD && k->outside.n != 0 &&
	    work_note(env, k, &c, h) == 0)
		way = instance_held(env, call, k, h, how);
	else
		hold_free(&env->holds, h);
	if (way != WORK_ASK)
		work_release(env, call, k, way, how, &c);
}

/* Show the new reasons and offer, if they changed; the digest is the same. */
static void
stay(struct policyd_env *env, struct hold *h, struct work *k)
{
	struct span session;
	struct composed c;
	struct grant g;

	if (work_offer(env, k, &g, &session) == -1)
		session = SPAN("");
	if (span_copy(k->d.rule, h->rule, sizeof(h->rule)) == -1 ||
	    span_copy(k->d.reason, h->reason, sizeof(h->reason)) == -1 ||
	    span_copy(session, h->session, sizeof(h->session)) == -1 ||
	    work_compose(env, k, &c) == WORK_REFUSE)
		return;
	(void)work_show(env, h, k,
	    span_of(buf_span(&env->line).p + c.args_off, c.args_len));
	buf_reset(&env->line, 1 << 16);
}

static void
redecide(struct policyd_env *env, struct hold *h, enum proto_hold how,
    struct span urls)
{
	struct work k;

	if (work_remake(env, h, &k) == -1)
		return;
	k.urls = urls;
	switch (work_decide(env, &k)) {
	case WORK_FORWARD:
		go_out(env, h, &k, how);
		break;
	case WORK_ASK:
	case WORK_WAIT: /* only for new calls */
		stay(env, h, &k);
		break;
	case WORK_REFUSE:
		/*
		 * A grant never denies: leave it to the verdict to find the
		 * problem.
		 */
		if (how == PROTO_HOLD_RELOADED)
			hold_finish(env, h, &k, how,
			    reason_printf(env->pool,
				"DENIED: %.*s\nThe policy was changed while "
				"this call was pending." HOLD_FINAL,
				(int)k.d.reason.len,
				(const char *)k.d.reason.p));
		break;
	}
	value_pool_reset(env->pool);
}

/* Go on with a held call once its remotes were resolved again. */
static void
redecide_led(
    struct policyd_env *env, const struct remotes_ask *a, struct span urls)
{
	struct hold *h;

	if ((h = hold_led(env, a->id, urls)) == NULL)
		return;
	h->asking = false;
	redecide(env, h, h->again, urls);
	call_arm(env);
}

void
call_redecide(struct policyd_env *env, enum proto_hold how)
{
	uint64_t ids[PROTO_MAX_HOLDS];
	struct hold *h;
	unsigned n = 0;

	/* Collect ids first: the slot of a call that ends may be reused. */
	for (unsigned i = 0; i < PROTO_MAX_HOLDS; i++) {
		if (env->holds.list[i].used)
			ids[n++] = env->holds.list[i].id;
	}
	for (unsigned i = 0; i < n; i++) {
		if ((h = hold_find(&env->holds, ids[i])) == NULL || h->asking)
			continue;
		if (!h->led) {
			redecide(env, h, how, span_of(NULL, 0));
		} else if (how == PROTO_HOLD_RELOADED) {
			/*
			 * If icgit cannot be asked, the verdict on the call
			 * finds it out.
			 */
			h->again = how;
			(void)hold_ask_again(env, h, redecide_led);
		}
	}
	call_arm(env);
}
