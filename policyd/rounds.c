/* SPDX-License-Identifier: ISC */
#include "rounds.h"

#include <sys/random.h>

#include <stdio.h>
#include <stdlib.h>

#include "common/json/json.h"
#include "common/log.h"
#include "asks/question.h"
#include "policyd.h"

/* Every request that its server may ask about ends so. */
#define END "}}\n"

static void
asked_free(struct round *r)
{
	for (unsigned i = 0; i < r->nasked; i++) {
		free(r->asked[i].key);
		if (r->asked[i].answer != NULL)
			freezero(
			    r->asked[i].answer, strlen(r->asked[i].answer));
	}
	memset(r->asked, 0, sizeof(r->asked));
	r->nasked = 0;
	freezero(r->state, r->state_len);
	r->state = NULL;
	r->state_len = 0;
	r->open = false;
}

void
round_keep(struct policyd_env *env, struct call *call, const struct work *k,
    const struct composed *c)
{
	struct span line = buf_span(&env->line), args, named;
	size_t skip;
	struct round *r;

	if (!env->sessions[k->server].modern || k->srv->virtual ||
	    call->round != NULL)
		return;
	args = span_of(line.p + c->args_off, c->args_len);
	named = span_of(line.p + c->named_off, c->named_len);
	line.len = c->line_len;
	skip =
	    (size_t)((const uint8_t *)memchr(line.p, ',', line.len) - line.p);
	if (line.len > ROUND_MAX_KEPT - env->states.kept ||
	    (r = calloc(1, sizeof(*r) + line.len)) == NULL)
		return;
	r->thread = k->thread != 0 ? k->thread : k->id;
	/* The state that the agent gave back was for this request alone. */
	r->len = line.len - skip - strlen(END) - c->state_len;
	memcpy(r->text, line.p + skip, r->len);
	if (hold_digest(k->server_name, k->tool, args, named, r->digest) ==
	    -1) {
		free(r);
		return;
	}
	env->states.kept += r->len;
	call->round = r;
}

void
round_drop(struct policyd_env *env, struct call *call)
{
	struct round *r = call->round;

	call->round = NULL;
	if (r == NULL)
		return;
	asked_free(r);
	free(r->params);
	env->states.kept -= r->len;
	freezero(r, sizeof(*r) + r->len);
}

uint64_t
round_id(const struct call *call)
{
	uint64_t n = call->round != NULL ? call->round->n : 0;

	return call->id | n << PROTO_ROUND_SHIFT;
}

/* Append what was asked and answered, for the log. */
static void
put_log(struct policyd_env *env, const struct round *r, struct msg_ROUND *m)
{
	struct buf *b = &env->line;
	const char *before = "";

	m->log_off = (uint32_t)b->len;
	buf_adds(b, "{\"asked\":[");
	for (unsigned i = 0; r != NULL && i < r->nasked; i++) {
		buf_printf(b, "%s{\"answer\":", before);
		if (r->asked[i].answer != NULL)
			question_put_logged(
			    env, b, span_str(r->asked[i].answer));
		else
			buf_adds(b, "null");
		buf_adds(b, ",\"key\":");
		(void)json_write_string(b, span_str(r->asked[i].key));
		buf_printf(b, ",\"method\":\"%s\"}", r->asked[i].method);
		before = ",";
	}
	buf_printf(b, "],\"stateBytes\":%zu}", r != NULL ? r->state_len : 0);
	m->log_len = (uint32_t)b->len - m->log_off;
}

static void
send_round(
    struct policyd_env *env, const struct call *call, struct msg_ROUND *m)
{
	const struct round *r = call->round;

	put_log(env, r, m);
	m->id = call->id;
	m->round = r != NULL ? r->n : 0;
	m->payload = buf_span(&env->line);
	env->send(env, ROLE_AUDIT, MSG_ROUND, m);
	buf_reset(&env->line, WORK_LINE_KEEP);
}

void
round_fail(struct policyd_env *env, struct call *call, const char *fmt, ...)
{
	struct msg_ROUND m = {.how = PROTO_ROUND_FAIL};
	char text[900], vis[1000];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	m.text = span_str(log_vis_again(span_str(text), vis, sizeof(vis)));
	buf_reset(&env->line, WORK_LINE_KEEP);
	send_round(env, call, &m);
	round_drop(env, call);
}

/* Append the members that answer the questions. */
static void
put_answers(struct buf *b, const struct round *r)
{
	const char *before = "";

	if (r->nasked != 0) {
		buf_adds(b, ",\"inputResponses\":{");
		for (unsigned i = 0; i < r->nasked; i++) {
			buf_adds(b, before);
			(void)json_write_string(b, span_str(r->asked[i].key));
			buf_addc(b, ':');
			buf_adds(b, r->asked[i].answer);
			before = ",";
		}
		buf_addc(b, '}');
	}
	if (r->state != NULL) {
		buf_adds(b, ",\"requestState\":");
		(void)json_write_string(b, span_of(r->state, r->state_len));
	}
}

/* Send the request again, under another id, with all answers. */
static void
retry(struct policyd_env *env, struct call *call)
{
	struct msg_ROUND m = {.how = PROTO_ROUND_RETRY, .text = SPAN("")};
	struct round *r = call->round;
	struct buf *b = &env->line;

	r->n++;
	buf_reset(b, WORK_LINE_KEEP);
	buf_adds(b, "{\"id\":");
	buf_addu64(b, round_id(call));
	buf_add(b, r->text, r->len);
	put_answers(b, r);
	buf_adds(b, END);
	if (b->failed || b->len > PROTO_MAX_LINE) {
		round_fail(env, call,
		    "Error: the MCP server asked a question, and the call "
		    "with its answer is too large. Do not retry.");
		return;
	}
	m.line_len = (uint32_t)b->len;
	session_send_params(env, call->at, round_id(call), r->params);
	send_round(env, call, &m);
	asked_free(r);
}

static void
go_on(struct policyd_env *env, struct call *call)
{
	for (unsigned i = 0; i < call->round->nasked; i++)
		if (call->round->asked[i].answer == NULL)
			return;
	retry(env, call);
}

/* Set the answer to one question: a JSON text in three parts. */
static void
set_answer(struct round *r, unsigned key, const char *before,
    struct span content, const char *after)
{
	struct buf b;

	buf_init(&b, PROTO_MAX_LINE);
	buf_adds(&b, before);
	buf_addspan(&b, content);
	buf_adds(&b, after);
	buf_addc(&b, '\0');
	if (b.failed || (r->asked[key].answer =
				strdup((const char *)buf_span(&b).p)) == NULL)
		fatal("an answer to a server");
	buf_free(&b);
}

/* The person has answered, or nobody did. */
static void
elicited(struct policyd_env *env, const struct question_from *from,
    enum proto_action action, struct span content)
{
	struct call *call = calls_table_find(&env->calls, from->call);
	struct round *r = call != NULL ? call->round : NULL;
	const struct span none = SPAN("");

	if (r == NULL || call->cancelled || r->n != from->round ||
	    from->key >= r->nasked || r->asked[from->key].answer != NULL)
		return;
	if (action == PROTO_ACTION_ACCEPT && content.p != NULL)
		set_answer(r, from->key,
		    "{\"action\":\"accept\",\"content\":", content, "}");
	else
		set_answer(r, from->key,
		    action == PROTO_ACTION_ACCEPT ? "{\"action\":\"accept\"}"
		    : action == PROTO_ACTION_DECLINE
			? "{\"action\":\"decline\"}"
			: "{\"action\":\"cancel\"}",
		    none, "");
	if (r->open)
		go_on(env, call);
}

/* Ask the person, or answer for one who cannot be asked that. */
static void
elicit(struct policyd_env *env, struct call *call, unsigned key,
    const struct value *v)
{
	const struct question_from from = {.server = call->at,
	    .call = call->id,
	    .ended = elicited,
	    .round = call->round->n,
	    .key = key};
	const char *why = env->question(env, &from, value_get(v, "params"));

	if (why == NULL)
		return;
	log_warnx("server %s cannot ask that: %s",
	    env->engine.servers[call->server].name, why);
	elicited(env, &from, PROTO_ACTION_DECLINE, span_of(NULL, 0));
}

/* Take one question. Returns 0, or -1 if the call has ended by it. */
static int
take_asked(struct policyd_env *env, struct call *call, const struct value *v)
{
	static const char *const methods[] = {
	    "elicitation/create", "roots/list"};
	const struct span method = value_str(v, "method");
	struct round *r = call->round;
	struct round_asked *a = &r->asked[r->nasked];
	const struct span workspace = SPAN("{\"name\":\"workspace\","
					   "\"uri\":\"file:///workspace\"}");
	char shown[200];

	for (size_t i = 0; i < nitems(methods); i++)
		if (method.p != NULL && span_is(method, methods[i]))
			a->method = methods[i];
	if (a->method == NULL) {
		round_fail(env, call,
		    "Error: the MCP server asked for %s, which IronCurtain "
		    "does not give to a server. Do not retry.",
		    method.p == NULL ? "something without a method"
				     : log_vis(method, shown, sizeof(shown)));
		return -1;
	}
	if (v->key.len > ROUND_MAX_KEY ||
	    memchr(v->key.p, '\0', v->key.len) != NULL) {
		round_fail(env, call,
		    "Error: the MCP server asked a question with a name that "
		    "is too long. Do not retry.");
		return -1;
	}
	if ((a->key = strndup((const char *)v->key.p, v->key.len)) == NULL)
		fatal("strndup");
	r->nasked++;
	if (a->method == methods[0]) {
		elicit(env, call, r->nasked - 1, v);
		return 0;
	}
	set_answer(r, r->nasked - 1, "{\"roots\":[",
	    session_sees_workspace(env, call->server) ? workspace : SPAN(""),
	    "]}");
	return 0;
}

static struct round_state *
state_new(struct policyd_env *env)
{
	struct round_states *all = &env->states;
	struct round_state *s, *oldest = &all->list[0];
	uint8_t raw[ROUND_HANDLE / 2];

	for (unsigned i = 0; i < ROUND_STATES; i++) {
		s = &all->list[i];
		if (s->handle[0] == '\0') {
			oldest = s;
			break;
		}
		if (s->expires < oldest->expires)
			oldest = s;
	}
	freezero(oldest->state, oldest->len);
	*oldest = (struct round_state){0};
	if (getrandom(raw, sizeof(raw), 0) != sizeof(raw))
		fatal("getrandom");
	for (unsigned i = 0; i < sizeof(raw); i++)
		(void)snprintf(oldest->handle + 2 * i, 3, "%02x", raw[i]);
	oldest->expires = loop_now(env->loop) + ROUND_STATE_MS;
	return oldest;
}

/* The agent may go on when it wants to. */
static void
leave_to_agent(struct policyd_env *env, struct call *call)
{
	struct msg_ROUND m = {.how = PROTO_ROUND_AGENT};
	struct round_state *s = state_new(env);
	struct round *r = call->round;

	s->server = call->server;
	s->thread = r->thread;
	memcpy(s->digest, r->digest, sizeof(s->digest));
	m.text = span_str(s->handle);
	buf_reset(&env->line, WORK_LINE_KEEP);
	send_round(env, call, &m);
	s->state = r->state;
	s->len = r->state_len;
	r->state = NULL;
	round_drop(env, call);
}

/* Take what the server wants. The tree is in the pool of the current call. */
static void
take_wanted(struct policyd_env *env, struct call *call, const struct value *o)
{
	const struct value *asked = value_get(o, "inputRequests");
	const struct value *state = value_get(o, "requestState"), *v;
	struct round *r = call->round;

	if ((asked != NULL && (asked->type != VALUE_OBJECT ||
				  asked->count > ROUND_MAX_ASKED)) ||
	    (state != NULL && (state->type != VALUE_STRING ||
				  state->text.len > ROUND_MAX_STATE))) {
		round_fail(env, call,
		    "Error: the MCP server asked a question that is malformed "
		    "or has too many parts. Do not retry.");
		return;
	}
	asked_free(r);
	if (state != NULL) {
		if ((r->state = malloc(state->text.len + 1)) == NULL)
			fatal("malloc");
		memcpy(r->state, state->text.p, state->text.len);
		r->state_len = state->text.len;
	}
	for (v = asked != NULL ? asked->child : NULL; v != NULL; v = v->next)
		if (take_asked(env, call, v) == -1)
			return;
	r->open = true;
	if (r->nasked == 0 && r->state != NULL && call->modern)
		leave_to_agent(env, call);
	else
		go_on(env, call);
}

void
round_wanted(
    struct policyd_env *env, uint16_t server, const struct msg_INPUT_WANTED *m)
{
	struct call *call = calls_table_find(&env->calls, m->id);
	const struct value *o;

	if (call == NULL || call->state != CALL_RELEASED || !call->forwarded ||
	    call->at != server || call->cancelled ||
	    (call->round != NULL &&
		(call->round->open || call->round->n != m->round))) {
		if (env->states.dropped++ == 0)
			log_warnx("server %s asks about a call that is not "
				  "open",
			    env->engine.servers[server].name);
		return;
	}
	if (call->round == NULL) {
		round_fail(env, call,
		    "Error: the MCP server asked a question about a call that "
		    "is too large to be sent again. Do not retry.");
		return;
	}
	if (call->round->n == PROTO_MAX_ROUNDS) {
		round_fail(env, call,
		    "Error: the MCP server asked %u questions about this call "
		    "and still has no answer. Do not retry.",
		    PROTO_MAX_ROUNDS);
		return;
	}
	value_pool_reset(env->pool);
	o = value_decode(env->pool, m->tree);
	if (o != NULL && o->type == VALUE_OBJECT)
		take_wanted(env, call, o);
	value_pool_reset(env->pool);
}

static struct round_state *
state_find(struct policyd_env *env, struct span handle)
{
	for (unsigned i = 0; i < ROUND_STATES; i++)
		if (handle.len == ROUND_HANDLE &&
		    span_is(handle, env->states.list[i].handle))
			return &env->states.list[i];
	return NULL;
}

/* Put the text at the end of the request's params. Returns false if too long.
 */
static bool
insert_state(struct buf *b, struct composed *c, const struct round_state *s)
{
	size_t at = c->line_len - strlen(END), n;
	bool fits;
	struct buf all;

	buf_init(&all, b->max);
	buf_add(&all, buf_span(b).p, at);
	buf_adds(&all, ",\"requestState\":");
	(void)json_write_string(&all, span_of(s->state, s->len));
	n = all.len - at;
	buf_add(&all, buf_span(b).p + at, b->len - at);
	fits = !all.failed && c->line_len + n <= PROTO_MAX_LINE;
	if (fits) {
		buf_reset(b, WORK_LINE_KEEP);
		buf_addspan(b, buf_span(&all));
		if (c->args_off >= c->line_len)
			c->args_off += (uint32_t)n;
		if (c->named_off >= c->line_len)
			c->named_off += (uint32_t)n;
		c->line_len += (uint32_t)n;
		c->state_len = (uint32_t)n;
	}
	buf_free(&all);
	return fits && !b->failed;
}

bool
round_resume(struct policyd_env *env, struct work *k, struct composed *c)
{
	struct round_state *s = state_find(env, k->given);
	struct span line = buf_span(&env->line);
	uint8_t digest[ROUND_DIGEST];
	bool good;

	if (s == NULL || s->server != k->server || k->outside.n != 0 ||
	    s->expires <= loop_now(env->loop) ||
	    hold_digest(k->server_name, k->tool,
		span_of(line.p + c->args_off, c->args_len),
		span_of(line.p + c->named_off, c->named_len), digest) == -1 ||
	    memcmp(digest, s->digest, sizeof(digest)) != 0)
		return false;
	k->thread = s->thread;
	good = insert_state(&env->line, c, s);
	/* It is good for one request. */
	freezero(s->state, s->len);
	*s = (struct round_state){0};
	return good;
}

void
round_free(struct policyd_env *env)
{
	for (unsigned i = 0; i < CALLS_MAX; i++)
		if (env->calls.list[i].round != NULL)
			round_drop(env, &env->calls.list[i]);
	for (unsigned i = 0; i < ROUND_STATES; i++)
		freezero(env->states.list[i].state, env->states.list[i].len);
	env->states = (struct round_states){0};
}
