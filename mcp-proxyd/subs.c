/* SPDX-License-Identifier: ISC */
/*
 * Subscriptions to resources: those that policyd allowed and the server took.
 * An agent hears of an update at most once a second for each, and less if it
 * does not read: an update has no content, so that the last one says it all.
 */
#include "proxy.h"

#include <stdlib.h>
#include <string.h>

#include "common/json/json.h"
#include "common/log.h"

#define SUBS_EACH_MS 1000U

struct sub {
	LIST_ENTRY(sub) entry;
	uint16_t server;
	bool due;                 /* an update has not been told yet */
	uint64_t after;           /* loop ms: not before */
	uint64_t call;            /* its request, which stays open, or 0 */
	struct jsonrpc_id listen; /* len 0: it belongs to none */
	char *uri;                /* the server's own */
};

static struct sub *
sub_find(struct agent *a, uint16_t server, const char *uri)
{
	struct sub *s;

	LIST_FOREACH (s, &a->subs, entry)
		if (s->server == server && s->listen.len == 0 &&
		    strcmp(s->uri, uri) == 0)
			return s;
	return NULL;
}

bool
subs_has(struct agent *a, uint16_t server, const char *uri)
{
	return sub_find(a, server, uri) != NULL;
}

bool
subs_full(const struct agent *a)
{
	return a->nsubs == PROXY_SUBS;
}

static void
sub_end(struct agent *a, struct sub *s)
{
	const struct msg_CANCEL m = {.id = s->call};

	if (s->due)
		a->p->nupdates--;
	/* The server's request is open until it hears of this. */
	if (s->call != 0)
		worker_send(&a->p->w, ROLE_POLICY, 0, MSG_CANCEL, &m, -1);
	LIST_REMOVE(s, entry);
	a->nsubs--;
	free(s->uri);
	free(s);
}

void
subs_add(struct agent *a, const struct call *c, const struct jsonrpc_id *listen,
    bool listening)
{
	struct sub *s;

	if (listen == NULL && (s = sub_find(a, c->server, c->asked)) != NULL)
		sub_end(a, s);
	if ((s = calloc(1, sizeof(*s))) == NULL ||
	    (s->uri = strdup(c->asked)) == NULL)
		fatal("subscription");
	s->server = c->server;
	s->call = listening ? c->id : 0;
	if (listen != NULL)
		jsonrpc_id_copy(&s->listen, listen);
	/* The agent hears of it behind the answer to its request. */
	s->due = c->updated;
	if (s->due)
		a->p->nupdates++;
	LIST_INSERT_HEAD(&a->subs, s, entry);
	a->nsubs++;
	/* It was asked for when there was room. */
	if (a->nsubs > PROXY_SUBS)
		sub_end(a, s);
}

void
subs_end(struct agent *a, uint16_t server, const char *uri)
{
	struct sub *s = sub_find(a, server, uri);

	if (s != NULL)
		sub_end(a, s);
}

bool
subs_last(struct agent *a, uint16_t server, const char *uri)
{
	const struct sub *own = sub_find(a, server, uri), *s;

	if (own == NULL || own->call != 0)
		return false;
	for (struct agent *b = NULL; (b = agents_next(a->p, b)) != NULL;)
		LIST_FOREACH (s, &b->subs, entry)
			if (s != own && s->server == server &&
			    strcmp(s->uri, uri) == 0)
				return false;
	return true;
}

void
subs_end_listen(struct agent *a, const struct jsonrpc_id *listen)
{
	struct sub *s, *next;

	for (s = LIST_FIRST(&a->subs); s != NULL; s = next) {
		next = LIST_NEXT(s, entry);
		if (s->listen.len != 0 && jsonrpc_id_eq(&s->listen, listen))
			sub_end(a, s);
	}
}

void
subs_free(struct agent *a)
{
	struct sub *s;

	while ((s = LIST_FIRST(&a->subs)) != NULL)
		sub_end(a, s);
}

/* Tell the agent if it may hear of it now, else later. */
static void
sub_tell(struct agent *a, struct sub *s)
{
	struct proxy *p = a->p;
	uint64_t now = loop_now(&p->w.loop);
	struct buf *b = &a->out, uri;

	if (now < s->after || buf_span(b).len >= LINES_READ) {
		if (!s->due)
			p->nupdates++;
		s->due = true;
		return;
	}
	if (s->due)
		p->nupdates--;
	s->due = false;
	s->after = now + SUBS_EACH_MS;
	buf_init(&uri, 8192);
	buf_printf(
	    &uri, "icmcp://%s/%s", p->servers[s->server].name_text, s->uri);
	buf_adds(b, "{\"jsonrpc\":\"2.0\",\"method\":"
		    "\"notifications/resources/updated\",\"params\":{");
	if (s->listen.len != 0) {
		buf_adds(b, "\"_meta\":{\"" JSONRPC_META "subscriptionId\":");
		buf_add(b, s->listen.text, s->listen.len);
		buf_adds(b, "},");
	}
	buf_adds(b, "\"uri\":");
	(void)json_write_string(b, buf_span(&uri));
	buf_adds(b, "}}\n");
	buf_free(&uri);
	agent_wrote(a);
}

/* Returns true if it is the resource of the subscription, or a part of it. */
static bool
sub_is(const char *own, struct span uri)
{
	size_t n = strlen(own);

	if (uri.len < n || memcmp(uri.p, own, n) != 0)
		return false;
	return uri.len == n || (n != 0 && own[n - 1] == '/') ||
	       uri.p[n] == '/';
}

void
subs_updated(struct proxy *p, uint16_t server, struct span uri)
{
	struct sub *s;
	struct call *c;

	for (struct agent *a = NULL; (a = agents_next(p, a)) != NULL;) {
		LIST_FOREACH (s, &a->subs, entry)
			if (s->server == server && sub_is(s->uri, uri))
				sub_tell(a, s);
		/* The server may tell of a change before it answers. */
		TAILQ_FOREACH (c, &a->calls, of_agent)
			if (c->part == PROTO_PART_SUBSCRIBE &&
			    c->server == server && sub_is(c->asked, uri))
				c->updated = true;
	}
}

void
subs_tick(struct proxy *p)
{
	struct sub *s;

	for (struct agent *a = NULL;
	     p->nupdates != 0 && (a = agents_next(p, a)) != NULL;)
		LIST_FOREACH (s, &a->subs, entry)
			if (s->due)
				sub_tell(a, s);
}
