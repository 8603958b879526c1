/* SPDX-License-Identifier: ISC */
/*
 * The table of calls in flight.  Ids are issued here, in rising order, and are
 * never used twice; the caller drops a message about an id that is not in the
 * table.  One tick a second checks all deadlines, so a call arms no timer.
 *
 * A call that was given up (cancelled, overdue, or its connection closed) has
 * no agent any more, but keeps its place until auditd reports its end, which
 * does not wait for the server: so the processes behind us never have more
 * calls than we count.
 */
#include "proxy.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"

#define TICK_MS 1000U

static struct call **
bucket_of(struct proxy *p, uint64_t id)
{
	return &p->bucket[id % PROTO_MAX_CALLS];
}

/* FNV-1a of the connection and the agent's id. */
static struct call **
rid_bucket(struct agent *a, const struct jsonrpc_id *rid)
{
	uint32_t h = 0x811c9dc5U ^ a->number;

	for (size_t i = 0; i < rid->len; i++)
		h = (h ^ rid->text[i]) * 0x01000193U;
	return &a->p->by_rid[(h ^ h >> 16) % PROTO_MAX_CALLS];
}

void
calls_init(struct proxy *p)
{
	p->free = NULL;
	p->call_rows = 0;
}

bool
calls_admit(const struct proxy *p, uint16_t server, size_t bytes)
{
	const struct proxy_server *s;

	if ((p->free == NULL && p->call_rows == PROTO_MAX_CALLS) ||
	    p->uncredited >= PROTO_MAX_CALLS)
		return false;
	if (server == PROTO_NO_SERVER)
		return true;
	s = &p->servers[server];
	return s->calls < PROTO_MAX_SERVER_CALLS &&
	       bytes <= PROTO_MAX_SERVER_BYTES - s->bytes;
}

static void
tick(struct loop_timer *t)
{
	struct proxy *p = t->arg;

	calls_tick(p);
	agents_tick(p);
	subs_tick(p);
	if (p->nupdates != 0 || p->ncalls != p->ngiven_up || p->nclosing != 0 ||
	    p->nfull != 0)
		loop_timer_set(&p->w.loop, t, TICK_MS, tick, p);
}

void
calls_wake(struct proxy *p)
{
	if (p->tick.at == 0)
		loop_timer_set(&p->w.loop, &p->tick, TICK_MS, tick, p);
}

struct call *
calls_new(struct agent *a, enum call_kind kind, uint16_t server, size_t bytes,
    const struct jsonrpc_id *rid)
{
	struct proxy *p = a->p;
	struct call *c = p->free, **b;

	if (c == NULL)
		c = &p->calls[p->call_rows++];
	else
		p->free = c->next;
	c->id = ++p->last_id;
	c->agent = a;
	c->kind = kind;
	c->server = c->from = server;
	c->bytes = bytes;
	c->deadline = loop_now(&p->w.loop) + p->call_ms;
	c->held = 0;
	c->notes = 0;
	c->held_as[0] = '\0';
	c->question = false;
	c->token.len = 0;
	c->name[0] = '\0';
	c->part = 0;
	c->modern = false;
	c->level = 0;
	c->declares = 0;
	c->decided = NULL;
	c->asked = NULL;
	c->updated = false;
	b = bucket_of(p, c->id);
	c->next = *b;
	*b = c;
	jsonrpc_id_copy(&c->rid, rid);
	b = rid_bucket(a, rid);
	c->rid_next = *b;
	*b = c;
	TAILQ_INSERT_TAIL(&a->calls, c, of_agent);
	if (kind == CALL_TOOL)
		p->uncredited++;
	if (server != PROTO_NO_SERVER) {
		p->servers[server].calls++;
		p->servers[server].bytes += bytes;
	}
	p->ncalls++;
	calls_wake(p);
	return c;
}

struct call *
calls_find(struct proxy *p, uint64_t id)
{
	struct call *c;

	for (c = *bucket_of(p, id); c != NULL; c = c->next) {
		if (c->id == id)
			return c;
	}
	return NULL;
}

struct call *
calls_find_rid(struct agent *a, const struct jsonrpc_id *rid)
{
	struct call *c;

	for (c = *rid_bucket(a, rid); c != NULL; c = c->rid_next) {
		if (c->agent == a && jsonrpc_id_eq(&c->rid, rid))
			return c;
	}
	return NULL;
}

/* Take a call from its connection: its id there may be used again. */
static void
calls_leave(struct call *c)
{
	struct call **at = rid_bucket(c->agent, &c->rid);

	while (*at != c)
		at = &(*at)->rid_next;
	*at = c->rid_next;
	TAILQ_REMOVE(&c->agent->calls, c, of_agent);
	c->agent = NULL;
}

void
calls_end(struct proxy *p, struct call *c)
{
	struct call **at = bucket_of(p, c->id);

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	if (c->agent != NULL)
		calls_leave(c);
	else
		p->ngiven_up--;
	c->id = 0;
	free(c->asked);
	c->asked = NULL;
	c->next = p->free;
	p->free = c;
	p->ncalls--;
	p->ended = true;
}

void
calls_cancel(struct proxy *p, struct call *c)
{
	const struct msg_CANCEL m = {.id = c->id};

	if (c->kind != CALL_TOOL) {
		calls_end(p, c);
		return;
	}
	calls_leave(c);
	p->ngiven_up++;
	worker_send(&p->w, ROLE_POLICY, 0, MSG_CANCEL, &m, -1);
}

/*
 * Tell an agent that asked for progress that the call is waiting for approval.
 */
static void
note(struct proxy *p, struct call *c)
{
	uint64_t now = loop_now(&p->w.loop), waited = (now - c->held) / 1000;
	char text[160], call[64] = "a pending call (icctl pending)",
			progress[24];

	c->note = now + p->note_ms;
	if (c->token.len == 0)
		return;
	/*
	 * Progress has to increase, and the server's own progress, which may
	 * follow, often begins at 1.
	 */
	(void)snprintf(progress, sizeof(progress), "0.%06u", ++c->notes);
	if (c->held_as[0] != '\0')
		(void)snprintf(call, sizeof(call),
		    "pending call %s (icctl approve %s)", c->held_as,
		    c->held_as);
	if (c->question)
		(void)snprintf(text, sizeof(text),
		    "the server asks the user a question (icctl pending), "
		    "%llu s of %u s",
		    (unsigned long long)waited, c->held_ms / 1000);
	else
		(void)snprintf(text, sizeof(text),
		    "waiting for approval: %s, %llu s of %u s", call,
		    (unsigned long long)waited, c->held_ms / 1000);
	answer_note(c, span_str(progress), SPAN(""), span_str(text));
}

void
calls_held(struct proxy *p, struct call *c, uint32_t ms)
{
	c->held = loop_now(&p->w.loop);
	c->held_ms = ms;
	c->deadline += ms;
	note(p, c);
}

void
calls_question(struct proxy *p, struct call *c, uint32_t ms)
{
	c->held = 0;
	c->question = ms != 0;
	if (c->question)
		calls_held(p, c, ms);
}

void
calls_held_as(struct proxy *p, struct call *c, struct span name)
{
	memcpy(c->held_as, name.p, name.len);
	c->held_as[name.len] = '\0';
	if (c->held != 0)
		note(p, c);
}

static void
overdue(struct proxy *p, struct call *c)
{
	char text[PROXY_MAX_TOOL + 256];

	if (c->kind == CALL_LIST) {
		answer_tools(c->agent, &c->rid, c->modern);
		calls_end(p, c);
		return;
	}
	(void)snprintf(text, sizeof(text),
	    "Error: %s was not answered within %llu s and was cancelled; it "
	    "may or may not have taken effect. Check before you retry.",
	    c->name, (unsigned long long)p->call_ms / 1000);
	answer_text(c, span_str(text), true);
	calls_cancel(p, c);
}

void
calls_tick(struct proxy *p)
{
	uint64_t now = loop_now(&p->w.loop);

	for (size_t i = 0; i < p->call_rows; i++) {
		struct call *c = &p->calls[i];

		if (c->id == 0 || c->agent == NULL)
			continue;
		if (now >= c->deadline)
			overdue(p, c);
		else if (c->held != 0 && now >= c->note)
			note(p, c);
	}
}
