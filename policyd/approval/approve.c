/* SPDX-License-Identifier: ISC */
/*
 * Ends held calls. An approval is for the bytes that were shown: the call is
 * rebuilt from what the agent sent, under the current rules and files, and is
 * sent only if it is still the same.
 */
#include "policyd.h"

#include "common/log.h"
#include "common/sha256.h"
#include "common/visible.h"

/*
 * Grant what was shown for the session. Returns the id, or 0 if nothing was
 * granted.
 */
static uint64_t
grant(struct policyd_env *env, const struct hold *h, const struct work *k)
{
	uint8_t digest[HOLD_DIGEST];
	struct span text;
	struct grant g;

	if (!h->for_session || work_offer(env, k, &g, &text) == -1 ||
	    (h->times != 0 && !g.counted))
		return 0;
	sha256_span(text, digest);
	if (!span_is(text, h->session) ||
	    memcmp(digest, h->shown, sizeof(digest)) != 0)
		return 0;
	if (h->times != 0) {
		g.form = GRANT_COUNTED;
		g.left = h->times;
		g.until = loop_now(env->loop) + PROTO_GRANT_MS;
	}
	if (grants_add(&env->grants, h->id, &g) == -1) {
		log_warn("the limit of approvals for the session is reached");
		return 0;
	}
	tool_grant_made(env, h->id);
	return h->id;
}

/* Rebuild the approved call and send it if it is still the same. */
static void
approve(struct policyd_env *env, struct hold *h, struct span urls)
{
	struct span rule, reason;
	struct composed c;
	struct call *call = calls_table_find(&env->calls, h->id);
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
			"ESCALATION CHANGED: the user approved it, but it has "
			"changed since: %.*s\nMake the call again if it is "
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
	/* The new grant may cover other pending calls. */
	if (granted)
		call_redecide(env, PROTO_HOLD_APPROVED);
}

/* Go on with an approved call once its remotes were resolved again. */
static void
approve_led(
    struct policyd_env *env, const struct remotes_ask *a, struct span urls)
{
	struct hold *h;

	if ((h = hold_led(env, a->id, urls)) == NULL)
		return;
	approve(env, h, urls);
	call_arm(env);
}

/* The approver can approve one call, and do nothing else. */
static bool
verdict_permitted(const struct hold *h, const struct msg_VERDICT_GO *m)
{
	return h->automatic && m->approve != 0 && m->session.len == 0 &&
	       m->times == 0;
}

/* Refuse the held call, with the user's words. */
static void
verdict_deny(struct policyd_env *env, struct hold *h, struct span because)
{
	struct span reason = reason_bare(span_str(h->reason));
	struct buf b;

	buf_init(&b, 600);
	/* Words that do not fit are left out. */
	(void)visible_add(&b, because, VISIBLE_PROSE);
	hold_refuse(env, h, PROTO_HOLD_DENIED,
	    "ESCALATION DENIED: the user denied this call (%.*s)%s%.*s",
	    (int)(reason.len < 1000 ? reason.len : 1000), reason.p,
	    b.len == 0 ? "" : "\nThe user says: ", (int)b.len,
	    b.len == 0 ? "" : (const char *)buf_span(&b).p);
	buf_free(&b);
}

void
call_verdict(struct policyd_env *env, const struct msg_VERDICT_GO *m)
{
	struct hold *h = hold_find(&env->holds, m->id);
	struct msg_LATE late = {.id = m->id};
	struct call *call;

	/* The verdict must be about what was shown: compare the digests. */
	if (h == NULL || h->asking ||
	    !span_eq(m->digest, span_of(h->digest, sizeof(h->digest)))) {
		env->send(env, ROLE_AUDIT, MSG_LATE, &late);
		return;
	}
	/* Checked here as well: icsupervisor is not the process that acts. */
	if (m->automatic && !verdict_permitted(h, m)) {
		log_warnx("the approver may not answer this call");
		env->send(env, ROLE_AUDIT, MSG_LATE, &late);
		return;
	}
	if (h->expires <= loop_now(env->loop)) {
		call_arm(env);
		env->send(env, ROLE_AUDIT, MSG_LATE, &late);
		return;
	}
	if ((call = calls_table_find(&env->calls, m->id)) != NULL)
		call->automatic = m->automatic != 0;
	if (m->approve) {
		h->for_session = m->session.len != 0;
		h->times = m->times;
		if (h->for_session)
			memcpy(h->shown, m->session.p, sizeof(h->shown));
	}
	if (m->approve && h->led) {
		if (!h->asking && !hold_ask_again(env, h, approve_led))
			hold_led_elsewhere(env, h);
	} else if (m->approve) {
		approve(env, h, span_of(NULL, 0));
	} else {
		tool_grants_end(env, h->server, span_str(h->tool), true,
		    "a call of the tool was denied");
		verdict_deny(env, h, m->because);
	}
	call_arm(env);
}

void
call_cancel(struct policyd_env *env, uint64_t id)
{
	struct call *call = calls_table_find(&env->calls, id);
	struct hold *h;

	/* The call may have ended before this message arrived. */
	if (call == NULL) {
		parts_cancelled(env, id);
		return;
	}
	if (call->cancelled)
		return;
	call->cancelled = true;
	if (call->forwarded)
		parts_given_up(&env->sessions[call->at], id);
	questions_call_ended(env, call);
	remotes_drop(env, id);
	early_drop(env, id);
	if ((h = hold_find(&env->holds, id)) != NULL) {
		hold_refuse(env, h, PROTO_HOLD_CANCELLED, "CANCELLED: %.1000s",
		    h->reason);
		call_arm(env);
	} else if (instance_cancel(env, id)) {
		return;
	} else if (call->forwarded && !session_is_dead(env, call->at) &&
		   compose_cancelled(&env->line, round_id(call)) == 0) {
		session_send_cancel(env, call->at, id);
	}
}

int
call_ended(struct policyd_env *env, uint64_t id, bool error, const char **why)
{
	struct call *call = calls_table_find(&env->calls, id);
	bool instance;

	*why = "the end of a call that is not in flight";
	if (call == NULL || call->state != CALL_RELEASED)
		return -1;
	if (error)
		parts_given_up(&env->sessions[call->at], id);
	/* The tool does not do what the person expected. */
	if (error && call->grant != 0)
		(void)tool_grant_end(
		    env, call->grant, true, "one of its calls failed");
	/* Only the call of an instance has its index. */
	instance = call->at >= PROTO_FIRST_INSTANCE;
	round_drop(env, call);
	questions_call_ended(env, call);
	calls_table_end(&env->calls, call);
	if (instance)
		instance_ended(env, id);
	return 0;
}
