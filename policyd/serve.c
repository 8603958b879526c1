/* SPDX-License-Identifier: ISC */
/*
 * Handlers of the messages to policyd. Configuration comes from icsupervisor,
 * calls from mcp-proxyd, sessions from each mcp-backd, verdicts through auditd.
 * proto.h says what each may send; its meaning is checked here.
 */
#include "serve.h"

#include <errno.h>

#include "common/log.h"
#include "policyd.h"
#include "virtual.h"

static struct policyd_env env;

static void
send_peer(
    struct policyd_env *e, enum role role, enum msg_type type, const void *msg)
{
	worker_send(e->w, role, 0, type, msg, -1);
}

static int
impossible(struct chan *c, const char *what)
{
	return chan_violation(c, "%s: %s", what, strerror(errno));
}

static int
on_settings(struct chan *c, const union proto_any *msg, int fd)
{
	const struct msg_SETTINGS *m = &msg->SETTINGS;

	(void)fd;
	if (engine_settings(
		&env.engine, m->hold_ms, m->ask, m->redact, m->home) == -1)
		return impossible(c, "SETTINGS");
	env.engine.strict = m->strict;
	env.engine.unknown = (enum proto_unknown)m->unknown;
	return 0;
}

static int
on_protect(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	if (engine_protect(&env.engine, msg->PROTECT.path) == -1)
		return impossible(c, "PROTECT");
	return 0;
}

static int
on_server(struct chan *c, const union proto_any *msg, int fd)
{
	const struct msg_SERVER *m = &msg->SERVER;

	(void)fd;
	if (m->virtual != 0) {
		if (engine_server_virtual(&env.engine, m->index, m->name) == -1)
			return impossible(c, "SERVER");
		return 0;
	}
	if (engine_server(&env.engine, m->index, m->name, m->trusted, m->cwd,
		m->command, m->domains) == -1)
		return impossible(c, "SERVER");
	env.engine.servers[m->index].internal = m->internal;
	env.engine.servers[m->index].is_git = m->git;
	env.engine.servers[m->index].reach = m->reach;
	return 0;
}

static int
on_view(struct chan *c, const union proto_any *msg, int fd)
{
	const struct msg_VIEW *m = &msg->VIEW;

	if (engine_view(&env.engine, m->server, m->path, m->host,
		(enum proto_view)m->kind, fd) == -1)
		return impossible(c, "VIEW");
	return 0;
}

static void
send_rules_ok(struct load *l)
{
	struct msg_RULES_OK ok = {0};

	if (env.engine.rules != NULL)
		ok.rules = (uint32_t)env.engine.rules->n;
	ok.warnings = buf_span(&l->warnings);
	worker_send(env.w, ROLE_SUP, 0, MSG_RULES_OK, &ok, -1);
}

static int
on_rules(struct chan *c, const union proto_any *msg, int fd)
{
	const struct msg_RULES *m = &msg->RULES;
	struct msg_RULES_BAD bad = {.kind = m->kind};
	char name[4097];
	struct load l;

	(void)c;
	(void)fd;
	if (span_copy(m->name, name, sizeof(name)) == -1)
		return impossible(c, "RULES");
	if (env.started) {
		reload_take(&env, m, name);
		return 0;
	}
	load_init(&l, name);
	if (engine_rules(&env.engine, (enum proto_rules)m->kind, m->text, &l) ==
	    0) {
		send_rules_ok(&l);
	} else {
		bad.text = span_str(l.error);
		worker_send(env.w, ROLE_SUP, 0, MSG_RULES_BAD, &bad, -1);
	}
	load_free(&l);
	return 0;
}

static int
on_swap(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)msg;
	(void)fd;
	reload_swap(&env);
	return 0;
}

static int
on_pin(struct chan *c, const union proto_any *msg, int fd)
{
	const struct msg_PIN *m = &msg->PIN;

	(void)fd;
	if (pins_add(&env.pins, m->server, m->tool, m->digest) == -1)
		return impossible(c, "PIN");
	return 0;
}

static int
on_trust(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)fd;
	session_trust(&env, &msg->TRUST_GO);
	return 0;
}

static int
on_eval(struct chan *c, const union proto_any *msg, int fd)
{
	const char *why;

	(void)fd;
	if (probe_eval(&env, &msg->EVAL, &why) == -1)
		return chan_violation(c, "EVAL: %s", why);
	return 0;
}

static int
on_server_fail(struct chan *c, const union proto_any *msg, int fd)
{
	const struct msg_SERVER_FAIL *m = &msg->SERVER_FAIL;

	(void)fd;
	if (!env.engine.servers[m->server].used)
		return chan_violation(c, "SERVER_FAIL of no server");
	session_fail(&env, m->server, m->text);
	return 0;
}

static int
on_budget_calls(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)fd;
	budget_set(&env, &msg->BUDGET_CALLS);
	return 0;
}

static int
on_call(struct chan *c, const union proto_any *msg, int fd)
{
	const char *why;

	(void)fd;
	if (call_take(&env, &msg->CALL, &why) == -1)
		return chan_violation(
		    c, "CALL %llu: %s", (unsigned long long)msg->CALL.id, why);
	return 0;
}

static int
on_cancel(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)fd;
	call_cancel(&env, msg->CANCEL.id);
	return 0;
}

static int
on_ended(struct chan *c, const union proto_any *msg, int fd)
{
	const char *why;

	(void)fd;
	if (call_ended(&env, msg->ENDED.id, msg->ENDED.error != 0, &why) == -1)
		return chan_violation(c, "ENDED %llu: %s",
		    (unsigned long long)msg->ENDED.id, why);
	return 0;
}

static int
on_verdict(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	if (msg->VERDICT_GO.digest.len != HOLD_DIGEST ||
	    msg->VERDICT_GO.session.len % HOLD_DIGEST != 0)
		return chan_violation(c, "VERDICT_GO without a digest");
	/* An id of one kind is never one of the other. */
	if ((msg->VERDICT_GO.id & PROTO_ASK_ID) != 0)
		asks_verdict(&env, &msg->VERDICT_GO);
	else
		call_verdict(&env, &msg->VERDICT_GO);
	return 0;
}

static int
on_revoke(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)fd;
	/* It may have ended by itself meanwhile. */
	(void)tool_grant_end(&env, msg->REVOKE_GO.id, false, "you revoked it");
	return 0;
}

static int
on_ask(struct chan *c, const union proto_any *msg, int fd)
{
	const char *why;

	(void)fd;
	if (asks_take(&env, &msg->ASK, &why) == -1)
		return chan_violation(c, "ASK %u: %s", msg->ASK.id, why);
	return 0;
}

static int
on_ask_cancel(struct chan *c, const union proto_any *msg, int fd)
{
	const char *why;

	(void)fd;
	if (asks_cancel(&env, msg->ASK_CANCEL.id, &why) == -1)
		return chan_violation(
		    c, "ASK_CANCEL %u: %s", msg->ASK_CANCEL.id, why);
	return 0;
}

/* Which server: by the channel, never by the message. */
static uint16_t
server_of(const struct chan *c)
{
	return (uint16_t)chan_index(c);
}

/* One that runs for a single call: it has no session (instance.c). */
static bool
is_instance(const struct chan *c)
{
	return server_of(c) >= PROTO_FIRST_INSTANCE;
}

static int
on_init_result(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	if (is_instance(c))
		instance_init_result(&env, server_of(c), &msg->INIT_RESULT);
	else
		session_init_result(&env, server_of(c), &msg->INIT_RESULT);
	return 0;
}

static int
on_tools_page(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	session_tools_page(&env, server_of(c), &msg->TOOLS_PAGE);
	return 0;
}

static int
on_list_changed(struct chan *c, const union proto_any *msg, int fd)
{
	(void)msg;
	(void)fd;
	session_list_changed(&env, server_of(c));
	return 0;
}

static int
on_request(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	if (is_instance(c))
		instance_request(&env, server_of(c), &msg->SERVER_REQUEST);
	else
		session_request(&env, server_of(c), &msg->SERVER_REQUEST);
	return 0;
}

static int
on_remotes(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	remotes_answer(&env, server_of(c), &msg->REMOTES);
	return 0;
}

static int
on_gone(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	if (is_instance(c))
		instance_gone(&env, server_of(c), msg->GONE.text);
	else if (msg->GONE.died != 0)
		session_died(&env, server_of(c), msg->GONE.text);
	else
		session_fail(&env, server_of(c), msg->GONE.text);
	return 0;
}

static int
on_again(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)fd;
	session_again(&env, msg->AGAIN.server);
	return 0;
}

static int
on_instance_go(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	if (instance_go(&env, &msg->INSTANCE_GO) == -1)
		return chan_violation(c, "INSTANCE_GO %u twice or impossible",
		    msg->INSTANCE_GO.server);
	return 0;
}

static int
on_instance_no(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)fd;
	instance_no(&env, &msg->INSTANCE_NO);
	return 0;
}

static int
on_instance_room(struct chan *c, const union proto_any *msg, int fd)
{
	(void)msg;
	(void)fd;
	if (instance_room(&env) == -1)
		return chan_violation(c, "INSTANCE_ROOM for none");
	return 0;
}

static int
on_moved(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)fd;
	instance_moved(&env, &msg->MOVED);
	return 0;
}

static int
on_instance_lost(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)fd;
	instance_lost(&env, msg->INSTANCE_LOST.server, true);
	return 0;
}

static void
lost(enum role role, unsigned index)
{
	if (role == ROLE_BACK)
		instance_lost(&env, index, false);
}

static void
list_late(struct loop_timer *t)
{
	struct policyd_env *e = t->arg;

	e->list_late = true;
	session_publish(e);
}

static void
turn_ended(void *arg)
{
	calls_credit(arg);
}

/* START: everything is there, peers may be spoken to. */
static void
start(void)
{
	struct load l;

	load_init(&l, "policy");
	if (engine_refresh(&env.engine, &l) == -1)
		fatalx("%s", l.error);
	load_free(&l);
	env.started = true;
	for (uint16_t i = 0; i < PROTO_MAX_SERVERS; i++) {
		if (env.engine.servers[i].virtual)
			virtual_start(&env, i);
		else if (env.engine.servers[i].used)
			session_start(&env, i);
	}
	loop_timer_set(
	    env.loop, &env.list_timer, SESSION_LIST_MS, list_late, &env);
	session_publish(&env);
}

void
policyd_serve(struct worker *w)
{
	static const struct chan_handler handlers[] = {
	    {MSG_SETTINGS, on_settings},
	    {MSG_PROTECT, on_protect},
	    {MSG_SERVER, on_server},
	    {MSG_VIEW, on_view},
	    {MSG_RULES, on_rules},
	    {MSG_RULES_SWAP, on_swap},
	    {MSG_PIN, on_pin},
	    {MSG_TRUST_GO, on_trust},
	    {MSG_EVAL, on_eval},
	    {MSG_SERVER_FAIL, on_server_fail},
	    {MSG_BUDGET_CALLS, on_budget_calls},
	    {MSG_CALL, on_call},
	    {MSG_CANCEL, on_cancel},
	    {MSG_ENDED, on_ended},
	    {MSG_VERDICT_GO, on_verdict},
	    {MSG_REVOKE_GO, on_revoke},
	    {MSG_ASK, on_ask},
	    {MSG_ASK_CANCEL, on_ask_cancel},
	    {MSG_INIT_RESULT, on_init_result},
	    {MSG_TOOLS_PAGE, on_tools_page},
	    {MSG_LIST_CHANGED, on_list_changed},
	    {MSG_SERVER_REQUEST, on_request},
	    {MSG_REMOTES, on_remotes},
	    {MSG_GONE, on_gone},
	    {MSG_AGAIN, on_again},
	    {MSG_INSTANCE_GO, on_instance_go},
	    {MSG_INSTANCE_NO, on_instance_no},
	    {MSG_INSTANCE_ROOM, on_instance_room},
	    {MSG_INSTANCE_LOST, on_instance_lost},
	    {MSG_MOVED, on_moved},
	};

	env.w = w;
	env.send = send_peer;
	if (policyd_init(&env, &w->loop) == -1)
		fatal("policyd");
	w->start = start;
	w->lost = lost;
	w->loop.after = turn_ended;
	w->loop.after_arg = &env;
	worker_serve(w, handlers, sizeof(handlers) / sizeof(handlers[0]));
}
