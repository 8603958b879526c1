/* SPDX-License-Identifier: ISC */
/*
 * Shows a call that a person decides: the call is held and reported to those
 * who show it, with what an approval for the session would grant.
 */
#include "policyd.h"

#include "details.h"

/* Note the tool's definition and the rule, to which the grant is bound. */
static void
offer_bind(const struct policyd_env *env, const struct work *k, struct grant *g)
{
	const struct session_tool *t = NULL;

	if (k->server < PROTO_MAX_SERVERS)
		t = tools_find(&env->sessions[k->server].tools, k->tool);
	if (t != NULL)
		memcpy(g->def, t->digest, sizeof(g->def));
	/* No rule has the digest of all ones: the grant is not restored. */
	if (k->d.by != NULL && rule_digest(k->d.by, g->law) == -1)
		memset(g->law, UINT8_MAX, sizeof(g->law));
}

int
work_offer(struct policyd_env *env, const struct work *k, struct grant *g,
    struct span *text)
{
	struct request r = work_request(env, k);

	*text = span_of(NULL, 0);
	/* The settings may ask about each call. */
	if (k->srv == NULL || k->d.person)
		return -1;
	if ((k->annot == NULL ||
		grant_offer(&env->engine, &r, &k->d, g) == -1) &&
	    tool_grant_offer(env, k, g) == -1)
		return -1;
	offer_bind(env, k, g);
	return grant_text(g, env->pool, text);
}

int
work_show(struct policyd_env *env, struct hold *h, const struct work *k,
    struct span args)
{
	struct msg_HOLD m = {
	    .id = k->id,
	    .server = k->server,
	    .digest = span_of(h->digest, sizeof(h->digest)),
	    .server_name = k->server_name,
	    .tool = k->tool,
	    .rule = k->d.rule,
	    .reason = k->d.reason,
	    .ms = h->expires > loop_now(env->loop)
		      ? (uint32_t)(h->expires - loop_now(env->loop))
		      : 0,
	    .session = span_str(h->session),
	};
	uint8_t told[HOLD_DIGEST];
	struct details d;

	m.automatic = h->automatic = auto_permits(env, k);
	if (details_call(&d, env, k, args) == -1)
		return -1;
	m.effect = span_str(d.effect);
	m.logged = work_log_text(env, m.effect);
	if (span_eq(m.logged, m.effect))
		m.logged = SPAN("");
	m.args = (uint32_t)d.args;
	m.preview = buf_span(&d.text);
	hold_told(&m, told);
	/* The same text was shown already: do not show it again. */
	if (memcmp(told, h->told, sizeof(told)) != 0)
		env->send(env, ROLE_AUDIT, MSG_HOLD, &m);
	memcpy(h->told, told, sizeof(told));
	details_free(&d);
	return 0;
}

enum work_way
work_hold(struct policyd_env *env, struct call *call, struct work *k,
    struct span args, const struct composed *c)
{
	struct span line = buf_span(&env->line), preview, session;
	struct msg_CALL_HELD held = {.id = k->id, .ms = env->engine.hold_ms};
	struct grant g;
	struct hold *h;

	preview = span_of(line.p + c->args_off, c->args_len);
	if ((h = hold_new(&env->holds, k->id, args)) == NULL) {
		k->answer =
		    SPAN("DENIED: Too many calls wait for approval "
			 "already\nTry again when the user has answered some.");
		return work_refuse(k, "hold-limit",
		    SPAN("Too many calls wait for approval already"));
	}
	if (work_offer(env, k, &g, &session) == -1)
		session = SPAN("");
	if (work_note(env, k, c, h) == -1 ||
	    span_copy(session, h->session, sizeof(h->session)) == -1) {
		hold_free(&env->holds, h);
		return work_refuse(k, "hold-limit", SPAN("It cannot be held"));
	}
	h->ms = env->engine.hold_ms;
	h->expires = loop_now(env->loop) + h->ms;
	if (work_show(env, h, k, preview) == -1) {
		hold_free(&env->holds, h);
		return work_refuse(k, "hold-limit", SPAN("It cannot be held"));
	}
	call->state = CALL_HELD;
	env->send(env, ROLE_PROXY, MSG_CALL_HELD, &held);
	buf_reset(&env->line, WORK_LINE_KEEP);
	return WORK_ASK;
}
