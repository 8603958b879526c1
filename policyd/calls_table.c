/* SPDX-License-Identifier: ISC */
/*
 * The table of calls in flight. mcp-proxyd counts a call until it is credited
 * from here, so a call beyond the limits shows that mcp-proxyd was compromised.
 */
#include "policyd.h"

#include <stdlib.h>

void
calls_table_init(struct calls *cs)
{
	memset(cs, 0, sizeof(*cs));
	for (unsigned i = 0; i < CALLS_MAX; i++) {
		cs->buckets[i] = CALL_END;
		cs->list[i].next = (uint16_t)(i + 1);
	}
	cs->list[CALLS_MAX - 1].next = CALL_END;
	cs->free = 0;
}

static uint16_t *
bucket(struct calls *cs, uint64_t id)
{
	return &cs->buckets[id % CALLS_MAX];
}

struct call *
calls_table_admit(struct calls *cs, uint64_t id, uint16_t server, size_t bytes,
    const char **why)
{
	struct call *c;
	uint16_t at;

	*why = "call id does not rise";
	if (id <= cs->last)
		return NULL;
	*why = "id of a request, not of a call";
	if ((id & PROTO_ID_KINDS) != 0)
		return NULL;
	*why = "more calls in flight than a session may have";
	if (cs->n == CALLS_MAX)
		return NULL;
	if (server != PROTO_NO_SERVER) {
		*why = "more calls in flight than a server may have";
		if (cs->server_calls[server] == PROTO_MAX_SERVER_CALLS)
			return NULL;
		*why = "more bytes in flight than a server may have";
		if (bytes > PROTO_MAX_SERVER_BYTES - cs->server_bytes[server])
			return NULL;
		cs->server_calls[server]++;
		cs->server_bytes[server] += bytes;
	}
	cs->last = id;
	cs->n++;
	at = cs->free;
	c = &cs->list[at];
	cs->free = c->next;
	*c = (struct call){
	    .id = id,
	    .bytes = (uint32_t)bytes,
	    .server = server,
	    .at = server,
	    .state = CALL_RELEASED,
	    .next = *bucket(cs, id),
	};
	*bucket(cs, id) = at;
	return c;
}

struct call *
calls_table_find(struct calls *cs, uint64_t id)
{
	uint16_t at = *bucket(cs, id);

	while (at != CALL_END && cs->list[at].id != id)
		at = cs->list[at].next;
	return at == CALL_END ? NULL : &cs->list[at];
}

void
calls_table_end(struct calls *cs, struct call *c)
{
	uint16_t at = (uint16_t)(c - cs->list), *p = bucket(cs, c->id);
	size_t owed =
	    c->server < PROTO_MAX_SERVERS ? c->server : PROTO_MAX_SERVERS;

	cs->credit[owed].calls++;
	cs->credit[owed].bytes += c->bytes;
	cs->owing = true;
	while (*p != at)
		p = &cs->list[*p].next;
	*p = c->next;
	if (c->server != PROTO_NO_SERVER) {
		cs->server_calls[c->server]--;
		cs->server_bytes[c->server] -= c->bytes;
	}
	*c = (struct call){.next = cs->free};
	cs->free = at;
	cs->n--;
}

void
calls_credit(struct policyd_env *env)
{
	struct calls *cs = &env->calls;
	struct msg_CREDIT m;

	if (!cs->owing)
		return;
	cs->owing = false;
	for (uint16_t i = 0; i <= PROTO_MAX_SERVERS; i++) {
		if (cs->credit[i].calls == 0)
			continue;
		m.server = i < PROTO_MAX_SERVERS ? i : PROTO_NO_SERVER;
		m.calls = cs->credit[i].calls;
		m.bytes = cs->credit[i].bytes;
		cs->credit[i].calls = cs->credit[i].bytes = 0;
		env->send(env, ROLE_PROXY, MSG_CREDIT, &m);
	}
}
