/* SPDX-License-Identifier: ISC */
/*
 * Requests that wait for a person: from REQUEST_ASK to REQUEST_APPROVED or
 * REQUEST_UNAPPROVED. The first event ends a request (a verdict, its expiry,
 * the agent's disconnect); any later event is too late.
 */
#include "approval/request_holds.h"

#include <stdlib.h>

#include "approval/forge_holds.h"
#include "policyd.h"

#define ASK_PREVIEW (256U << 10)

static void asks_arm(struct policyd_env *);

static void
ask_free(struct ask *k)
{
	if (k->mem != NULL)
		freezero(k->mem, k->size + 1);
	forge_ask_free(k);
	buf_free(&k->preview);
	buf_free(&k->tree);
	explicit_bzero(k, sizeof(*k));
}

void
asks_free(struct policyd_env *env)
{
	for (unsigned i = 0; i < PROTO_MAX_ASKS; i++)
		ask_free(&env->asks.list[i]);
	buf_free(&env->asks.tree);
}

static struct ask *
ask_find(struct policyd_env *env, uint64_t id)
{
	for (unsigned i = 0; i < PROTO_MAX_ASKS; i++)
		if (env->asks.list[i].id == id)
			return &env->asks.list[i];
	return NULL;
}

/* Copy the message into memory of the ask. */
static int
ask_copy(struct ask *k, const struct msg_REQUEST_ASK *m)
{
	const struct proto_msg *row = proto_find(MSG_REQUEST_ASK);
	uint8_t *to, *at;
	struct span s;

	for (size_t i = 0; i < row->nfields; i++) {
		if (row->fields[i].kind < PROTO_str)
			continue;
		memcpy(
		    &s, (const uint8_t *)m + row->fields[i].offset, sizeof(s));
		k->size += s.len;
	}
	if ((to = k->mem = malloc(k->size + 1)) == NULL)
		return -1;
	k->msg = *m;
	for (size_t i = 0; i < row->nfields; i++) {
		if (row->fields[i].kind < PROTO_str)
			continue;
		at = (uint8_t *)&k->msg + row->fields[i].offset;
		memcpy(&s, at, sizeof(s));
		if (s.len != 0)
			memcpy(to, s.p, s.len);
		s.p = to;
		to += s.len;
		memcpy(at, &s, sizeof(s));
	}
	return 0;
}

/*
 * Initialise an ask: copy the message, compose the preview, compute the digest.
 */
static int
ask_make(
    struct policyd_env *env, struct ask *k, const struct msg_REQUEST_ASK *m)
{
	struct approved asked;

	k->id = PROTO_ASK_ID | m->id;
	k->expires = loop_now(env->loop) + env->engine.hold_ms;
	buf_init(&k->preview, ASK_PREVIEW);
	asked = ask_request(m);
	approved_target(&asked, k->tool, sizeof(k->tool));
	if (ask_copy(k, m) == -1 || ask_preview(&k->msg, &k->preview) == -1 ||
	    hold_digest(k->msg.name, span_str(k->tool), buf_span(&k->preview),
		span_of(NULL, 0), k->digest) == -1)
		return -1;
	return 0;
}

static void
ask_refuse(struct policyd_env *env, struct ask *k, enum proto_hold how,
    enum proto_refused reason)
{
	struct msg_REQUEST_UNAPPROVED no = {.id = k->msg.id,
	    .provider = k->msg.provider,
	    .stream = k->msg.stream,
	    .exchange = k->msg.exchange,
	    .hold = (uint8_t)how,
	    .reason = (uint8_t)reason,
	    .name = k->msg.name,
	    .tool = span_str(k->tool),
	    .digest = span_of(k->digest, sizeof(k->digest)),
	    .preview = buf_span(&k->preview)};

	env->send(env, ROLE_AUDIT, MSG_REQUEST_UNAPPROVED, &no);
	ask_free(k);
}

static void
ask_release(struct policyd_env *env, struct ask *k)
{
	struct msg_REQUEST_APPROVED go = {F_REQUEST_ASK(PROTO_COPY, &k->msg)};

	go.asked = 1;
	go.held = k->shown;
	go.digest = span_of(k->digest, sizeof(k->digest));
	go.preview = buf_span(&k->preview);
	env->send(env, ROLE_AUDIT, MSG_REQUEST_APPROVED, &go);
	ask_free(k);
}

static struct span
ask_reason(const struct ask *k)
{
	if (k->forge != NULL)
		return SPAN("What others see on a forge is approved one by "
			    "one");
	if (k->msg.refs.len != 0)
		return SPAN("A push changes what others see");
	return SPAN("Requests to this endpoint are approved one by one");
}

/* Show the request. Returns 0, or -1 if it is too large to show. */
static int
ask_show(struct policyd_env *env, struct ask *k)
{
	struct msg_HOLD hold = {.id = k->id,
	    .digest = span_of(k->digest, sizeof(k->digest)),
	    .server = PROTO_NO_SERVER,
	    .server_name = k->msg.name,
	    .tool = span_str(k->tool),
	    .rule = SPAN("ask-route"),
	    .reason = ask_reason(k),
	    .ms = env->engine.hold_ms,
	    .session = SPAN("")};
	struct details d;

	if (k->forge != NULL
		? forge_ask_details(&d, k) == -1
		: details_ask(&d, &k->msg, buf_span(&k->preview)) == -1)
		return -1;
	k->shown = true;
	hold.effect = span_str(d.effect);
	hold.args = (uint32_t)d.args;
	hold.preview = buf_span(&d.text);
	env->send(env, ROLE_AUDIT, MSG_HOLD, &hold);
	details_free(&d);
	return 0;
}

static void
asks_due(struct loop_timer *t)
{
	asks_arm(t->arg);
}

/* End expired requests and set the timer for the next. */
static void
asks_arm(struct policyd_env *env)
{
	uint64_t now = loop_now(env->loop), next = UINT64_MAX;
	struct ask *k;

	for (unsigned i = 0; i < PROTO_MAX_ASKS; i++) {
		k = &env->asks.list[i];
		if (k->id == 0)
			continue;
		if (k->expires <= now)
			ask_refuse(
			    env, k, PROTO_HOLD_EXPIRED, PROTO_REFUSED_EXPIRED);
		else if (k->expires < next)
			next = k->expires;
	}
	if (next == UINT64_MAX)
		loop_timer_clear(env->loop, &env->asks.timer);
	else
		loop_timer_set(
		    env->loop, &env->asks.timer, next - now, asks_due, env);
}

/* Admit a request. mitmd has the same limit, and one exchange per stream. */
static struct ask *
asks_admit(
    struct policyd_env *env, const struct msg_REQUEST_ASK *m, const char **why)
{
	struct asks *as = &env->asks;

	*why = "id repeated or falling";
	if (m->id <= as->last)
		return NULL;
	as->last = m->id;
	*why = "a request of a stream that waits already";
	for (unsigned i = 0; i < PROTO_MAX_ASKS; i++)
		if (as->list[i].id != 0 && as->list[i].msg.stream == m->stream)
			return NULL;
	*why = "more requests than may wait";
	return ask_find(env, 0);
}

/* Everything is known about the request: ask a person, or release it. */
static void
ask_decide(struct policyd_env *env, struct ask *k)
{
	if (k->forge != NULL && forge_ask_word(k) == FORGE_ALLOW)
		ask_release(env, k);
	else if (!env->engine.ask)
		ask_refuse(env, k, PROTO_HOLD_NONE, PROTO_REFUSED_HEADLESS);
	else if (ask_show(env, k) == -1)
		ask_refuse(env, k, PROTO_HOLD_NONE, PROTO_REFUSED_LARGE);
}

int
asks_take(
    struct policyd_env *env, const struct msg_REQUEST_ASK *m, const char **why)
{
	bool forge = env->forges[m->provider] != NULL;
	struct ask *k;

	if ((*why = ask_check(m)) != NULL ||
	    (k = asks_admit(env, m, why)) == NULL)
		return -1;
	*why = "a tree where there is no forge, or the other way round";
	if (forge != (env->asks.tree_of == m->id))
		return -1;
	*why = "out of memory";
	if (forge) {
		k->tree = env->asks.tree;
		buf_init(&env->asks.tree, PROTO_MAX_FORGE_TREE);
		env->asks.tree_of = 0;
	}
	if (ask_make(env, k, m) == -1 ||
	    (forge && forge_ask_make(env, k, why) == -1)) {
		ask_free(k);
		return -1;
	}
	if (!forge || forge_ask_known(env, k))
		ask_decide(env, k);
	asks_arm(env);
	return 0;
}

int
asks_tree(struct policyd_env *env, const struct msg_FORGE_TREE *m,
    const char **why)
{
	struct asks *as = &env->asks;

	*why = "id repeated or falling, or another one is not complete";
	if (m->id <= as->last || (as->tree_of != 0 && as->tree_of != m->id))
		return -1;
	if (as->tree_of == 0)
		buf_init(&as->tree, PROTO_MAX_FORGE_TREE);
	as->tree_of = m->id;
	buf_addspan(&as->tree, m->piece);
	*why = "longer than a tree may be";
	return buf_check(&as->tree);
}

int
asks_found(struct policyd_env *env, const struct msg_FORGE_FOUND_GO *m,
    const char **why)
{
	struct ask *k = ask_find(env, PROTO_ASK_ID | m->id);

	*why = "never asked";
	if (m->id == 0 || m->id > env->asks.last)
		return -1;
	/* The request may have ended meanwhile. */
	if (k == NULL || k->shown)
		return 0;
	/* No other destination says what an id of this one is. */
	*why = "of another destination";
	if (m->provider != k->msg.provider)
		return -1;
	if (forge_ask_found(k, m, why) == -1)
		ask_refuse(
		    env, k, PROTO_HOLD_NONE, PROTO_REFUSED_ELSEWHERE);
	else if (k->forge->nfound == k->forge->call.nrefs)
		ask_decide(env, k);
	asks_arm(env);
	return 0;
}

int
asks_cancel(struct policyd_env *env, uint32_t id, const char **why)
{
	struct ask *k = ask_find(env, PROTO_ASK_ID | id);

	*why = "never asked";
	if (id == 0 || id > env->asks.last)
		return -1;
	/* The request may have ended before this message arrived. */
	if (k != NULL)
		ask_refuse(env, k, PROTO_HOLD_CANCELLED, PROTO_REFUSED_DENIED);
	asks_arm(env);
	return 0;
}

void
asks_verdict(struct policyd_env *env, const struct msg_VERDICT_GO *m)
{
	struct msg_LATE late = {.id = m->id};
	struct ask *k;

	asks_arm(env);
	k = ask_find(env, m->id);
	/*
	 * The verdict must be about what was shown, and only for this request:
	 * while its ids are looked up, nothing was shown yet.
	 */
	if (k == NULL || !k->shown || m->session.len != 0 ||
	    !span_eq(m->digest, span_of(k->digest, sizeof(k->digest))))
		env->send(env, ROLE_AUDIT, MSG_LATE, &late);
	else if (m->approve)
		ask_release(env, k);
	else
		ask_refuse(env, k, PROTO_HOLD_DENIED, PROTO_REFUSED_DENIED);
	asks_arm(env);
}
