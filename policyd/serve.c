/* SPDX-License-Identifier: ISC */
/*
 * Handlers of the messages to policyd. Configuration comes from icsupervisor,
 * calls from mcp-proxyd, sessions from each mcp-backd, verdicts through auditd.
 * proto.h says what each may send; its meaning is checked here.
 */
#include "serve.h"

#include <errno.h>

#include "common/log.h"
#include "approval/forge_holds.h"
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
on_settings(struct chan *c, const struct msg_SETTINGS *m)
{
	if (engine_settings(
		&env.engine, m->hold_ms, m->ask, m->redact, m->home) == -1)
		return impossible(c, "SETTINGS");
	if (m->hosts != PROTO_HOSTS_OFF && !m->ask)
		return chan_violation(c, "SETTINGS: hosts, and nobody to ask");
	env.hosts.mode = (enum proto_hosts)m->hosts;
	env.engine.strict = m->strict;
	env.engine.unknown = (enum proto_unknown)m->unknown;
	env.limits = (struct session_limits){
	    m->tool_bytes, m->server_bytes, m->list_bytes};
	return 0;
}

static int
on_known(struct chan *c, const struct msg_KNOWN *m)
{
	struct mask_known_row r = {.len = m->len, .print = m->print};

	if (m->key.len != MASK_KEY || m->digest.len != MASK_DIGEST)
		return chan_violation(c, "KNOWN: lengths");
	memcpy(r.digest, m->digest.p, MASK_DIGEST);
	if ((env.engine.secrets == NULL &&
		(env.engine.secrets = mask_known_new(m->key.p)) == NULL) ||
	    mask_known_add(env.engine.secrets, &r) == -1)
		return impossible(c, "KNOWN");
	if (!mask_known_keyed(env.engine.secrets, m->key.p))
		return chan_violation(c, "KNOWN: another key");
	work_log_forget();
	return 0;
}

static int
on_protect(struct chan *c, const struct msg_PROTECT *m)
{
	if (engine_protect(&env.engine, m->path) == -1)
		return impossible(c, "PROTECT");
	return 0;
}

static int
on_narrow(struct chan *c, const struct msg_NARROW *m)
{
	if (engine_narrow(&env.engine, m->text) == -1)
		return impossible(c, "NARROW");
	return 0;
}

static int
on_server(struct chan *c, const struct msg_SERVER *m)
{
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
on_tools_only(struct chan *c, const struct msg_TOOLS_ONLY *m)
{
	if (tools_only(&env.sessions[m->server], m->pattern) == -1)
		return impossible(c, "TOOLS_ONLY");
	return 0;
}

static int
on_view(struct chan *c, const struct msg_VIEW *m, int fd)
{
	if (engine_view(&env.engine, m->server, m->path, m->host,
		(enum proto_view)m->kind, fd) == -1)
		return impossible(c, "VIEW");
	return 0;
}

static int
on_mounts(struct chan *c, const struct msg_MOUNTS *m, int fd)
{
	/*
	 * Without watches, which a user has only so many of, paths are walked.
	 */
	if (engine_known(&env.engine, fd, env.w->files) == -1)
		log_warn("directories cannot be watched (the limits are in "
			 "/proc/sys/fs/inotify), so that every path is "
			 "looked up anew");
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
on_rules(struct chan *c, const struct msg_RULES *m)
{
	struct msg_RULES_BAD bad = {.kind = m->kind};
	char name[4097];
	struct load l;

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
on_swap(struct chan *c, const struct msg_RULES_SWAP *m)
{
	reload_swap(&env);
	return 0;
}

static int
on_pin(struct chan *c, const struct msg_PIN *m)
{
	if (pins_add(&env.pins, m->server, m->tool, m->digest, m->definition) ==
	    -1)
		return impossible(c, "PIN");
	return 0;
}

static int
on_trust(struct chan *c, const struct msg_TRUST_GO *m)
{
	session_trust(&env, m);
	return 0;
}

static int
on_eval(struct chan *c, const struct msg_EVAL *m)
{
	const char *why;

	if (probe_eval(&env, m, &why) == -1)
		return chan_violation(c, "EVAL: %s", why);
	return 0;
}

static int
on_server_fail(struct chan *c, const struct msg_SERVER_FAIL *m)
{
	if (!env.engine.servers[m->server].used)
		return chan_violation(c, "SERVER_FAIL of no server");
	session_fail(&env, m->server, m->text);
	return 0;
}

static int
on_budget_calls(struct chan *c, const struct msg_BUDGET_CALLS *m)
{
	budget_set(&env, m);
	return 0;
}

static int
on_call(struct chan *c, const struct msg_CALL *m)
{
	const char *why;

	if (call_take(&env, m, &why) == -1)
		return chan_violation(
		    c, "CALL %llu: %s", (unsigned long long)m->id, why);
	return 0;
}

static int
on_cancel(struct chan *c, const struct msg_CANCEL *m)
{
	call_cancel(&env, m->id);
	return 0;
}

static int
on_ended(struct chan *c, const struct msg_ENDED *m)
{
	const char *why;
	uint64_t bit;

	if ((m->failed & ~m->ended) != 0 || m->ended == 0)
		return chan_violation(c, "ENDED of no call");
	for (unsigned i = 0; i < 64; i++) {
		bit = (uint64_t)1 << i;
		if ((m->ended & bit) != 0 &&
		    call_ended(
			&env, m->first + i, (m->failed & bit) != 0, &why) == -1)
			return chan_violation(c, "ENDED %llu: %s",
			    (unsigned long long)(m->first + i), why);
	}
	return 0;
}

static int
on_verdict(struct chan *c, const struct msg_VERDICT_GO *m)
{
	if (m->digest.len != HOLD_DIGEST || m->session.len % HOLD_DIGEST != 0)
		return chan_violation(c, "VERDICT_GO without a digest");
	/* An id of one kind is never one of the other. */
	if ((m->id & PROTO_ASK_ID) != 0 && (m->id & PROTO_HOST_ID) != 0)
		hosts_verdict(&env, m);
	else if ((m->id & PROTO_ASK_ID) != 0 &&
		 (m->id & PROTO_QUESTION_ID) != 0)
		questions_verdict(&env, m);
	else if ((m->id & PROTO_ASK_ID) != 0)
		asks_verdict(&env, m);
	else
		call_verdict(&env, m);
	return 0;
}

static int
on_revoke(struct chan *c, const struct msg_REVOKE_GO *m)
{
	/* It may have ended by itself meanwhile. */
	if ((m->id & PROTO_ASK_ID) != 0)
		hosts_revoke(&env, m->id);
	else
		(void)tool_grant_end(&env, m->id, false, "you revoked it");
	return 0;
}

static int
on_restore_grant(struct chan *c, const struct msg_RESTORE_GRANT *m)
{
	if (kept_take(&env, m) == -1)
		return impossible(c, "RESTORE_GRANT");
	return 0;
}

static int
on_request_ask(struct chan *c, const struct msg_REQUEST_ASK *m)
{
	const char *why;

	if (asks_take(&env, m, &why) == -1)
		return chan_violation(c, "REQUEST_ASK %u: %s", m->id, why);
	return 0;
}

static int
on_provider(struct chan *c, const struct msg_PROVIDER *m)
{
	const char *why;

	if (forge_dest_take(&env, m, &why) == -1)
		return chan_violation(c, "PROVIDER %u: %s", m->index, why);
	return 0;
}

static int
on_forge_tree(struct chan *c, const struct msg_FORGE_TREE *m)
{
	const char *why;

	if (asks_tree(&env, m, &why) == -1)
		return chan_violation(c, "FORGE_TREE %u: %s", m->id, why);
	return 0;
}

static int
on_forge_found(struct chan *c, const struct msg_FORGE_FOUND_GO *m)
{
	const char *why;

	if (asks_found(&env, m, &why) == -1)
		return chan_violation(c, "FORGE_FOUND %u: %s", m->id, why);
	return 0;
}

static int
on_host_ask(struct chan *c, const struct msg_HOST_ASK *m)
{
	const char *why;

	if (hosts_take(&env, m, &why) == -1)
		return chan_violation(c, "HOST_ASK: %s", why);
	return 0;
}

static int
on_request_cancel(struct chan *c, const struct msg_REQUEST_CANCEL *m)
{
	const char *why;

	if (asks_cancel(&env, m->id, &why) == -1)
		return chan_violation(c, "REQUEST_CANCEL %u: %s", m->id, why);
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
on_init_result(struct chan *c, const struct msg_INIT_RESULT *m)
{
	if (is_instance(c))
		instance_init_result(&env, server_of(c), m);
	else
		session_init_result(&env, server_of(c), m);
	return 0;
}

static int
on_discovered(struct chan *c, const struct msg_DISCOVERED *m)
{
	if (is_instance(c))
		instance_discovered(&env, server_of(c), m);
	else
		session_discovered(&env, server_of(c), m);
	return 0;
}

static int
on_listen_end(struct chan *c, const struct msg_LISTEN_END *m)
{
	if (!is_instance(c))
		session_listen_end(&env, server_of(c), m->seq, m->call);
	return 0;
}

static int
on_events_end(struct chan *c, const struct msg_EVENTS_END *m)
{
	session_events(&env, server_of(c), m);
	return 0;
}

static int
on_input_wanted(struct chan *c, const struct msg_INPUT_WANTED *m)
{
	round_wanted(&env, server_of(c), m);
	return 0;
}

static int
on_tools_page(struct chan *c, const struct msg_TOOLS_PAGE *m)
{
	session_tools_page(&env, server_of(c), m);
	return 0;
}

static int
on_list_changed(struct chan *c, const struct msg_LIST_CHANGED *m)
{
	session_list_changed(&env, server_of(c), (enum proto_changed)m->what);
	return 0;
}

static int
on_parts_page(struct chan *c, const struct msg_PARTS_PAGE *m)
{
	parts_page(&env.sessions[server_of(c)], m);
	session_counted(&env.sessions[server_of(c)]);
	return 0;
}

static int
on_log_level(struct chan *c, const struct msg_LOG_LEVEL *m)
{
	session_log_level(&env, m->level);
	return 0;
}

static int
on_request(struct chan *c, const struct msg_SERVER_REQUEST *m)
{
	if (is_instance(c))
		instance_request(&env, server_of(c), m);
	else
		policyd_session_request(&env, server_of(c), m);
	return 0;
}

static int
on_asked(struct chan *c, const struct msg_ASKED *m)
{
	questions_asked(&env, server_of(c), m);
	return 0;
}

static int
on_remotes(struct chan *c, const struct msg_REMOTES *m)
{
	remotes_answer(&env, server_of(c), m);
	return 0;
}

static int
on_gone(struct chan *c, const struct msg_GONE *m)
{
	if (is_instance(c))
		instance_gone(&env, server_of(c), m->text);
	else if (m->died != 0)
		session_died(&env, server_of(c), m->text);
	else
		session_fail(&env, server_of(c), m->text);
	return 0;
}

static int
on_again(struct chan *c, const struct msg_AGAIN *m)
{
	session_again(&env, m->server);
	return 0;
}

static int
on_instance_go(struct chan *c, const struct msg_INSTANCE_GO *m)
{
	if (instance_go(&env, m) == -1)
		return chan_violation(
		    c, "INSTANCE_GO %u twice or impossible", m->server);
	return 0;
}

static int
on_instance_fail_go(struct chan *c, const struct msg_INSTANCE_FAIL_GO *m)
{
	instance_no(&env, m);
	return 0;
}

static int
on_instance_ended_go(struct chan *c, const struct msg_INSTANCE_ENDED_GO *m)
{
	if (instance_room(&env) == -1)
		return chan_violation(c, "INSTANCE_ENDED_GO for none");
	return 0;
}

static int
on_moved(struct chan *c, const struct msg_MOVED *m)
{
	instance_moved(&env, m);
	return 0;
}

static int
on_instance_lost(struct chan *c, const struct msg_INSTANCE_LOST *m)
{
	instance_lost(&env, m->server, true);
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
	kept_start(&env);
	loop_timer_set(
	    env.loop, &env.list_timer, SESSION_LIST_MS, list_late, &env);
	session_publish(&env);
}

void
policyd_serve(struct worker *w)
{
	/* clang-format off */
	static const struct chan_handler handlers[] = {
		/* Frequent ones first: handlers are found by linear search. */
		HANDLER(CALL,		on_call),
		HANDLER(ENDED,		on_ended),
		HANDLER(KNOWN,		on_known),
	HANDLER(SETTINGS,	on_settings),
		HANDLER(PROTECT,	on_protect),
		HANDLER(NARROW,		on_narrow),
		HANDLER(SERVER,		on_server),
		HANDLER(TOOLS_ONLY,	on_tools_only),
		HANDLER(VIEW,		on_view),
		HANDLER(MOUNTS,		on_mounts),
		HANDLER(RULES,		on_rules),
		HANDLER(RULES_SWAP,	on_swap),
		HANDLER(PIN,		on_pin),
		HANDLER(TRUST_GO,	on_trust),
		HANDLER(EVAL,		on_eval),
		HANDLER(SERVER_FAIL,	on_server_fail),
		HANDLER(BUDGET_CALLS,	on_budget_calls),
		HANDLER(CANCEL,		on_cancel),
		HANDLER(VERDICT_GO,	on_verdict),
		HANDLER(REVOKE_GO,	on_revoke),
		HANDLER(RESTORE_GRANT,	on_restore_grant),
		HANDLER(REQUEST_ASK,		on_request_ask),
		HANDLER(REQUEST_CANCEL,	on_request_cancel),
		HANDLER(PROVIDER,	on_provider),
		HANDLER(FORGE_TREE,	on_forge_tree),
		HANDLER(FORGE_FOUND_GO,	on_forge_found),
		HANDLER(HOST_ASK,	on_host_ask),
		HANDLER(INIT_RESULT,	on_init_result),
		HANDLER(TOOLS_PAGE,	on_tools_page),
		HANDLER(LIST_CHANGED,	on_list_changed),
		HANDLER(PARTS_PAGE,	on_parts_page),
		HANDLER(LOG_LEVEL,	on_log_level),
		HANDLER(SERVER_REQUEST,	on_request),
		HANDLER(ASKED,		on_asked),
		HANDLER(REMOTES,	on_remotes),
		HANDLER(DISCOVERED,	on_discovered),
		HANDLER(EVENTS_END,	on_events_end),
		HANDLER(LISTEN_END,	on_listen_end),
		HANDLER(INPUT_WANTED,	on_input_wanted),
		HANDLER(GONE,		on_gone),
		HANDLER(AGAIN,		on_again),
		HANDLER(INSTANCE_GO,	on_instance_go),
		HANDLER(INSTANCE_FAIL_GO,	on_instance_fail_go),
		HANDLER(INSTANCE_ENDED_GO,	on_instance_ended_go),
		HANDLER(INSTANCE_LOST,	on_instance_lost),
		HANDLER(MOVED,		on_moved),
	};
	/* clang-format on */

	env.w = w;
	env.send = send_peer;
	if (policyd_init(&env, &w->loop) == -1)
		fatal("policyd");
	w->start = start;
	w->lost = lost;
	w->loop.after = turn_ended;
	w->loop.after_arg = &env;
	worker_serve(w, handlers, nitems(handlers));
}
