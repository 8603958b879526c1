/* SPDX-License-Identifier: ISC */
/*
 * Held calls that end without being sent: the person did not answer in time or
 * denied the call, the agent or the server is gone, or a remote's URL changed.
 */
#include "policyd.h"

#include <stdio.h>

void
hold_finish(struct policyd_env *env, struct hold *h, struct work *k,
    enum proto_hold how, struct span answer)
{
	struct call *call = calls_table_find(&env->calls, h->id);

	k->answer = answer;
	hold_free(&env->holds, h);
	if (call != NULL)
		work_release(env, call, k, WORK_REFUSE, how, NULL);
	value_pool_reset(env->pool);
}

/*
 * Rebuild the arguments as they were shown, for the log; if that fails, log
 * them as the agent sent them.
 */
static void
refused_arguments(struct policyd_env *env, struct work *k)
{
	struct decision d = k->d;

	(void)work_decide(env, k);
	k->d = d;
	k->answer = span_of(NULL, 0);
}

void
hold_refuse(struct policyd_env *env, struct hold *h, enum proto_hold how,
    const char *fmt, ...)
{
	char text[LOAD_MAX_REASON];
	struct work k;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (work_remake(env, h, &k) == -1)
		return;
	refused_arguments(env, &k);
	hold_finish(env, h, &k, how,
	    reason_printf(env->pool, "%s%s", text, HOLD_FINAL));
}

static void
hold_due(struct loop_timer *t)
{
	struct policyd_env *env = t->arg;

	call_arm(env);
}

void
call_arm(struct policyd_env *env)
{
	uint64_t now = loop_now(env->loop), next;
	struct hold *h;

	while ((h = hold_expired(&env->holds, now)) != NULL)
		hold_refuse(env, h, PROTO_HOLD_EXPIRED,
		    "ESCALATION EXPIRED: nobody answered within %u s: %.*s. "
		    "It was not denied; the user may not be there.",
		    h->ms / 1000, (int)reason_bare(span_str(h->reason)).len,
		    h->reason);
	if ((next = hold_next(&env->holds)) == 0)
		loop_timer_clear(env->loop, &env->hold_timer);
	else
		loop_timer_set(
		    env->loop, &env->hold_timer, next - now, hold_due, env);
}

void
hold_led_elsewhere(struct policyd_env *env, struct hold *h)
{
	struct work k;

	if (work_remake(env, h, &k) == -1)
		return;
	refused_arguments(env, &k);
	k.d.status = PROTO_DENY;
	k.d.rule = SPAN("approval-changed");
	k.d.reason = SPAN("The remote no longer leads to where it did");
	hold_finish(env, h, &k, PROTO_HOLD_CHANGED,
	    SPAN("ESCALATION CHANGED: approved, but the remote no longer "
		 "leads to where it did\nAsk again if it is still needed."));
}

bool
hold_ask_again(struct policyd_env *env, struct hold *h, remotes_led *led)
{
	struct call *call = calls_table_find(&env->calls, h->id);
	struct work k;

	if (call == NULL || work_remake(env, h, &k) == -1)
		return false;
	k.may_ask = true;
	if (work_decide(env, &k) != WORK_WAIT ||
	    remotes_ask(env, call, &k, span_of(h->args, h->args_len), led) ==
		-1)
		return false;
	call->state = CALL_HELD;
	h->asking = true;
	value_pool_reset(env->pool);
	return true;
}

struct hold *
hold_led(struct policyd_env *env, uint64_t id, struct span urls)
{
	struct call *call = calls_table_find(&env->calls, id);
	struct hold *h = hold_find(&env->holds, id);
	uint8_t digest[HOLD_DIGEST];

	/* A cancelled call has its own end, and the hold may have expired. */
	if (call == NULL || call->cancelled || h == NULL || !h->asking)
		return NULL;
	if (urls.p != NULL && remotes_digest(urls, digest) == 0 &&
	    memcmp(digest, h->urls, sizeof(digest)) == 0)
		return h;
	hold_led_elsewhere(env, h);
	call_arm(env);
	return NULL;
}

void
call_server_gone(struct policyd_env *env, uint16_t server)
{
	struct hold *h;

	questions_server_gone(env, server);
	tool_grants_end(
	    env, server, span_of(NULL, 0), false, "its server has ended");
	while ((h = hold_of_server(&env->holds, server)) != NULL)
		hold_refuse(env, h, PROTO_HOLD_CANCELLED,
		    "Server \"%s\" has ended, and its pending calls with it",
		    env->engine.servers[server].name);
	call_arm(env);
	if (env->engine.servers[server].internal)
		remotes_gone(env);
}
