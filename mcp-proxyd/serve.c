/* SPDX-License-Identifier: ISC */
/*
 * The messages that mcp-proxyd takes from its peers.  Each peer is believed
 * only in its own matters: a result counts if the call it names went to that
 * very server and is still in flight; anything else is dropped and counted.
 */
#include "proxy.h"

#include <ctype.h>
#include <unistd.h>

#include "common/json/text.h"
#include "common/log.h"

/* Room for the nodes and texts of the largest tree. */
#define POOL_MAX ((size_t)24 << 20)

static int
on_server(struct chan *c, const struct msg_SERVER *m)
{
	struct proxy *p = chan_arg(c);
	struct proxy_server *s = &p->servers[m->index];

	if (s->used || m->name.len == 0 ||
	    span_copy(m->name, s->name_text, sizeof(s->name_text)) == -1)
		return chan_violation(
		    c, "SERVER %u twice or without a name", m->index);
	s->used = true;
	s->name = span_str(s->name_text);
	(void)tool_name_server(s->name, s->alias);
	if (p->nservers <= m->index)
		p->nservers = (uint16_t)(m->index + 1);
	return 0;
}

static int
on_server_view(struct chan *c, const struct msg_SERVER_VIEW *m)
{
	struct proxy *p = chan_arg(c);
	struct proxy_server *s = &p->servers[m->server];

	if (s->view[0] != '\0' || m->text.len == 0 || !utf8_valid(m->text) ||
	    span_copy(m->text, s->view, sizeof(s->view)) == -1)
		return chan_violation(
		    c, "SERVER_VIEW %u twice or malformed", m->server);
	return 0;
}

static int
on_orientation(struct chan *c, const struct msg_ORIENTATION *m)
{
	if (instructions_set(chan_arg(c), m->text) == -1)
		return chan_violation(c, "ORIENTATION twice or malformed");
	return 0;
}

static int
on_listen(struct chan *c, const struct msg_LISTEN *m, int fd)
{
	struct proxy *p = chan_arg(c);

	if (p->listen_fd != -1) {
		close(fd);
		return chan_violation(c, "LISTEN twice");
	}
	p->listen_fd = fd;
	return 0;
}

static int
on_connection(struct chan *c, const struct msg_CONNECTION *m, int fd)
{
	agents_take(chan_arg(c), fd);
	return 0;
}

static int
on_tools(struct chan *c, const struct msg_TOOLS *m)
{
	if (tools_set(chan_arg(c), m) == -1)
		return chan_violation(c, "TOOLS is no array in one line");
	return 0;
}

static int
on_tools_told(struct chan *c, const struct msg_TOOLS_TOLD *m)
{
	if (instructions_tools(chan_arg(c), m->text) == -1)
		return chan_violation(c, "TOOLS_TOLD is not UTF-8");
	return 0;
}

static int
on_parts(struct chan *c, const struct msg_PARTS *m)
{
	if (parts_set(chan_arg(c), m) == -1)
		return chan_violation(c, "PARTS is no array in one line");
	return 0;
}

static int
on_notice(struct chan *c, const struct msg_NOTICE *m)
{
	if (chan_index(c) < PROTO_FIRST_INSTANCE)
		parts_notice(chan_arg(c), (uint16_t)chan_index(c), m);
	return 0;
}

static int
on_updated(struct chan *c, const struct msg_UPDATED *m)
{
	struct proxy *p = chan_arg(c);

	if (chan_index(c) < PROTO_FIRST_INSTANCE)
		subs_updated(p, (uint16_t)chan_index(c), m->uri);
	if (p->nupdates != 0)
		calls_wake(p);
	return 0;
}

static int
on_call_held(struct chan *c, const struct msg_CALL_HELD *m)
{
	struct proxy *p = chan_arg(c);
	struct call *call = calls_find(p, m->id);

	if (call == NULL || call->agent == NULL || call->kind != CALL_TOOL)
		return 0;
	if (m->question != 0)
		calls_question(p, call, m->ms);
	else if (call->held == 0)
		calls_held(p, call, m->ms);
	return 0;
}

/* CALL_HELD, from policyd, and CALL_HELD_AS come in either order. */
static int
on_call_held_as(struct chan *c, const struct msg_CALL_HELD_AS *m)
{
	struct proxy *p = chan_arg(c);
	struct call *call = calls_find(p, m->id);

	for (size_t i = 0; i < m->name.len; i++)
		if (!isalnum(m->name.p[i]))
			return chan_violation(c, "malformed CALL_HELD_AS");
	if (m->name.len != 0 && call != NULL && call->agent != NULL &&
	    call->kind == CALL_TOOL)
		calls_held_as(p, call, m->name);
	return 0;
}

static int
on_answer(struct chan *c, const struct msg_ANSWER *m)
{
	struct proxy *p = chan_arg(c);
	struct call *call = calls_find(p, m->id);

	if (call == NULL || call->kind != CALL_TOOL)
		proxy_count(&p->stray, "answers to no call");
	else if (call->agent != NULL) {
		answer_text(call, m->text, m->error != 0);
		if (m->counted != 0)
			agent_slow(call->agent);
	}
	if (call != NULL && call->kind == CALL_TOOL)
		calls_end(p, call);
	return 0;
}

/* The call goes on when the agent gives the state back. */
static int
on_round_answer(struct chan *c, const struct msg_ROUND_ANSWER *m)
{
	struct proxy *p = chan_arg(c);
	struct call *call = calls_find(p, m->id);

	if (call == NULL || call->kind != CALL_TOOL) {
		proxy_count(&p->stray, "answers to no call");
		return 0;
	}
	if (call->agent != NULL && !call->modern)
		return chan_violation(c, "a state for an old agent");
	if (call->agent != NULL)
		answer_state(call, m->state);
	calls_end(p, call);
	return 0;
}

/* Returns the call if this server may speak about it, or NULL. */
static struct call *
call_of(struct chan *c, uint64_t id)
{
	struct proxy *p = chan_arg(c);
	struct call *call = calls_find(p, id);

	if (call == NULL || call->kind != CALL_TOOL ||
	    call->from != chan_index(c))
		return NULL;
	return call;
}

static int
on_result(struct chan *c, const struct msg_RESULT *m)
{
	struct proxy *p = chan_arg(c);
	const struct value *tree;
	struct call *call;

	if ((call = call_of(c, m->id)) == NULL) {
		proxy_count(&p->stray, "answers to no call");
		return 0;
	}
	value_pool_reset(p->pool);
	if ((tree = value_decode(p->pool, m->tree)) == NULL ||
	    tree->type != VALUE_OBJECT)
		return chan_violation(c, "RESULT is no object");
	if (call->agent != NULL && m->blocked != 0 && call->part == 0)
		answer_blocked(call, tree, m->error != 0);
	else if (call->agent != NULL && m->error != 0)
		answer_error(call, tree);
	else if (call->agent != NULL && call->part != 0)
		parts_answer(call, tree);
	else if (call->agent != NULL)
		answer_result(call, tree);
	calls_end(p, call);
	return 0;
}

/*
 * The mcp-backd whose PEER came just before answers this call and no other.
 * policyd waits for MOVED and then sends the call there.
 */
static int
on_instance_back(struct chan *c, const struct msg_INSTANCE_BACK *m)
{
	const struct msg_MOVED moved = {.id = m->call, .server = m->server};
	struct proxy *p = chan_arg(c);
	struct call *call = calls_find(p, m->call);

	if (m->server < PROTO_FIRST_INSTANCE)
		return chan_violation(c, "INSTANCE_BACK of no instance");
	if (call != NULL && call->kind == CALL_TOOL)
		call->from = m->server;
	worker_send(&p->w, ROLE_POLICY, 0, MSG_MOVED, &moved, -1);
	return 0;
}

/*
 * Report that a channel to an instance is gone; once no process has one, the
 * index is reused.
 */
static void
lost(enum role role, unsigned index)
{
	const struct msg_INSTANCE_LOST m = {.server = (uint16_t)index};

	if (role == ROLE_BACK && index >= PROTO_FIRST_INSTANCE)
		worker_send(
		    &proxy_env.w, ROLE_POLICY, 0, MSG_INSTANCE_LOST, &m, -1);
}

/* Returns true for exactly one JSON number, or for nothing if `optional`. */
static bool
number_good(struct span s, bool optional)
{
	const uint8_t *stop;

	if (s.len == 0)
		return optional;
	return text_number_end(s.p, s.p + s.len, &stop) && stop == s.p + s.len;
}

static int
on_progress(struct chan *c, const struct msg_PROGRESS *m)
{
	struct call *call = call_of(c, m->id);

	if (!number_good(m->progress, false) || !number_good(m->total, true))
		return chan_violation(c, "PROGRESS without a number");
	if (call == NULL || call->agent == NULL || call->token.len == 0)
		return 0;
	call->held = 0;
	answer_note(call, m->progress, m->total, m->message);
	return 0;
}

/* policyd has counted these calls down: there is room for more. */
static int
on_credit(struct chan *c, const struct msg_CREDIT *m)
{
	struct proxy *p = chan_arg(c);
	struct proxy_server *s = NULL;

	if (m->server != PROTO_NO_SERVER) {
		if (m->server >= PROTO_MAX_SERVERS)
			return chan_violation(c, "CREDIT of no server");
		s = &p->servers[m->server];
	}
	if (m->calls > p->uncredited ||
	    (s != NULL && (m->calls > s->calls || m->bytes > s->bytes)))
		return chan_violation(c, "CREDIT for calls that were not made");
	p->uncredited -= m->calls;
	if (s != NULL) {
		s->calls -= m->calls;
		s->bytes -= m->bytes;
	}
	p->ended = true;
	return 0;
}

/* Frequent messages come first, because handlers are found by linear search. */
/* clang-format off */
const struct chan_handler proxy_handlers[] = {
	HANDLER(RESULT,		on_result),
	HANDLER(ANSWER,		on_answer),
	HANDLER(CREDIT,		on_credit),
	HANDLER(PROGRESS,	on_progress),
	HANDLER(UPDATED,		on_updated),
	HANDLER(CALL_HELD,		on_call_held),
	HANDLER(CALL_HELD_AS,	on_call_held_as),
	HANDLER(ROUND_ANSWER,	on_round_answer),
	HANDLER(TOOLS,		on_tools),
	HANDLER(TOOLS_TOLD,	on_tools_told),
	HANDLER(PARTS,		on_parts),
	HANDLER(NOTICE,		on_notice),
	HANDLER(INSTANCE_BACK,	on_instance_back),
	HANDLER(SERVER,		on_server),
	HANDLER(SERVER_VIEW,	on_server_view),
	HANDLER(ORIENTATION,	on_orientation),
	HANDLER(LISTEN,		on_listen),
	HANDLER(CONNECTION,	on_connection),
};
/* clang-format on */
const size_t proxy_nhandlers = nitems(proxy_handlers);

void
proxy_init(struct proxy *p)
{
	agents_init(p);
	calls_init(p);
	buf_init(&p->tree, PROTO_MAX_TREE);
	buf_init(&p->tools, 8U << 20);
	buf_init(&p->orientation, PROTO_MAX_ORIENT);
	buf_init(&p->told, PROTO_MAX_TOLD);
	for (unsigned i = 0; i < PROTO_LISTS; i++)
		buf_init(&p->lists[i], PROTO_MAX_PARTS);
	buf_init(&p->instructions, PROXY_MAX_INSTRUCTIONS);
	p->call_ms = PROXY_CALL_MS;
	p->list_ms = PROXY_LIST_MS;
	p->note_ms = PROXY_NOTE_MS;
	if ((p->pool = value_pool_new(POOL_MAX)) == NULL)
		fatal("value_pool_new");
	p->w.loop.after = agents_after;
	p->w.loop.after_arg = p;
}

void
proxy_start(struct proxy *p)
{
	p->list_until = loop_now(&p->w.loop) + p->list_ms;
	if (p->listen_fd == -1)
		fatalx("started without a listener");
	if (agents_listen(p) == -1)
		fatal("epoll_ctl");
}

static void
start(void)
{
	proxy_start(&proxy_env);
}

static void
caught_up(void)
{
	agents_caught_up(&proxy_env);
}

void
proxy_serve(void)
{
	proxy_init(&proxy_env);
	proxy_env.w.start = start;
	proxy_env.w.lost = lost;
	proxy_env.w.caught_up = caught_up;
	worker_serve(&proxy_env.w, proxy_handlers, proxy_nhandlers);
}
