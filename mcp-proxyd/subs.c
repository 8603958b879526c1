/* SPDX-License-Identifier: ISC */
/*
 * Subscriptions to resources: those that policyd allowed and the server took. An
 * agent hears of an update at most once a second for each, and less if it does
 * not read: an update has no content, so that the last one says it all.
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
	bool due;	/* an update has not been told yet */
	uint64_t after; /* loop ms: not before */
	char *uri;	/* the server's own */
};

static struct sub *
sub_find(struct agent *a, uint16_t server, const char *uri)
{
	struct sub *s;

	LIST_FOREACH (s, &a->subs, entry)
		if (s->server == server && strcmp(s->uri, uri) == 0)
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
	if (s->due)
		a->p->nupdates--;
	LIST_REMOVE(s, entry);
	a->nsubs--;
	free(s->uri);
	free(s);
}

void
subs_set(struct agent *a, uint16_t server, const char *uri, bool on)
{
	struct sub *s = sub_find(a, server, uri);

	if (!on && s != NULL)
		sub_end(a, s);
	if (!on || s != NULL || subs_full(a))
		return;
	if ((s = calloc(1, sizeof(*s))) == NULL ||
	    (s->uri = strdup(uri)) == NULL)
		fatal("subscription");
	s->server = server;
	LIST_INSERT_HEAD(&a->subs, s, entry);
	a->nsubs++;
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
	buf_printf(&uri, "icmcp://%s/%s", p->servers[s->server].name_text,
	    s->uri);
	buf_adds(b, "{\"jsonrpc\":\"2.0\",\"method\":"
		    "\"notifications/resources/updated\",\"params\":{\"uri\":");
	(void)json_write_string(b, buf_span(&uri));
	buf_adds(b, "}}\n");
	buf_free(&uri);
	agent_wrote(a);
}

/* Returns true if it is the resource that was subscribed to, or a part of it. */
static bool
sub_is(const struct sub *s, struct span uri)
{
	size_t n = strlen(s->uri);

	if (uri.len < n || memcmp(uri.p, s->uri, n) != 0)
		return false;
	return uri.len == n || (n != 0 && s->uri[n - 1] == '/') ||
	       uri.p[n] == '/';
}

void
subs_updated(struct proxy *p, uint16_t server, struct span uri)
{
	struct agent *a;
	struct sub *s;

	for (size_t i = 0; i < PROXY_AGENTS; i++) {
		a = &p->agents[i];
		if (a->fd == -1)
			continue;
		LIST_FOREACH (s, &a->subs, entry)
			if (s->server == server && sub_is(s, uri))
				sub_tell(a, s);
	}
}

void
subs_tick(struct proxy *p)
{
	struct agent *a;
	struct sub *s;

	for (size_t i = 0; p->nupdates != 0 && i < PROXY_AGENTS; i++) {
		a = &p->agents[i];
		if (a->fd == -1)
			continue;
		LIST_FOREACH (s, &a->subs, entry)
			if (s->due)
				sub_tell(a, s);
	}
}
