/* SPDX-License-Identifier: ISC */
/*
 * Takes a call outside the views through its instance after it was allowed or
 * approved: requested, initialised, called, dropped. What the new process
 * reports is as untrusted as any server's word; all that counts is that it
 * runs. The call is rebuilt before it is sent, because files may have changed
 * while the process started.
 */
#include "instance.h"

#include <stdio.h>

#include "common/log.h"
#include "instance_priv.h"
#include "policyd.h"

#define FINAL "\nNothing was done. Do not retry: the answer will be the same."

static struct instance *
find_call(struct policyd_env *env, uint64_t call)
{
	struct instance *i;

	for (i = env->instances; i < env->instances + INSTANCE_MAX; i++) {
		if (i->state != INSTANCE_NONE && i->hold.id == call)
			return i;
	}
	return NULL;
}

static struct instance *
find_index(struct policyd_env *env, uint16_t index)
{
	struct instance *i;

	for (i = env->instances; i < env->instances + INSTANCE_MAX; i++) {
		if (i->state > INSTANCE_ASKED && i->index == index)
			return i;
	}
	return NULL;
}

unsigned
instance_running(const struct policyd_env *env)
{
	unsigned n = env->ending;

	for (size_t i = 0; i < INSTANCE_MAX; i++)
		n += env->instances[i].state > INSTANCE_QUEUED;
	return n;
}

static void due(struct loop_timer *);

/* Set the timer to the first deadline of the instances that are starting. */
static void
arm(struct policyd_env *env)
{
	uint64_t first = 0, now = loop_now(env->loop), at;
	const struct instance *i;

	for (i = env->instances; i < env->instances + INSTANCE_MAX; i++) {
		if (i->state < INSTANCE_ASKED || i->state > INSTANCE_READY)
			continue;
		at = i->asked + INSTANCE_MS;
		if (first == 0 || at < first)
			first = at;
	}
	if (first == 0)
		loop_timer_clear(env->loop, &env->instance_timer);
	else
		loop_timer_set(env->loop, &env->instance_timer,
		    first > now ? first - now : 0, due, env);
}

/* Request the instance; each object has a message of its own. */
void
instance_ask(
    struct policyd_env *env, struct instance *i, const struct outside *o)
{
	const struct hold_object *b;
	struct msg_INSTANCE m = {.call = i->hold.id, .server = i->hold.server};

	for (unsigned k = 0; k < o->n; k++) {
		b = &o->objects[k];
		m.kind = (uint8_t)b->kind;
		m.writable = b->writable;
		m.left = (uint8_t)(o->n - 1 - k);
		m.path = o->paths[k];
		m.dev = b->dev;
		m.ino = b->ino;
		m.own_dev = b->own_dev;
		m.own_ino = b->own_ino;
		env->send(env, ROLE_AUDIT, MSG_INSTANCE, &m);
	}
	i->state = INSTANCE_ASKED;
	i->asked = loop_now(env->loop);
	i->index = i->moved = 0;
	arm(env);
}

/* End the call unsent; `k` has been rebuilt and its decision has the reason. */
static void
refuse(struct policyd_env *env, struct instance *i, struct work *k,
    enum proto_hold how, struct span answer)
{
	struct call *call = calls_table_find(&env->calls, i->hold.id);

	k->d.status = PROTO_DENY;
	k->answer = answer;
	if (call != NULL)
		work_release(env, call, k, WORK_REFUSE, how, NULL);
	value_pool_reset(env->pool);
}

static void instance_next(struct policyd_env *);

/* Drop an instance that is no longer needed, or that never started. */
static void
drop(struct policyd_env *env, struct instance *i)
{
	struct msg_INSTANCE_DROP m = {.call = i->hold.id};
	bool asked = i->state > INSTANCE_QUEUED;

	hold_clear(&i->hold);
	*i = (struct instance){.state = INSTANCE_NONE};
	if (asked) {
		env->send(env, ROLE_AUDIT, MSG_INSTANCE_DROP, &m);
		env->ending++;
	}
	arm(env);
	instance_next(env);
}

static void fail(struct policyd_env *, struct instance *, bool changed,
    const char *more, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

static void
fail(struct policyd_env *env, struct instance *i, bool changed,
    const char *more, const char *fmt, ...)
{
	enum proto_hold how = i->how;
	struct span reason, answer;
	char text[LOAD_MAX_REASON / 2];
	struct work k;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (work_remake(env, &i->hold, &k) == 0) {
		(void)work_decide(env, &k);
		reason = reason_printf(env->pool, "%s", text);
		answer = reason_printf(env->pool, "%s: %s%s",
		    changed && how == PROTO_HOLD_APPROVED ? "ESCALATION CHANGED"
							  : "DENIED",
		    text, more);
		k.d.rule = changed ? SPAN("approval-changed")
				   : SPAN("instance-failed");
		k.d.reason = reason;
		if (changed && how == PROTO_HOLD_APPROVED)
			how = PROTO_HOLD_CHANGED;
		refuse(env, i, &k, how, answer);
	}
	drop(env, i);
}

/* Refuse the call with the reason of work_again(). */
static void
instance_fail_again(
    struct policyd_env *env, struct instance *i, const struct work *k)
{
	char text[600];

	log_vis_again(k->d.reason, text, sizeof(text));
	fail(env, i, true, INSTANCE_AGAIN, "it has changed since: %s", text);
}

/* Start the oldest instance in the queue. */
static void
instance_next(struct policyd_env *env)
{
	struct instance *i, *first = NULL;
	struct composed c;
	struct work k;

	for (i = env->instances; i < env->instances + INSTANCE_MAX; i++) {
		if (i->state == INSTANCE_QUEUED &&
		    (first == NULL || i->hold.id < first->hold.id))
			first = i;
	}
	if (first == NULL || instance_running(env) >= PROTO_MAX_INSTANCES ||
	    work_remake(env, &first->hold, &k) == -1)
		return;
	if (work_again(env, &first->hold, &k, &c) == WORK_REFUSE)
		instance_fail_again(env, first, &k);
	else
		instance_ask(env, first, &k.outside);
	buf_reset(&env->line, 1 << 16);
	value_pool_reset(env->pool);
}

static void
due(struct loop_timer *t)
{
	struct policyd_env *env = t->arg;
	struct instance *i;

	for (i = env->instances; i < env->instances + INSTANCE_MAX; i++) {
		if (i->state >= INSTANCE_ASKED && i->state <= INSTANCE_READY &&
		    i->asked + INSTANCE_MS <= loop_now(env->loop))
			fail(env, i, false, INSTANCE_AGAIN,
			    "The server process for this one call was not "
			    "ready "
			    "within %u s",
			    INSTANCE_MS / 1000);
	}
	arm(env);
}

/* Everything is ready: send the call if it is still the same. */
static void
release(struct policyd_env *env, struct instance *i)
{
	struct call *call = calls_table_find(&env->calls, i->hold.id);
	struct span rule, reason;
	struct composed c;
	struct work k;
	enum work_way way;

	if (i->state != INSTANCE_READY || i->moved != i->index)
		return;
	if (call == NULL || work_remake(env, &i->hold, &k) == -1) {
		drop(env, i);
		return;
	}
	rule = k.d.rule;
	reason = k.d.reason;
	way = work_again(env, &i->hold, &k, &c);
	if (way == WORK_ASK && i->how != PROTO_HOLD_APPROVED) {
		k.d.reason = SPAN("under the rules as they are now, the user "
				  "must be asked");
		way = WORK_REFUSE;
	}
	if (way == WORK_REFUSE) {
		instance_fail_again(env, i, &k);
		return;
	}
	if (i->how == PROTO_HOLD_APPROVED) {
		k.d.status = PROTO_ESCALATE;
		k.d.rule = rule;
		k.d.reason = reason;
	}
	call->at = i->index;
	i->state = INSTANCE_CALLED;
	work_release(env, call, &k, WORK_FORWARD, i->how, &c);
	value_pool_reset(env->pool);
	arm(env);
}

int
instance_go(struct policyd_env *env, const struct msg_INSTANCE_GO *m)
{
	struct instance *i = find_call(env, m->call);

	if (m->server < PROTO_FIRST_INSTANCE || find_index(env, m->server))
		return -1;
	/* The instance was dropped meanwhile. */
	if (i == NULL || i->state != INSTANCE_ASKED)
		return 0;
	i->index = m->server;
	i->state = INSTANCE_GREETED;
	if (env->sessions[i->hold.server].modern) {
		if (compose_discover(&env->line,
			session_elicits(env, i->hold.server)) == 0)
			session_send(env, i->index, "server/discover");
	} else if (compose_initialize(&env->line,
		       !env->engine.servers[i->hold.server].own &&
			   session_elicits(env, i->hold.server)) == 0) {
		session_send(env, i->index, "initialize");
	}
	return 0;
}

/* The instance is a process of a server of the newer revision. */
void
instance_discovered(
    struct policyd_env *env, uint16_t index, const struct msg_DISCOVERED *m)
{
	struct instance *i = find_index(env, index);

	if (i == NULL || i->state != INSTANCE_GREETED)
		return;
	if (m->how != PROTO_DISCOVERED_MODERN) {
		fail(env, i, false, FINAL,
		    "Server \"%s\" refused server/discover when it was started "
		    "for this one call",
		    env->engine.servers[i->hold.server].name);
		return;
	}
	i->state = INSTANCE_READY;
	release(env, i);
}

void
instance_no(struct policyd_env *env, const struct msg_INSTANCE_FAIL_GO *m)
{
	struct instance *i = find_call(env, m->call);
	char text[600];

	if (i == NULL || i->state < INSTANCE_ASKED ||
	    i->state == INSTANCE_CALLED)
		return;
	log_vis_again(m->text, text, sizeof(text));
	fail(env, i, m->changed != 0, m->changed != 0 ? INSTANCE_AGAIN : FINAL,
	    "%s", text);
}

int
instance_room(struct policyd_env *env)
{
	if (env->ending == 0)
		return -1;
	env->ending--;
	instance_next(env);
	return 0;
}

void
instance_moved(struct policyd_env *env, const struct msg_MOVED *m)
{
	struct instance *i = find_call(env, m->id);

	if (i == NULL || i->state < INSTANCE_ASKED)
		return;
	i->moved = m->server;
	release(env, i);
}

void
instance_init_result(
    struct policyd_env *env, uint16_t index, const struct msg_INIT_RESULT *m)
{
	struct instance *i = find_index(env, index);

	if (i == NULL || i->state != INSTANCE_GREETED)
		return;
	if (!m->good || !session_version_known(m->version)) {
		fail(env, i, false, FINAL,
		    "Server \"%s\" refused initialize when it was started "
		    "for this one call",
		    env->engine.servers[i->hold.server].name);
		return;
	}
	if (compose_initialized(&env->line) == 0)
		session_send(env, index, "initialized");
	i->state = INSTANCE_READY;
	release(env, i);
}

void
instance_gone(struct policyd_env *env, uint16_t index, struct span text)
{
	struct instance *i = find_index(env, index);
	char vis[500];

	/* auditd, which is told as well, answers calls that were sent. */
	if (i == NULL || i->state == INSTANCE_CALLED)
		return;
	fail(env, i, false, FINAL,
	    "Server \"%s\", started for this one call, ended: %s",
	    env->engine.servers[i->hold.server].name,
	    log_vis_again(text, vis, sizeof(vis)));
}

bool
instance_may_answer(struct policyd_env *env, uint16_t index)
{
	struct instance *i = find_index(env, index);

	if (i == NULL || i->answers == INSTANCE_ANSWERS)
		return false;
	i->answers++;
	return true;
}

void
instance_request(
    struct policyd_env *env, uint16_t index, const struct msg_SERVER_REQUEST *m)
{
	bool ping = span_is(m->method, "ping");
	int r;

	if (!instance_may_answer(env, index) ||
	    !session_rid_good(m->string != 0, m->rid))
		return;
	r = ping ? compose_pong(&env->line, m->string, m->rid)
		 : compose_unknown(&env->line, m->string, m->rid);
	if (r == 0)
		session_send(env, index, ping ? "pong" : "unknown-method");
	else
		buf_reset(&env->line, 0);
}

bool
instance_cancel(struct policyd_env *env, uint64_t call)
{
	struct instance *i = find_call(env, call);
	struct work k;

	if (i == NULL || i->state == INSTANCE_CALLED)
		return false;
	if (work_remake(env, &i->hold, &k) == 0) {
		(void)work_decide(env, &k);
		k.d.rule = SPAN("instance-cancelled");
		k.d.reason = SPAN("Cancelled before its server was ready");
		refuse(env, i, &k, i->how, SPAN("Error: cancelled"));
	}
	drop(env, i);
	return true;
}

void
instance_ended(struct policyd_env *env, uint64_t call)
{
	struct instance *i = find_call(env, call);

	if (i != NULL && i->state == INSTANCE_CALLED)
		drop(env, i);
}

void
instance_lost(struct policyd_env *env, unsigned index, bool proxy)
{
	const struct msg_INSTANCE_GONE m = {.server = (uint16_t)index};

	if (index < PROTO_FIRST_INSTANCE || index >= PROTO_MAX_SERVERS)
		return;
	(proxy ? env->lost_proxy : env->lost)[index] = true;
	if (!env->lost[index] || !env->lost_proxy[index])
		return;
	env->lost[index] = env->lost_proxy[index] = false;
	env->send(env, ROLE_AUDIT, MSG_INSTANCE_GONE, &m);
}

void
instances_free(struct policyd_env *env)
{
	for (size_t i = 0; i < INSTANCE_MAX; i++) {
		if (env->instances[i].state != INSTANCE_NONE)
			hold_clear(&env->instances[i].hold);
	}
}
