/* SPDX-License-Identifier: ISC */
/*
 * The revision of MCP that a server speaks. Until 2025-11-25 a session begins
 * with `initialize`; since 2026-07-28 there is none, and each request says what
 * it is. A server that nobody knows is asked once with server/discover. If it
 * does not know that, does not answer in time, or ends, it gets `initialize`.
 * The finding is kept for later sessions by what is pinned: a server of the
 * newer revision has a pin of it.
 */
#include "session.h"

#include <stdio.h>

#include "common/log.h"
#include "common/sha256.h"
#include "policyd.h"

#define ERA_DEFINITION                                                         \
	"{\"description\":\"" COMPOSE_MODERN "\",\"name\":\"" TOOLS_REVISION   \
	"\"}\n"

static bool
era_afar(const struct session *s)
{
	return (s->env->engine.servers[s->index].reach & PROTO_REACH_AFAR) != 0;
}

void
era_recall(struct session *s)
{
	const struct server *srv = &s->env->engine.servers[s->index];
	const struct span all[] = {
	    SPAN(ERA_DEFINITION), span_of(srv->command, sizeof(srv->command))};
	uint8_t digest[PIN_DIGEST];
	const struct pin *p;

	s->era = ERA_OLD;
	if (srv->own || srv->internal)
		return;
	p = pins_of_tool(&s->env->pins, s->index, SPAN(TOOLS_REVISION));
	if (p == NULL) {
		if (!s->env->pins.known[s->index])
			s->era = ERA_UNKNOWN;
		return;
	}
	sha256_spans(all, nitems(all), digest);
	s->era = memcmp(digest, p->digest, PIN_DIGEST) == 0 ? ERA_MODERN
							    : ERA_UNKNOWN;
}

void
era_pin(struct session *s)
{
	if (!s->modern &&
	    pins_of_tool(&s->env->pins, s->index, SPAN(TOOLS_REVISION)) == NULL)
		return;
	tools_add_words(&s->next,
	    span_str(s->env->engine.servers[s->index].name), TOOLS_REVISION,
	    span_str(s->version));
}

static void
era_initialize(struct session *s)
{
	loop_timer_clear(s->env->loop, &s->era_timer);
	s->probing = false;
	if (s->greeted)
		return;
	s->greeted = true;
	if (compose_initialize(
		&s->env->line, session_elicits(s->env, s->index)) == 0)
		session_send(s->env, s->index, "initialize");
}

/*
 * There is no answer yet. The server may still be starting: it gets both
 * requests then, and the first answer counts.
 */
static void
era_due(struct loop_timer *t)
{
	struct session *s = t->arg;

	if (s->probing)
		era_initialize(s);
}

static void
era_revision(struct session *s)
{
	if (era_afar(s) && compose_revision(&s->env->line, s->version) == 0)
		session_send(s->env, s->index, "protocol-version");
}

static void
era_probe(struct session *s)
{
	(void)snprintf(s->version, sizeof(s->version), "%s", COMPOSE_MODERN);
	era_revision(s);
	s->version[0] = '\0';
	s->probing = s->probed = s->unanswered = true;
	if (compose_discover(
		&s->env->line, session_elicits(s->env, s->index)) == 0)
		session_send(s->env, s->index, "server/discover");
	loop_timer_set(s->env->loop, &s->era_timer,
	    era_afar(s) ? SESSION_PROBE_AFAR_MS : SESSION_PROBE_MS, era_due, s);
}

void
era_begin(struct session *s)
{
	s->modern = s->probing = s->probed = s->greeted = false;
	s->unanswered = false;
	s->refused[0] = '\0';
	s->listen = 0;
	parts_join(s);
	if (s->era == ERA_OLD)
		era_initialize(s);
	else
		era_probe(s);
}

static void
era_listen_due(struct loop_timer *t)
{
	struct session *s = t->arg;
	const struct compose_form f = session_form(s);
	const char *uris[SESSION_SUBS];
	unsigned n = parts_joined(s, uris);

	if (!s->modern || (s->listen == 0 && n == 0) ||
	    s->state == PROTO_STATE_GONE || s->state == PROTO_STATE_DIED)
		return;
	s->listen_seq++;
	s->listened = loop_now(s->env->loop);
	if (compose_listen(
		&s->env->line, &f, s->listen_seq, s->listen, uris, n) == 0)
		session_send(s->env, s->index, "subscriptions/listen");
}

bool
era_listen_ended(struct session *s, uint32_t seq, uint64_t call)
{
	uint64_t now = loop_now(s->env->loop);

	if (!s->used || !s->modern || (seq != 0 && seq != s->listen_seq) ||
	    (seq == 0 && !parts_ended(s, call)) || s->era_timer.at != 0)
		return false;
	if (s->listen_wait == 0 || now - s->listened >= SESSION_LASTED_MS)
		s->listen_wait = SESSION_LISTEN_MS;
	loop_timer_set(
	    s->env->loop, &s->era_timer, s->listen_wait, era_listen_due, s);
	s->listen_wait *= 2;
	if (s->listen_wait > SESSION_LISTEN_LONG_MS)
		s->listen_wait = SESSION_LISTEN_LONG_MS;
	return true;
}

static void
era_modern(struct session *s, const struct msg_DISCOVERED *m)
{
	loop_timer_clear(s->env->loop, &s->era_timer);
	s->probing = false;
	s->refused[0] = '\0';
	s->modern = true;
	s->era = ERA_MODERN;
	(void)snprintf(s->version, sizeof(s->version), "%s", COMPOSE_MODERN);
	/* An `initialize` has made its keyd forget it. */
	if (s->greeted)
		era_revision(s);
	s->parts = m->parts;
	s->listen = m->listen;
	(void)snprintf(s->words, sizeof(s->words), "%.*s",
	    (int)m->instructions.len, (const char *)m->instructions.p);
	log_vis_again(m->text, s->text, sizeof(s->text));
	s->era_timer.arg = s;
	era_listen_due(&s->era_timer);
}

enum era_next
era_discovered(struct session *s, const struct msg_DISCOVERED *m)
{
	if (!s->used || s->state != PROTO_STATE_STARTING || !s->probed)
		return ERA_WAIT;
	s->unanswered = false;
	switch (m->how) {
	case PROTO_DISCOVERED_MODERN:
		era_modern(s, m);
		return ERA_GO;
	case PROTO_DISCOVERED_INITIALIZE:
		if (s->refused[0] != '\0')
			return ERA_FAIL;
		if (s->probing) {
			s->era = ERA_OLD;
			era_initialize(s);
		}
		return ERA_WAIT;
	default:
		/* The answer to `initialize` decides if that was sent. */
		if (!s->probing && s->refused[0] == '\0')
			return ERA_WAIT;
		era_end(s);
		return ERA_FAIL;
	}
}

bool
era_refused(struct session *s, const char *why)
{
	if (s->env->engine.servers[s->index].own ||
	    s->env->engine.servers[s->index].internal ||
	    (s->probed && (!s->unanswered || !era_afar(s))))
		return false;
	(void)strlcpy(s->refused, why, sizeof(s->refused));
	if (!s->probed) {
		s->era = ERA_UNKNOWN;
		era_probe(s);
	}
	return true;
}

bool
era_died(struct session *s)
{
	if (s->state != PROTO_STATE_STARTING || !s->probed ||
	    s->era == ERA_OLD || s->refused[0] != '\0')
		return false;
	s->era = ERA_OLD;
	return true;
}

void
era_end(struct session *s)
{
	loop_timer_clear(s->env->loop, &s->era_timer);
	s->probing = false;
}
