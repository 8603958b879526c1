/* SPDX-License-Identifier: ISC */
/*
 * How held calls end.  An approval is for the bytes that were shown: the call
 * is made again from what the agent sent, under the rules and with the files
 * as they are now, and goes out only if it is still the same.
 */
#include <sha2.h>
#include <stdlib.h>

#include "common/log.h"
#include "policyd.h"

#define FINAL "\nDo not retry unless the user asks you to."

static void
hold_due(struct loop_timer *t)
{
	struct policyd_env *env = t->arg;

	call_arm(env);
}

void
hold_finish(struct policyd_env *env, struct hold *h, struct work *k,
    enum proto_hold how, struct span answer)
{
	struct call *call = calls_find(&env->calls, h->id);

	k->answer = answer;
	hold_free(&env->holds, h);
	if (call != NULL)
		work_release(env, call, k, WORK_REFUSE, how, NULL);
	value_pool_reset(env->pool);
}

int
work_remake(struct policyd_env *env, const struct hold *h, struct work *k)
{
	uint8_t *args;

	*k = (struct work){
	    .id = h->id,
	    .server = h->server,
	    .tool = span_str(h->tool),
	    .progress = h->progress,
	    .srv = &env->engine.servers[h->server],
	};
	k->server_name = span_str(k->srv->name);
	k->d.status = PROTO_ESCALATE;
	value_pool_reset(env->pool);
	/* Texts that outlive the hold: it is freed before they are sent. */
	k->tool = reason_printf(env->pool, "%s", h->tool);
	k->d.rule = reason_printf(env->pool, "%s", h->rule);
	k->d.reason = reason_printf(env->pool, "%s", h->reason);
	if ((args = value_pool_alloc(env->pool, h->args_len)) == NULL)
		return -1;
	memcpy(args, h->args, h->args_len);
	k->tree = (struct value *)(uintptr_t)value_decode(
	    env->pool, span_of(args, h->args_len));
	return k->tree == NULL ? -1 : 0;
}

/*
 * The arguments as they were shown, for the log: made again as far as they
 * can be; where that fails, as the agent sent them.
 */
static void
refused_arguments(struct policyd_env *env, struct work *k)
{
	struct decision d = k->d;

	(void)work_decide(env, k);
	k->d = d;
	k->answer = span_of(NULL, 0);
}

static void end_refused(struct policyd_env *env, struct hold *h,
    enum proto_hold how, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static void
end_refused(struct policyd_env *env, struct hold *h, enum proto_hold how,
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
	hold_finish(
	    env, h, &k, how, reason_printf(env->pool, "%s%s", text, FINAL));
}

void
call_arm(struct policyd_env *env)
{
	uint64_t now = loop_now(env->loop), next;
	struct hold *h;

	while ((h = hold_expired(&env->holds, now)) != NULL)
		end_refused(env, h, PROTO_HOLD_EXPIRED,
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

int
work_note(struct policyd_env *env, const struct work *k,
    const struct composed *c, struct hold *h)
{
	struct span line = buf_span(&env->line);

	if (hold_digest(k->server_name, k->tool,
		span_of(line.p + c->args_off, c->args_len), h->digest) == -1 ||
	    span_copy(k->tool, h->tool, sizeof(h->tool)) == -1 ||
	    span_copy(k->d.rule, h->rule, sizeof(h->rule)) == -1 ||
	    span_copy(k->d.reason, h->reason, sizeof(h->reason)) == -1)
		return -1;
	h->server = k->server;
	h->progress = k->progress;
	h->led = k->urls.p != NULL;
	if (h->led && remotes_digest(k->urls, h->urls) == -1)
		return -1;
	h->nobjects = k->outside.n;
	memcpy(h->objects, k->outside.objects, sizeof(h->objects));
	return 0;
}

enum work_way
work_again(struct policyd_env *env, const struct hold *h, struct work *k,
    struct composed *c)
{
	uint8_t digest[HOLD_DIGEST];
	enum work_way way;
	struct span line;

	way = work_decide(env, k);
	if (way != WORK_REFUSE && work_compose(env, k, c) == WORK_REFUSE)
		way = WORK_REFUSE;
	line = buf_span(&env->line);
	if (way != WORK_REFUSE &&
	    (hold_digest(k->server_name, k->tool,
		 span_of(line.p + c->args_off, c->args_len), digest) == -1 ||
		memcmp(digest, h->digest, sizeof(digest)) != 0 ||
		!outside_same(&k->outside, h))) {
		k->d.rule = SPAN("approval-changed");
		k->d.reason =
		    SPAN("The call is no longer the one that was shown");
		way = WORK_REFUSE;
	}
	if (way == WORK_REFUSE)
		k->d.status = PROTO_DENY;
	return way;
}

/* For the session, too: only what was shown. 0: nothing was granted. */
static uint64_t
grant(struct policyd_env *env, const struct hold *h, const struct work *k)
{
	uint8_t digest[HOLD_DIGEST];
	struct span text;
	struct grant g;
	SHA2_CTX ctx;

	if (!h->for_session || work_offer(env, k, &g, &text) == -1)
		return 0;
	SHA256Init(&ctx);
	SHA256Update(&ctx, text.p, text.len);
	SHA256Final(digest, &ctx);
	if (!span_is(text, h->session) ||
	    memcmp(digest, h->shown, sizeof(digest)) != 0)
		return 0;
	if (grants_add(&env->grants, h->id, &g) == -1) {
		log_warn("nothing more is granted for this session");
		return 0;
	}
	return h->id;
}

/* The same call, made anew? Then it goes out. */
static void
approve(struct policyd_env *env, struct hold *h, struct span urls)
{
	struct span rule, reason;
	struct composed c;
	struct call *call = calls_find(&env->calls, h->id);
	enum work_way way;
	struct work k;
	bool granted;

	if (call == NULL || work_remake(env, h, &k) == -1)
		return;
	rule = k.d.rule;
	reason = k.d.reason;
	k.urls = urls;
	if (work_again(env, h, &k, &c) == WORK_REFUSE) {
		hold_finish(env, h, &k, PROTO_HOLD_CHANGED,
		    reason_printf(env->pool,
			"ESCALATION CHANGED: approved, "
			"but not the same any more: %.*s\nAsk again if it is "
			"still needed.",
			(int)k.d.reason.len, (const char *)k.d.reason.p));
		return;
	}
	k.grant = grant(env, h, &k);
	granted = k.grant != 0;
	k.d.status = PROTO_ESCALATE;
	k.d.rule = rule;
	k.d.reason = reason;
	way = work_breaker(env, &k, &c);
	if (way == WORK_FORWARD && k.outside.n != 0)
		way = instance_held(env, call, &k, h, PROTO_HOLD_APPROVED);
	else
		hold_free(&env->holds, h);
	if (way != WORK_ASK)
		work_release(env, call, &k, way, PROTO_HOLD_APPROVED, &c);
	value_pool_reset(env->pool);
	/* Others that wait may be granted by the same. */
	if (granted)
		call_redecide(env, PROTO_HOLD_APPROVED);
}

static void
led_elsewhere(struct policyd_env *env, struct hold *h)
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
hold_ask_again(struct policyd_env *env, struct hold *h)
{
	struct call *call = calls_find(&env->calls, h->id);
	struct remotes *r = &env->remotes;
	struct work k;

	if (call == NULL || work_remake(env, h, &k) == -1)
		return false;
	k.may_ask = true;
	if (work_decide(env, &k) != WORK_WAIT ||
	    remotes_ask(env, call, &k, span_of(h->args, h->args_len)) == -1)
		return false;
	r->list[r->n - 1].verdict = true;
	call->state = CALL_HELD;
	h->asking = true;
	value_pool_reset(env->pool);
	return true;
}

void
call_led(struct policyd_env *env, uint64_t id, struct span urls)
{
	struct hold *h = hold_find(&env->holds, id);
	uint8_t digest[HOLD_DIGEST];

	/* It may have expired. */
	if (h == NULL || !h->asking)
		return;
	if (urls.p == NULL || remotes_digest(urls, digest) == -1 ||
	    memcmp(digest, h->urls, sizeof(digest)) != 0)
		led_elsewhere(env, h);
	else if (h->again != PROTO_HOLD_NONE)
		hold_redecide(env, h, urls);
	else
		approve(env, h, urls);
	call_arm(env);
}

void
call_verdict(struct policyd_env *env, const struct msg_VERDICT_GO *m)
{
	struct hold *h = hold_find(&env->holds, m->id);
	struct msg_LATE late = {.id = m->id};
	char because[600];

	/* Only for what was shown: the digest binds the answer to it. */
	if (h == NULL || h->asking ||
	    !span_eq(m->digest, span_of(h->digest, sizeof(h->digest)))) {
		env->send(env, ROLE_AUDIT, MSG_LATE, &late);
		return;
	}
	if (h->expires <= loop_now(env->loop)) {
		call_arm(env);
		env->send(env, ROLE_AUDIT, MSG_LATE, &late);
		return;
	}
	if (m->approve) {
		h->again = PROTO_HOLD_NONE;
		h->for_session = m->session.len != 0;
		if (h->for_session)
			memcpy(h->shown, m->session.p, sizeof(h->shown));
	}
	if (m->approve && h->led) {
		if (!h->asking && !hold_ask_again(env, h))
			led_elsewhere(env, h);
	} else if (m->approve) {
		approve(env, h, span_of(NULL, 0));
	} else {
		log_vis(m->because, because, sizeof(because));
		end_refused(env, h, PROTO_HOLD_DENIED,
		    "ESCALATION DENIED: %.1000s%s%s", h->reason,
		    m->because.len == 0 ? "" : "\nThe user says: ", because);
	}
	call_arm(env);
}

void
call_cancel(struct policyd_env *env, uint64_t id)
{
	struct call *call = calls_find(&env->calls, id);
	struct hold *h;

	/* It may be over by now: the two crossed on their way. */
	if (call == NULL || call->cancelled)
		return;
	call->cancelled = true;
	remotes_drop(env, id);
	if ((h = hold_find(&env->holds, id)) != NULL) {
		end_refused(env, h, PROTO_HOLD_CANCELLED, "CANCELLED: %.1000s",
		    h->reason);
		call_arm(env);
	} else if (instance_cancel(env, id)) {
		return;
	} else if (call->forwarded && compose_cancelled(&env->line, id) == 0) {
		session_send_cancel(env, call->at, id);
	}
}

int
call_ended(struct policyd_env *env, uint64_t id, const char **why)
{
	struct call *call = calls_find(&env->calls, id);

	*why = "the end of a call that is not in flight";
	if (call == NULL || call->state != CALL_RELEASED)
		return -1;
	calls_end(&env->calls, call);
	instance_ended(env, id);
	return 0;
}

void
call_server_gone(struct policyd_env *env, uint16_t server)
{
	struct hold *h;

	while ((h = hold_of_server(&env->holds, server)) != NULL)
		end_refused(env, h, PROTO_HOLD_CANCELLED,
		    "Server \"%s\" is gone: its call waits no longer",
		    env->engine.servers[server].name);
	call_arm(env);
}
