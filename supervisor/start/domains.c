/* SPDX-License-Identifier: ISC */
/*
 * Hosts that were asked for, with a tool or by a CONNECT, and that a person
 * approved. Holds the list of them, and none of it outlives the session.
 * The domain is checked again, although policyd did so, because the keyd that
 * is started here connects to it. A keyd that exits unexpectedly ends the
 * session, as any worker does. A slot is never reused in a session: a worker
 * that still has a channel to the old keyd would take the new host for the old
 * one.
 */
#include "domains.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "common/http/known_host.h"
#include "common/json/json.h"
#include "files/providers/destinations.h"
#include "hub/control.h"

#define DOMAINS_SERVER "proxy" /* as policyd calls it */
#define DOMAINS_MAX (PROTO_MAX_PROVIDERS - PROTO_FIRST_ADDED)
#define DOMAINS_POOL ((size_t)1 << 20)
#define DOMAINS_MAX_ALSO 8U

enum domain_state {
	DOMAIN_FREE,     /* never used */
	DOMAIN_STARTING, /* its keyd has not said HELLO */
	DOMAIN_OPEN,
	DOMAIN_CLOSED, /* removed; its keyd has left, or was told to */
};

#define DOMAIN_ASKED(call) (((call)&PROTO_HOST_ID) != 0)

static struct {
	enum domain_state state;
	uint64_t call;                   /* that added it, or the question */
	bool revoked;                    /* DOMAIN_STARTING: to be closed */
	uint64_t also[DOMAINS_MAX_ALSO]; /* further calls for the same host */
	unsigned nalso;
	struct loop_timer hello;
} domains[DOMAINS_MAX];

static struct {
	enum proto_state state;
	uint32_t tools;
} domains_server;

bool
domains_on(void)
{
	return sup.config.proxy_tools;
}

void
domains_state(const struct msg_STATE_SHOW *m)
{
	domains_server.state = (enum proto_state)m->state;
	domains_server.tools = m->tools;
	control_server_event(domains_server_json());
}

struct json_object *
domains_server_json(void)
{
	return control_server_row(DOMAINS_SERVER, domains_server.state,
	    domains_server.tools, "built in: asks for further hosts");
}

void
domains_setup(void)
{
	static const uint8_t command[32];
	struct msg_SERVER m = {.index = PROTO_VIRTUAL,
	    .name = SPAN(DOMAINS_SERVER),
	    .cwd = SPAN("/"),
	    .virtual = 1,
	    .command = span_of(command, sizeof(command))};

	if (!domains_on())
		return;
	child_send(ROLE_AUDIT, 0, MSG_SERVER, &m, -1);
	child_send(ROLE_POLICY, 0, MSG_SERVER, &m, -1);
	child_send(ROLE_PROXY, 0, MSG_SERVER, &m, -1);
}

uint8_t
domains_asked(void)
{
	if (!sup.config.asks_hosts)
		return PROTO_HOSTS_OFF;
	return sup.config.package_off ? PROTO_HOSTS_ASK_UNPACKED
				      : PROTO_HOSTS_ASK;
}

/*
 * Answer the call. A question has been answered already; if its host cannot be
 * opened, end its grant, by which those that wait are refused.
 */
static void
domain_answer(uint64_t call, bool error, const char *text)
{
	struct msg_VIRTUAL_DONE m = {
	    .id = call, .error = error, .text = span_str(text)};
	const struct msg_REVOKE r = {.id = call};

	if (DOMAIN_ASKED(call)) {
		if (error)
			child_send(ROLE_AUDIT, 0, MSG_REVOKE, &r, -1);
		return;
	}
	if (m.text.len > 4096)
		m.text.len = 4096;
	child_send(ROLE_AUDIT, 0, MSG_VIRTUAL_DONE, &m, -1);
}

static void
domain_answer_json(uint64_t call, struct json_object *o)
{
	const char *text =
	    json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);

	domain_answer(
	    call, text == NULL, text != NULL ? text : "out of memory");
	json_object_put(o);
}

static void
domain_answer_status(uint64_t call, const char *host, const char *status)
{
	struct json_object *o = json_object_new_object();

	put_str(o, "domain", host);
	put_str(o, "status", status);
	domain_answer_json(call, o);
}

static struct provider *
domain_provider(unsigned n)
{
	return &sup.providers.list[PROTO_FIRST_ADDED + n];
}

/* Returns the host's slot, or DOMAINS_MAX. */
static unsigned
domain_find(const char *host)
{
	for (unsigned n = 0; n < DOMAINS_MAX; n++) {
		if (domains[n].state != DOMAIN_STARTING &&
		    domains[n].state != DOMAIN_OPEN)
			continue;
		for (unsigned i = 0; i < domain_provider(n)->nhosts; i++)
			if (strcmp(domain_provider(n)->hosts[i], host) == 0)
				return n;
	}
	return DOMAINS_MAX;
}

/* Returns true if the host is in the configuration. */
static bool
domain_configured(const char *host)
{
	for (unsigned i = 0; i < sup.providers.n; i++)
		for (unsigned k = 0; k < sup.providers.list[i].nhosts; k++)
			if (strcmp(sup.providers.list[i].hosts[k], host) == 0)
				return true;
	return false;
}

static void
domain_busy(uint64_t call)
{
	domain_answer(call, true,
	    "Error: this domain is being added by another call. Try again in "
	    "a moment.");
}

static void
domain_late(struct loop_timer *t)
{
	const struct child *c = t->arg;

	end_request(SUP_EXIT_FAILED, c, "%s did not say HELLO within %u s",
	    c->name, SUP_HELLO_MS / 1000);
}

/* Forget the keyd of a domain that was removed, once it has exited. */
static bool
domain_left(struct child *c)
{
	if (!child_left(c))
		return false;
	child_forget(c);
	return true;
}

static void
domain_start(uint64_t call, const struct known_host *k)
{
	const char *host = k->hosts[0];
	struct fault fault;
	unsigned n = 0;
	struct child *c;

	while (n < DOMAINS_MAX && domains[n].state != DOMAIN_FREE)
		n++;
	if (n == DOMAINS_MAX) {
		domain_answer(call, true,
		    "Error: 16 domains were added in this session, which is "
		    "the limit (removed ones count). The user can add "
		    "destinations to config.json for the next session.");
		return;
	}
	if (destination_added_slot(
		domain_provider(n), &sup.config, k, n + 1, &fault) == -1)
		goto bad;
	c = child_start(ROLE_KEY, PROTO_FIRST_ADDED + n, host, &fault);
	if (c == NULL) {
		provider_clear(domain_provider(n));
		goto bad;
	}
	c->exited = domain_left;
	domains[n].state = DOMAIN_STARTING;
	domains[n].call = call;
	domains[n].revoked = false;
	loop_timer_set(
	    &sup.loop, &domains[n].hello, SUP_HELLO_MS, domain_late, c);
	return;
bad:
	sup_warn("domain %s: %s", host, fault.text);
	domain_answer(call, true,
	    "Error: the domain could not be added: its process did not start. "
	    "The session's log tells the user why.");
}

static void
domain_add(uint64_t call, const char *host)
{
	/* A call of the tool adds a web destination. */
	struct known_host web = {.kind = PROTO_OPEN_WEB, .n = 1};
	unsigned n = domain_find(host);

	(void)strlcpy(web.hosts[0], host, sizeof(web.hosts[0]));
	if (domain_configured(host) ||
	    (n != DOMAINS_MAX && domains[n].state == DOMAIN_OPEN))
		domain_answer_status(call, host, "already_accessible");
	else if (n != DOMAINS_MAX && domains[n].nalso < DOMAINS_MAX_ALSO)
		domains[n].also[domains[n].nalso++] = call;
	else if (n != DOMAINS_MAX)
		domain_busy(call);
	else
		domain_start(call, &web);
}

int
domains_open(const struct msg_HOST_OPEN_GO *m)
{
	char host[HOSTNAME_MAX + 1];
	struct known_host k;
	const char *why;

	if (!sup.config.asks_hosts || !DOMAIN_ASKED(m->id) ||
	    hostname_read(m->host, host, &why) == -1 ||
	    hostname_public(host, &why) == -1)
		return -1;
	known_host(host, &k);
	if (k.kind != m->kind)
		return -1;
	if (sup.ending)
		return 0;
	for (unsigned i = 0; i < k.n; i++) {
		if (!domain_configured(k.hosts[i]) &&
		    domain_find(k.hosts[i]) == DOMAINS_MAX)
			continue;
		sup_warn("%s cannot be opened: %s is on a list already", host,
		    k.hosts[i]);
		domain_answer(m->id, true, "");
		return 0;
	}
	domain_start(m->id, &k);
	return 0;
}

static void
domain_close(unsigned n, const char *why)
{
	static const struct msg_STOP stop;
	struct msg_PROVIDER_DROP drop = {
	    .index = (uint16_t)(PROTO_FIRST_ADDED + n)};
	const struct provider *p = domain_provider(n);
	struct child *c;

	domains[n].state = DOMAIN_CLOSED;
	child_send(ROLE_MITM, 0, MSG_PROVIDER_DROP, &drop, -1);
	if ((c = child_find(ROLE_KEY, drop.index)) != NULL && !c->dead) {
		c->leaving = true;
		child_send(ROLE_KEY, drop.index, MSG_STOP, &stop, -1);
	}
	for (unsigned i = 0; i < p->nhosts; i++) {
		event_destination(false, drop.index, p->hosts[i]);
		sup_note("%s is closed again: %s", p->hosts[i], why);
		control_destination(p->hosts[i], false);
	}
}

void
domains_revoked(uint64_t id)
{
	for (unsigned n = 0; DOMAIN_ASKED(id) && n < DOMAINS_MAX; n++) {
		if (domains[n].call != id)
			continue;
		if (domains[n].state == DOMAIN_OPEN)
			domain_close(n, "its approval has ended");
		else
			domains[n].revoked = true;
	}
}

void
domains_hello(const struct child *c)
{
	unsigned n = c->index - PROTO_FIRST_ADDED;
	const struct provider *p;
	const char *host;
	struct fault fault;

	if (c->index < PROTO_FIRST_ADDED || domains[n].state != DOMAIN_STARTING)
		return;
	p = domain_provider(n);
	host = p->hosts[0];
	loop_timer_clear(&sup.loop, &domains[n].hello);
	if (setup_provider(c->index, &fault) == -1) {
		end_request(
		    SUP_EXIT_FAILED, NULL, "%s: %s", c->name, fault.text);
		return;
	}
	domains[n].state = DOMAIN_OPEN;
	for (unsigned i = 0; i < p->nhosts; i++) {
		event_destination(true, c->index, p->hosts[i]);
		sup_note("%s is open: asked for by the agent, approved",
		    p->hosts[i]);
		control_destination(p->hosts[i], true);
	}
	domain_answer_status(domains[n].call, host, "added");
	for (unsigned i = 0; i < domains[n].nalso; i++)
		domain_answer_status(
		    domains[n].also[i], host, "already_accessible");
	domains[n].nalso = 0;
	if (domains[n].revoked)
		domain_close(n, "its approval has ended");
}

static void
domain_remove(uint64_t call, const char *host)
{
	unsigned n = domain_find(host);
	const struct msg_REVOKE r = {
	    .id = n != DOMAINS_MAX ? domains[n].call : 0};

	if (n == DOMAINS_MAX || domains[n].state != DOMAIN_OPEN) {
		if (n != DOMAINS_MAX)
			domain_busy(call);
		else if (domain_configured(host))
			domain_answer(call, true,
			    "Error: this host belongs to the session's "
			    "configuration and cannot be removed.");
		else
			domain_answer_status(call, host, "not_found");
		return;
	}
	domain_close(n, "asked for by the agent");
	/* The approval that had opened it ends, too. */
	if (DOMAIN_ASKED(r.id))
		child_send(ROLE_AUDIT, 0, MSG_REVOKE, &r, -1);
	domain_answer_status(call, host, "removed");
}

static struct json_object *
domains_hosts(bool added)
{
	struct json_object *list = json_object_new_array();
	const struct provider *p;

	for (unsigned i = 0; !added && i < sup.providers.n; i++) {
		p = &sup.providers.list[i];
		/* No agent reaches a remote MCP server this way. */
		for (unsigned k = 0; p->server == 0 && k < p->nhosts; k++)
			json_object_array_add(
			    list, json_object_new_string(p->hosts[k]));
	}
	for (unsigned n = 0; added && n < DOMAINS_MAX; n++)
		for (unsigned k = 0; domains[n].state == DOMAIN_OPEN &&
				     k < domain_provider(n)->nhosts;
		     k++)
			json_object_array_add(
			    list, json_object_new_string(
				      domain_provider(n)->hosts[k]));
	return list;
}

static void
domain_list(uint64_t call)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "dynamic", domains_hosts(true));
	json_object_object_add(o, "providers", domains_hosts(false));
	domain_answer_json(call, o);
}

/* Read the member "domain" and write the name in canonical form. */
static int
domain_argument(struct span args, char host[HOSTNAME_MAX + 1])
{
	struct value_pool *pool = value_pool_new(DOMAINS_POOL);
	const struct value *v;
	struct span name;
	const char *why;
	int rv = -1;

	if (pool != NULL && (v = json_read(pool, args, NULL)) != NULL &&
	    (name = value_str(v, "domain")).p != NULL &&
	    hostname_read(name, host, &why) == 0)
		rv = 0;
	value_pool_free(pool);
	return rv;
}

int
domains_call(const struct msg_VIRTUAL *m)
{
	char host[HOSTNAME_MAX + 1];
	const char *why;

	if (!domains_on())
		return -1;
	if (sup.ending)
		return 0;
	if (span_is(m->tool, "list_proxy_domains")) {
		domain_list(m->id);
		return 0;
	}
	if (domain_argument(m->args, host) == -1)
		return -1;
	if (span_is(m->tool, "remove_proxy_domain")) {
		domain_remove(m->id, host);
		return 0;
	}
	if (!span_is(m->tool, "add_proxy_domain") ||
	    hostname_public(host, &why) == -1)
		return -1;
	domain_add(m->id, host);
	return 0;
}

/* Add a row for one host. */
static void
domain_show(struct json_object *list, const char *host, const char *kind,
    const char *name, const char *state)
{
	struct json_object *o = json_object_new_object();

	put_str(o, "host", host);
	put_str(o, "kind", kind);
	put_str(o, "name", name);
	put_str(o, "state", state);
	json_object_array_add(list, o);
}

struct json_object *
domains_json(void)
{
	static const char *const states[] = {
	    "", "starting", "added", "removed"};
	struct json_object *list = json_object_new_array();
	const struct provider *p;

	for (unsigned i = 0; i < sup.providers.n; i++) {
		p = &sup.providers.list[i];
		for (unsigned k = 0; p->kind != NULL && k < p->nhosts; k++)
			domain_show(list,
			    p->server != 0 ? p->config->upstreams[0].at.host
					   : p->hosts[k],
			    p->kind, p->name, "configured");
	}
	for (unsigned n = 0; n < DOMAINS_MAX; n++) {
		p = domain_provider(n);
		for (unsigned k = 0;
		     domains[n].state != DOMAIN_FREE && k < p->nhosts; k++)
			domain_show(list, p->hosts[k], p->kind, p->name,
			    states[domains[n].state]);
	}
	return list;
}
