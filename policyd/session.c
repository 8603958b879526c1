/* SPDX-License-Identifier: ISC */
/*
 * Sessions with MCP servers. Each line to a server is composed here. A server
 * that speaks out of turn gets no answer: its state bounds what it can make
 * policyd do.
 */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "policyd.h"

static void
session_say(struct session *s)
{
	struct msg_STATE msg = {
	    .server = s->index,
	    .state = (uint8_t)s->state,
	    .resources = s->parts_of.list[PROTO_LIST_RESOURCES].shown,
	    .prompts = s->parts_of.list[PROTO_LIST_PROMPTS].shown,
	    .parts = s->parts,
	    .version = span_str(s->version),
	    .text = span_str(s->text),
	};

	for (size_t i = 0; i < s->tools.n; i++)
		msg.tools += tools_offered(&s->tools.list[i]);
	s->told_resources = msg.resources;
	s->told_prompts = msg.prompts;
	s->env->send(s->env, ROLE_AUDIT, MSG_STATE, &msg);
}

void
session_counted(struct session *s)
{
	const struct parts_list *l = s->parts_of.list;

	if (s->state == PROTO_STATE_READY &&
	    (l[PROTO_LIST_RESOURCES].shown != s->told_resources ||
		l[PROTO_LIST_PROMPTS].shown != s->told_prompts))
		session_say(s);
}

static void
session_state(struct session *s, enum proto_state state, struct span text)
{
	s->state = state;
	log_vis_again(text, s->text, sizeof(s->text));
	session_say(s);
}

static bool
is_afar(const struct policyd_env *env, unsigned index)
{
	return (env->engine.servers[index].reach & PROTO_REACH_AFAR) != 0;
}

/*
 * Nobody waits for a remote server as long as there is another one: its tools
 * are announced when they come.
 */
static bool
all_listed(const struct policyd_env *env)
{
	bool here = false, afar = false;
	const struct session *s;

	if (env->list_late)
		return true;
	for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++) {
		s = &env->sessions[i];
		if (!s->used || env->engine.servers[i].internal)
			continue;
		here |= !is_afar(env, i);
		if (s->listed || s->state == PROTO_STATE_GONE || s->away != 0)
			continue;
		if (!is_afar(env, i))
			return false;
		afar = true;
	}
	return here || !afar;
}

/* Find which tools have room, and say of which servers that changed. */
static void
list_room(struct policyd_env *env)
{
	unsigned was[PROTO_MAX_SERVERS];

	for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++)
		was[i] = env->sessions[i].crowded;
	(void)tools_make_room(env);
	for (unsigned i = 0; i < PROTO_MAX_SERVERS && env->started; i++) {
		if (!env->sessions[i].used)
			continue;
		if (was[i] != env->sessions[i].crowded &&
		    env->sessions[i].state == PROTO_STATE_READY)
			session_say(&env->sessions[i]);
		tool_notes_send(&env->sessions[i]);
	}
}

void
session_publish(struct policyd_env *env)
{
	struct msg_TOOLS msg = {
	    .complete = all_listed(env), .ttl = PROTO_MAX_TTL};
	const struct session_tools *t;
	const char *before = "";
	struct told_text told;
	struct buf b;

	list_room(env);
	told_begin(&told);
	buf_init(&b, 8U << 20);
	buf_addc(&b, '[');
	for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++) {
		t = &env->sessions[i].tools;
		if (env->sessions[i].state == PROTO_STATE_GONE)
			continue;
		if (t->n != 0 && !env->engine.servers[i].own &&
		    !env->engine.servers[i].virtual &&
		    env->sessions[i].ttl < msg.ttl)
			msg.ttl = env->sessions[i].ttl;
		for (size_t k = 0; k < t->n; k++) {
			if (t->list[k].words &&
			    env->sessions[i].words[0] != '\0' &&
			    pins_usable(&t->list[k]) &&
			    span_is(t->list[k].name, TOOLS_WORDS))
				told_words(&told,
				    span_str(env->engine.servers[i].name),
				    span_str(env->sessions[i].words));
			if (!tools_offered(&t->list[k]) ||
			    unknown_hidden(env, i, t->list[k].name))
				continue;
			buf_adds(&b, before);
			buf_addspan(&b, t->list[k].json);
			told_add(&told, &t->list[k]);
			before = ",";
		}
	}
	buf_addc(&b, ']');
	msg.text = buf_span(&b);
	told_send(&told, env, msg.complete);
	if (!b.failed)
		env->send(env, ROLE_PROXY, MSG_TOOLS, &msg);
	buf_free(&b);
}

/* Ask the server to log, if an agent wants that. */
static void
session_level(struct session *s)
{
	if (s->env->log_level == 0 || (s->parts & PROTO_PART_LOGGING) == 0 ||
	    s->modern)
		return;
	if (compose_log_level(&s->env->line, s->env->log_level - 1U) == 0)
		session_send(s->env, s->index, "logging/setLevel");
	else
		buf_reset(&s->env->line, 0);
}

void
session_log_level(struct policyd_env *env, uint8_t level)
{
	struct session *s;

	env->log_level = (uint8_t)(level + 1);
	for (unsigned i = 0; i < PROTO_FIRST_INSTANCE; i++) {
		s = &env->sessions[i];
		if (s->used && (s->state == PROTO_STATE_LISTING ||
				   s->state == PROTO_STATE_READY))
			session_level(s);
	}
}

static void
ask_page(struct session *s, struct span cursor)
{
	const struct compose_form f = session_form(s);

	s->seq++;
	s->pages++;
	if (compose_tools_list(&s->env->line, &f, s->seq, cursor) == 0)
		session_send(s->env, s->index, "tools/list");
	else
		buf_reset(&s->env->line, 0);
}

static void
list_begin(struct session *s)
{
	tools_free(&s->next);
	s->next.mirrors = s->modern && is_afar(s->env, s->index);
	s->listing = true;
	s->again = false;
	s->pages = 0;
	s->next_ttl = PROTO_MAX_TTL;
	ask_page(s, span_of(NULL, 0));
}

static void
relist_due(struct loop_timer *t)
{
	struct session *s = t->arg;

	if (s->state == PROTO_STATE_READY && s->again && !s->listing)
		list_begin(s);
}

static void
list_done(struct session *s)
{
	const struct server *srv = &s->env->engine.servers[s->index];
	struct session_tools old = s->tools;

	s->listing = false;
	/* None are pinned as well, so that later ones are a change. */
	if (!srv->virtual)
		tools_add_words(&s->next, span_str(srv->name), TOOLS_WORDS,
		    span_str(s->words));
	era_pin(s);
	tools_sort(&s->next);
	s->tools = s->next;
	s->next = (struct session_tools){0};
	tools_hide(s);
	s->ttl = s->next_ttl;
	pins_judge(s->env, s, &old);
	tools_free(&old);
	s->listed = true;
	/* Before it is ready, so that its notes are known then. */
	list_room(s->env);
	session_state(s, PROTO_STATE_READY, span_of(NULL, 0));
	parts_publish(s->env);
	kept_judge(s->env, s->index);
	session_publish(s->env);
	if (s->again)
		loop_timer_set(
		    s->env->loop, &s->relist, SESSION_RELIST_MS, relist_due, s);
	s->env->server_listed(s->env, s->index);
}

static void
session_begin(struct session *s)
{
	s->tokens = SESSION_ANSWERS;
	s->token_time = loop_now(s->env->loop);
	s->state = PROTO_STATE_STARTING;
	era_begin(s);
}

static void
away_due(struct loop_timer *t)
{
	struct session *s = t->arg;

	if (s->state == PROTO_STATE_STARTING)
		session_begin(s);
}

/*
 * A remote server could not be reached at the start: it is asked again, for as
 * long as the session runs, and its tools are announced when they come.
 */
static void
session_away(struct session *s, struct span text)
{
	uint64_t ms = SESSION_AWAY_MAX_MS;
	char vis[sizeof(s->text)];

	if (s->away < 5)
		ms = SESSION_AWAY_MS << s->away;
	s->away++;
	log_vis_again(text, vis, sizeof(vis));
	if (strcmp(vis, s->text) != 0)
		session_state(s, PROTO_STATE_STARTING, text);
	if (s->away == 1) {
		session_publish(s->env);
		s->env->server_listed(s->env, s->index);
	}
	loop_timer_set(s->env->loop, &s->relist, ms, away_due, s);
}

void
session_trust(struct policyd_env *env, const struct msg_TRUST_GO *m)
{
	if (!pins_trust(env, m))
		return;
	session_say(&env->sessions[m->server]);
	session_publish(env);
}

void
session_start(struct policyd_env *env, uint16_t index)
{
	struct session *s = &env->sessions[index];

	s->env = env;
	s->index = index;
	s->used = true;
	if (s->state == PROTO_STATE_GONE) {
		/* The server failed before START: report it now. */
		session_say(s);
		return;
	}
	era_recall(s);
	session_begin(s);
}

int
session_builtin(
    struct policyd_env *env, uint16_t index, const struct value *array)
{
	struct session *s = &env->sessions[index];

	s->used = true;
	if (tools_add_page(&s->next, &env->limits,
		span_str(env->engine.servers[index].name), array) == -1)
		return -1;
	list_done(s);
	return 0;
}

void
session_fail(struct policyd_env *env, uint16_t index, struct span text)
{
	struct session *s = &env->sessions[index];

	s->env = env;
	s->index = index;
	if (s->state == PROTO_STATE_GONE)
		return;
	s->listing = s->again = false;
	era_end(s);
	loop_timer_clear(env->loop, &s->relist);
	loop_timer_clear(env->loop, &s->parts_of.relist);
	tools_free(&s->tools);
	tools_free(&s->next);
	parts_free(s);
	parts_forget(s);
	if (!env->started) {
		/* Report it after START: auditd accepts nothing earlier. */
		s->state = PROTO_STATE_GONE;
		log_vis_again(text, s->text, sizeof(s->text));
		return;
	}
	session_state(s, PROTO_STATE_GONE, text);
	kept_judge(env, index);
	env->server_gone(env, index);
	parts_publish(env);
	session_publish(env);
	env->server_listed(env, index);
}

void
session_died(struct policyd_env *env, uint16_t index, struct span text)
{
	const struct server *srv = &env->engine.servers[index];
	struct session *s = &env->sessions[index];
	char vis[400], why[512];

	if (env->started && s->used && era_died(s)) {
		era_end(s);
		snprintf(why, sizeof(why),
		    "%s when it was asked for revision " COMPOSE_MODERN
		    " of MCP; now it is asked for an older one",
		    log_vis(text, vis, sizeof(vis)));
		session_state(s, PROTO_STATE_DIED, span_str(why));
		return;
	}
	if (!env->started || !s->used || !s->listed || srv->own ||
	    srv->internal || s->state == PROTO_STATE_GONE) {
		session_fail(env, index,
		    s->refused[0] == '\0' ? text : span_str(s->refused));
		return;
	}
	if (is_afar(env, index) &&
	    loop_now(env->loop) - s->restarted >= SESSION_QUIET_MS)
		s->restarts = 0;
	if (s->restarts == SESSION_RESTARTS) {
		snprintf(why, sizeof(why),
		    "it ended %u times; the last time it %s",
		    SESSION_RESTARTS + 1, log_vis(text, vis, sizeof(vis)));
		session_fail(env, index, span_str(why));
		return;
	}
	s->restarts++;
	s->restarted = loop_now(env->loop);
	s->listing = s->again = false;
	era_end(s);
	loop_timer_clear(env->loop, &s->relist);
	loop_timer_clear(env->loop, &s->parts_of.relist);
	tools_free(&s->next);
	/* Keep the tools, to compare them with the next listing. */
	session_state(s, PROTO_STATE_DIED, text);
}

void
session_again(struct policyd_env *env, uint16_t index)
{
	struct session *s = &env->sessions[index];

	/*
	 * The server may have failed for another reason meanwhile. A remote
	 * one begins again when somebody has logged in.
	 */
	if (s->state != PROTO_STATE_DIED &&
	    (s->state != PROTO_STATE_GONE || !is_afar(env, index)))
		return;
	session_begin(s);
	session_say(s);
}

static void
session_greeted(struct session *s, bool tools)
{
	s->state = PROTO_STATE_LISTING;
	session_say(s);
	session_level(s);
	parts_resend(s);
	parts_begin(s);
	s->next_ttl = PROTO_MAX_TTL;
	if (tools)
		list_begin(s);
	else
		list_done(s);
}

static void
unanswered_due(struct loop_timer *t)
{
	struct session *s = t->arg;

	session_fail(s->env, s->index, span_str(s->refused));
}

void
session_init_result(
    struct policyd_env *env, uint16_t index, const struct msg_INIT_RESULT *m)
{
	static const struct msg_EVENTS_END own = {
	    .id = {NULL, 0}, .last = {NULL, 0}};
	struct session *s = &env->sessions[index];
	char text[256], vis[40];

	if (!s->used || s->state != PROTO_STATE_STARTING || !s->greeted)
		return;
	if (!m->good && m->tools && is_afar(env, index) && !s->listed) {
		session_away(s, m->text);
		return;
	}
	if (!m->good) {
		snprintf(text, sizeof(text), "%s%.*s",
		    is_afar(env, index) ? "" : "refused initialize: ",
		    (int)m->text.len, (const char *)m->text.p);
		if (!era_refused(s, text))
			session_fail(env, index, span_str(text));
		else if (!is_afar(env, index))
			loop_timer_set(env->loop, &s->era_timer,
			    SESSION_PROBE_MS, unanswered_due, s);
		return;
	}
	if (!session_version_known(m->version)) {
		snprintf(text, sizeof(text),
		    "speaks MCP version %s, which "
		    "IronCurtain does not support",
		    log_vis(m->version, vis, sizeof(vis)));
		session_fail(env, index, span_str(text));
		return;
	}
	(void)snprintf(s->version, sizeof(s->version), "%.*s",
	    (int)m->version.len, (const char *)m->version.p);
	if (is_afar(env, index) &&
	    compose_revision(&env->line, s->version) == 0)
		session_send(env, index, "protocol-version");
	if (compose_initialized(&env->line) == 0)
		session_send(env, index, "initialized");
	s->parts = m->parts;
	(void)snprintf(s->words, sizeof(s->words), "%.*s",
	    (int)m->instructions.len, (const char *)m->instructions.p);
	era_end(s);
	s->era = ERA_OLD;
	if (env->engine.servers[index].internal) {
		session_state(s, PROTO_STATE_READY, m->text);
		return;
	}
	log_vis_again(m->text, s->text, sizeof(s->text));
	session_greeted(s, m->tools != 0);
	/* Its own stream has its messages and questions. */
	session_events(env, index, &own);
}

void
session_discovered(
    struct policyd_env *env, uint16_t index, const struct msg_DISCOVERED *m)
{
	struct session *s = &env->sessions[index];

	switch (era_discovered(s, m)) {
	case ERA_GO:
		session_greeted(s, m->tools != 0);
		break;
	case ERA_FAIL:
		if (m->tools && is_afar(env, index) && !s->listed)
			session_away(s, m->text);
		else
			session_fail(env, index,
			    m->text.len != 0 ? m->text : span_str(s->refused));
		break;
	case ERA_WAIT:
		break;
	}
}

static int
take_page(struct session *s, const struct msg_TOOLS_PAGE *m)
{
	struct span server = span_str(s->env->engine.servers[s->index].name);
	const struct value *array;
	int ret = -1;

	value_pool_reset(s->env->pool);
	array = value_decode(s->env->pool, m->tree);
	if (array != NULL && array->type == VALUE_ARRAY)
		ret = tools_add_page(&s->next, &s->env->limits, server, array);
	value_pool_reset(s->env->pool);
	return ret;
}

void
session_tools_page(
    struct policyd_env *env, uint16_t index, const struct msg_TOOLS_PAGE *m)
{
	struct session *s = &env->sessions[index];

	if (!s->used || !s->listing || m->seq != s->seq)
		return;
	if (m->ttl < s->next_ttl)
		s->next_ttl = m->ttl;
	if (!m->good || take_page(s, m) == -1) {
		s->listing = false;
		tools_free(&s->next);
		/* The server keeps the tools that it had before. */
		if (s->state == PROTO_STATE_LISTING)
			session_fail(env, index, SPAN("tools/list failed"));
		return;
	}
	if (m->cursor.len != 0 && s->pages < SESSION_MAX_PAGES) {
		ask_page(s, m->cursor);
		return;
	}
	if (m->cursor.len != 0)
		log_warnx("server %s: more than %u pages of tools",
		    env->engine.servers[index].name, SESSION_MAX_PAGES);
	list_done(s);
}

static bool
may_relist(const struct session *s)
{
	return s->used && !s->env->engine.servers[s->index].internal &&
	       (s->state == PROTO_STATE_READY || s->listing);
}

/* Ask for a list again, because it changed or may have changed. */
static void
session_relist(struct session *s, enum proto_changed what)
{
	if (what != PROTO_CHANGED_TOOLS) {
		parts_changed(s, what);
		return;
	}
	if (!s->again && !s->listing)
		loop_timer_set(
		    s->env->loop, &s->relist, SESSION_RELIST_MS, relist_due, s);
	s->again = true;
}

void
session_list_changed(
    struct policyd_env *env, uint16_t index, enum proto_changed what)
{
	struct session *s = &env->sessions[index];

	if (env->engine.servers[index].internal ||
	    (what == PROTO_CHANGED_TOOLS && !may_relist(s)))
		return;
	if (what == PROTO_CHANGED_TOOLS)
		tool_grants_end(env, index, span_of(NULL, 0), true,
		    "its server says that its tools changed");
	session_relist(s, what);
}

void
session_listen_end(
    struct policyd_env *env, uint16_t index, uint32_t seq, uint64_t call)
{
	static const struct {
		uint8_t bit;
		enum proto_changed what;
	} all[] = {
	    {PROTO_LISTEN_TOOLS, PROTO_CHANGED_TOOLS},
	    {PROTO_LISTEN_RESOURCES, PROTO_CHANGED_RESOURCES},
	    {PROTO_LISTEN_PROMPTS, PROTO_CHANGED_PROMPTS},
	};
	struct session *s = &env->sessions[index];

	if (!era_listen_ended(s, seq, call) || seq == 0)
		return;
	/*
	 * The server does not say that something changed: no approval ends
	 * unless the list says so.
	 */
	for (size_t i = 0; i < nitems(all); i++)
		if ((s->listen & all[i].bit) != 0 &&
		    (all[i].what != PROTO_CHANGED_TOOLS || may_relist(s)))
			session_relist(s, all[i].what);
}

void
session_free(struct session *s)
{
	tools_free(&s->tools);
	tools_free(&s->next);
	parts_free(s);
	parts_forget(s);
	for (unsigned i = 0; i < s->nonly; i++)
		free(s->only[i]);
	s->nonly = 0;
}
