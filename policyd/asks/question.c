/* SPDX-License-Identifier: ISC */
/*
 * Decides which questions of servers reach the person, and what a person's
 * answer means. The first event ends a question; any later one is too late.
 * What is sent to the server was checked against its form here, whoever says
 * that it was.
 */
#include "asks/question.h"

#include <stdio.h>

#include "asks/question_priv.h"
#include "common/json/json.h"
#include "common/log.h"

static void questions_arm(struct policyd_env *);

static struct question *
question_find(struct policyd_env *env, uint64_t id)
{
	for (unsigned i = 0; i < PROTO_MAX_QUESTIONS; i++)
		if (env->questions.list[i].id == id)
			return &env->questions.list[i];
	return NULL;
}

static void
question_free(struct question *q)
{
	buf_free(&q->asked);
	explicit_bzero(q, sizeof(*q));
}

void
questions_free(struct policyd_env *env)
{
	for (unsigned i = 0; i < PROTO_MAX_QUESTIONS; i++)
		question_free(&env->questions.list[i]);
}

/*
 * Tell mcp-proxyd that the call waits for the person, or, with `ms` of 0 and no
 * other question of it, that it no longer does.
 */
static void
question_tell(struct policyd_env *env, uint64_t call, uint32_t ms)
{
	const struct msg_CALL_HELD m = {.id = call, .ms = ms, .question = 1};
	const struct question *q = env->questions.list;

	for (unsigned i = 0; ms == 0 && i < PROTO_MAX_QUESTIONS; i++)
		if (q[i].id != 0 && q[i].from.call == call && !q[i].from.wanted)
			return;
	if (calls_table_find(&env->calls, call) != NULL)
		env->send(env, ROLE_PROXY, MSG_CALL_HELD, &m);
}

/* Record it, and then tell the server. */
static void
question_finish(struct policyd_env *env, struct question *q,
    enum proto_action end, enum proto_hold how, struct span content)
{
	struct question was = *q;

	memset(q, 0, sizeof(*q));
	question_record(env, &was, end, how, content);
	if (!was.from.wanted)
		question_tell(env, was.from.call, 0);
	was.from.ended(env, &was.from, end, content);
	question_free(&was);
}

static void
questions_due(struct loop_timer *t)
{
	questions_arm(t->arg);
}

/* End questions that nobody answered, and set the timer for the next. */
static void
questions_arm(struct policyd_env *env)
{
	uint64_t now = loop_now(env->loop), next = UINT64_MAX;
	struct question *q;

	for (unsigned i = 0; i < PROTO_MAX_QUESTIONS; i++) {
		q = &env->questions.list[i];
		if (q->id == 0)
			continue;
		if (q->expires <= now)
			question_finish(env, q, PROTO_ACTION_DECLINE,
			    PROTO_HOLD_EXPIRED, span_of(NULL, 0));
		else if (q->expires < next)
			next = q->expires;
	}
	if (next == UINT64_MAX)
		loop_timer_clear(env->loop, &env->questions.timer);
	else
		loop_timer_set(env->loop, &env->questions.timer, next - now,
		    questions_due, env);
}

static bool
is_open(const struct call *c, const struct question_from *from)
{
	uint64_t id;

	if (c->id == 0 || c->at != from->server || c->state != CALL_RELEASED ||
	    !c->forwarded || c->cancelled || c->tool[0] == '\0')
		return false;
	for (size_t i = 0; i + sizeof(id) <= from->done.len; i += sizeof(id)) {
		memcpy(&id, from->done.p + i, sizeof(id));
		if (id == c->id)
			return false;
	}
	return true;
}

static void
call_copy(struct question_call *to, const struct call *c)
{
	to->id = c->id;
	to->server = c->server;
	to->at = c->at;
	memcpy(to->digest, c->digest, sizeof(to->digest));
	memcpy(to->tool, c->tool, sizeof(to->tool));
}

/*
 * Find the call that the question belongs to. On a pipe nothing says which: it
 * is the latest, and others are counted. An error's call may have ended.
 * Returns the call if it is open; *to has id 0 if there is none.
 */
static struct call *
call_of(struct policyd_env *env, const struct question_from *from,
    struct question_call *to, unsigned *others)
{
	const struct questions *qs = &env->questions;
	struct call *c, *found = NULL;

	*others = 0;
	*to = (struct question_call){.id = 0};
	for (unsigned i = 0; i < CALLS_MAX; i++) {
		c = &env->calls.list[i];
		if (!is_open(c, from) ||
		    (from->call != 0 && c->id != from->call))
			continue;
		*others += found != NULL;
		if (found == NULL || c->id > found->id)
			found = c;
	}
	if (found != NULL) {
		call_copy(to, found);
		return found;
	}
	for (unsigned i = 0; from->wanted && i < QUESTIONS_ENDED; i++)
		if (qs->ended[i].id == from->call && from->call != 0 &&
		    qs->ended[i].at == from->server)
			*to = qs->ended[i];
	return NULL;
}

/* Returns NULL, or why the server may not ask now. */
static const char *
may_ask(struct policyd_env *env, const struct question_from *from,
    const struct call *call, const struct question_call *of)
{
	struct questions *qs = &env->questions;
	unsigned waiting = 0, all = 0;

	if ((env->engine.servers[from->server].reach & PROTO_REACH_SILENT) != 0)
		return "The user is not asked by this server";
	if (of->id == 0)
		return "IronCurtain asks the user only while a call of this "
		       "server is open";
	if ((env->engine.servers[of->server].reach & PROTO_REACH_SILENT) != 0)
		return "The user is not asked by this server";
	if (call != NULL && call->questions == QUESTIONS_CALL)
		return "A call may ask the user 3 times";
	for (unsigned i = 0; i < PROTO_MAX_QUESTIONS; i++) {
		all += qs->list[i].id != 0;
		waiting += qs->list[i].id != 0 &&
			   qs->list[i].from.server == from->server;
	}
	/* Half of the list is for servers of which none waits. */
	if (waiting == QUESTIONS_WAITING ||
	    (waiting != 0 && all >= PROTO_MAX_QUESTIONS / 2))
		return "Other questions of this server wait for the user. Ask "
		       "again when one of them was answered";
	if (qs->asked == QUESTIONS_MAX_ASKED ||
	    qs->of_server[from->server] == QUESTIONS_EACH)
		return "The user is not asked any more in this session";
	return NULL;
}

const char *
question_take(struct policyd_env *env, const struct question_from *from,
    const struct value *params)
{
	struct question_text t = {.others = 0};
	struct questions *qs = &env->questions;
	struct question *q;
	struct call *call;
	const char *why;
	uint32_t ms = env->engine.hold_ms;

	call = call_of(env, from, &t.call, &t.others);
	if ((why = may_ask(env, from, call, &t.call)) != NULL ||
	    (why = question_check(env, &t, params)) != NULL)
		return why;
	/* Nobody is there to answer: at once what silence would mean. */
	if (!env->engine.ask) {
		from->ended(env, from, PROTO_ACTION_DECLINE, span_of(NULL, 0));
		return NULL;
	}
	if ((q = question_find(env, 0)) == NULL)
		return "Too many questions wait for the user. Ask again later";
	if (ms > PROTO_CALL_MS)
		ms = PROTO_CALL_MS;
	q->from = *from;
	q->from.done = span_of(NULL, 0);
	q->from.call = t.call.id;
	q->server = t.call.server;
	q->form = t.url.p == NULL;
	q->expires = loop_now(env->loop) + ms;
	memcpy(q->call_digest, t.call.digest, sizeof(q->call_digest));
	q->id = PROTO_ASK_ID | PROTO_QUESTION_ID | (qs->last + 1);
	if (question_write(q, &t) == -1 ||
	    hold_digest(span_str(env->engine.servers[t.call.server].name),
		SPAN("elicitation/create"), buf_span(&q->asked),
		span_of(NULL, 0), q->digest) == -1 ||
	    question_show(env, q, &t, ms) == -1) {
		question_free(q);
		return "The question is too long";
	}
	qs->last++;
	qs->asked++;
	qs->of_server[from->server]++;
	if (call != NULL)
		call->questions++;
	if (!from->wanted)
		question_tell(env, t.call.id, ms);
	questions_arm(env);
	return NULL;
}

/*
 * Check the person's answer against the form that was shown. Returns it as
 * canonical JSON in `b`, or NULL if it does not fit.
 */
static const char *
answer_bad(struct policyd_env *env, const struct question *q,
    struct span answer, struct buf *b)
{
	const struct value *asked, *v;
	struct form form;

	asked = json_read(env->pool, buf_span(&q->asked), NULL);
	if (form_from_schema(&form, value_get(asked, "requestedSchema")) == -1)
		return "its form";
	if ((v = json_read(env->pool, answer, NULL)) == NULL)
		return "it is no JSON";
	if (form_check(&form, v) == -1)
		return (const char *)reason_printf(env->pool, "%s", form.why).p;
	return json_write(b, v) == -1 ? "it is too long" : NULL;
}

static bool
question_accept(struct policyd_env *env, struct question *q, struct span answer)
{
	const char *why = NULL;
	struct buf b;

	buf_init(&b, PROTO_MAX_ANSWER);
	if (q->form)
		why = answer_bad(env, q, answer, &b);
	else if (answer.len != 0)
		why = "an address takes no values";
	if (why == NULL)
		question_finish(env, q, PROTO_ACTION_ACCEPT,
		    PROTO_HOLD_APPROVED,
		    q->form ? buf_span(&b) : span_of(NULL, 0));
	else
		log_warnx(
		    "an answer to a server's question is refused: %s", why);
	buf_free(&b);
	return why == NULL;
}

void
questions_verdict(struct policyd_env *env, const struct msg_VERDICT_GO *m)
{
	const struct msg_LATE late = {.id = m->id};
	struct question *q;

	value_pool_reset(env->pool);
	questions_arm(env);
	q = question_find(env, m->id);
	/* The answer must be to what was shown, and a person's. */
	if (q == NULL || m->session.len != 0 || m->times != 0 ||
	    m->automatic != 0 ||
	    !span_eq(m->digest, span_of(q->digest, sizeof(q->digest))))
		env->send(env, ROLE_AUDIT, MSG_LATE, &late);
	else if (!m->approve)
		question_finish(env, q, PROTO_ACTION_DECLINE, PROTO_HOLD_DENIED,
		    span_of(NULL, 0));
	else if (!question_accept(env, q, m->answer))
		env->send(env, ROLE_AUDIT, MSG_LATE, &late);
	questions_arm(env);
	value_pool_reset(env->pool);
}

void
questions_call_ended(struct policyd_env *env, const struct call *c)
{
	struct questions *qs = &env->questions;
	struct question *q;

	if (c->tool[0] == '\0')
		return;
	call_copy(&qs->ended[qs->nended++ % QUESTIONS_ENDED], c);
	for (unsigned i = 0; i < PROTO_MAX_QUESTIONS; i++) {
		q = &qs->list[i];
		if (q->id != 0 && q->from.call == c->id && !q->from.wanted)
			question_finish(env, q, PROTO_ACTION_CANCEL,
			    PROTO_HOLD_CANCELLED, span_of(NULL, 0));
	}
}

static void
nothing(struct policyd_env *env, const struct question_from *from,
    enum proto_action end, struct span content)
{
}

void
questions_server_gone(struct policyd_env *env, uint16_t server)
{
	struct question *q;

	for (unsigned i = 0; i < PROTO_MAX_QUESTIONS; i++) {
		q = &env->questions.list[i];
		if (q->id == 0 || q->from.server != server)
			continue;
		q->from.ended = nothing;
		question_finish(env, q, PROTO_ACTION_CANCEL,
		    PROTO_HOLD_CANCELLED, span_of(NULL, 0));
	}
	questions_arm(env);
}

/* The answer to a server's own request. */
static void
request_ended(struct policyd_env *env, const struct question_from *from,
    enum proto_action end, struct span content)
{
	static const char *const actions[] = {"accept", "decline", "cancel"};

	if (compose_elicited(&env->line, from->string, span_str(from->rid),
		actions[end], content) == 0)
		session_send(env, from->server, "elicitation");
	else
		buf_reset(&env->line, 0);
}

static void
request_refuse(
    struct policyd_env *env, const struct question_from *from, const char *why)
{
	char shown[400];

	log_info("a question of server %s is refused: %s",
	    env->engine.servers[from->server].name != NULL
		? env->engine.servers[from->server].name
		: "for one call",
	    log_vis(span_str(why), shown, sizeof(shown)));
	if (compose_error(&env->line, from->string, span_str(from->rid), -32602,
		span_str(why)) == 0)
		session_send(env, from->server, "elicitation-refused");
	else
		buf_reset(&env->line, 0);
}

void
questions_asked(
    struct policyd_env *env, uint16_t index, const struct msg_ASKED *m)
{
	struct question_from from = {.server = index,
	    .call = m->call,
	    .wanted = m->kind == PROTO_ASKED_WANTED,
	    .done = m->done,
	    .string = m->string != 0,
	    .ended = m->kind == PROTO_ASKED_REQUEST ? request_ended : nothing};
	const struct value *params;
	const char *why;

	if (!(index >= PROTO_FIRST_INSTANCE ? instance_may_answer(env, index)
					    : session_may_answer(env, index)) ||
	    (m->kind == PROTO_ASKED_REQUEST &&
		!session_rid_good(m->string != 0, m->rid)) ||
	    span_copy(m->rid, from.rid, sizeof(from.rid)) == -1)
		return;
	value_pool_reset(env->pool);
	params = value_decode(env->pool, m->tree);
	why = params == NULL ? "The parameters cannot be read"
			     : question_take(env, &from, params);
	if (why != NULL && m->kind == PROTO_ASKED_REQUEST)
		request_refuse(env, &from, why);
	else if (why != NULL)
		log_info("an address that server %u wants to have opened is "
			 "not shown: %s",
		    index, why);
	value_pool_reset(env->pool);
}
