/* SPDX-License-Identifier: ISC */
/*
 * Services of the agent: which of them a connection of the services' egressd
 * leads to. It names an address, which must be on icsupervisor's list, so that
 * the record names the service and not what a parser says; if the service has a
 * login, the connection is that login's and no other. Counts what the log has,
 * for `icctl status`.
 */
#include "workers/auditd/auditd.h"

#include <string.h>

#define SERVICE_SHOW_MS 200U

static struct {
	char name[33];
	char host[64];
	uint16_t port;
	bool denied, changed;
	uint8_t key; /* the keyd that logs in there, + 1; or 0 */
	char user[PROTO_MAX_LOGIN + 1];
	struct msg_SERVICE_USE use;
	char error[513];
} services[PROTO_MAX_SERVICES];
static unsigned nservices;

/* The connections that are open: their ids, 0 for none, and services. */
static struct {
	uint32_t id;
	unsigned service;
} streams[PROTO_MAX_STREAMS];

static struct loop_timer service_timer;

int
auditd_on_door(struct chan *c, const struct msg_DOOR *m)
{
	const unsigned n = nservices;

	if (m->server != PROTO_SERVICES)
		return chan_violation(c, "DOOR of a server");
	if (n == PROTO_MAX_SERVICES || m->name.len == 0 ||
	    span_copy(m->name, services[n].name, sizeof(services[n].name)) ==
		-1 ||
	    span_copy(m->host, services[n].host, sizeof(services[n].host)) ==
		-1 ||
	    span_copy(m->user, services[n].user, sizeof(services[n].user)) ==
		-1)
		return chan_violation(c, "DOOR is impossible, or too many");
	services[n].port = m->port;
	services[n].key = m->key;
	services[n].denied = m->denied != 0;
	services[n].use.index = (uint8_t)n;
	nservices++;
	return 0;
}

/* Tell icsupervisor what has changed, once for many connections. */
static void
service_show(struct loop_timer *t)
{
	(void)t;
	for (unsigned i = 0; i < nservices; i++) {
		if (!services[i].changed)
			continue;
		services[i].changed = false;
		services[i].use.error = span_str(services[i].error);
		worker_send(&auditd_env.w, ROLE_SUP, 0, MSG_SERVICE_USE,
		    &services[i].use, -1);
	}
}

static void
service_changed(unsigned i)
{
	services[i].changed = true;
	if (service_timer.at == 0)
		loop_timer_set(&auditd_env.w.loop, &service_timer,
		    SERVICE_SHOW_MS, service_show, NULL);
}

/* Returns the index of the service at this address, or -1. */
static int
service_at(struct span host, uint16_t port)
{
	for (unsigned i = 0; i < nservices; i++)
		if (!services[i].denied && services[i].port == port &&
		    span_is(host, services[i].host))
			return (int)i;
	return -1;
}

/* Returns the place of the connection `id`, or -1; 0 finds a free one. */
static int
service_stream(uint32_t id)
{
	for (unsigned i = 0; i < nitems(streams); i++)
		if (streams[i].id == id)
			return (int)i;
	return -1;
}

/* Returns the service, or -1 after a violation of the protocol. */
static int
service_begin(
    struct chan *c, uint32_t id, struct span host, uint16_t port, bool login)
{
	const int service = service_at(host, port);
	const int at = service_stream(0);

	if (service == -1 || at == -1 || id == 0 || service_stream(id) != -1)
		return chan_violation(c, "connection to no service, or too many");
	if ((services[service].key != 0) != login)
		return chan_violation(c, "%s to service %s",
		    login ? "LOGIN" : "CONNECT", services[service].name);
	streams[at].id = id;
	streams[at].service = (unsigned)service;
	services[service].use.connections++;
	services[service].use.open++;
	service_changed((unsigned)service);
	return service;
}

const char *
auditd_service_begin(struct chan *c, const struct msg_CONNECT *m)
{
	const int i = service_begin(c, m->id, m->host, m->port, false);

	return i == -1 ? NULL : services[i].name;
}

static void
login_refuse(const struct auditd_effect *e)
{
	const struct msg_REFUSED m = {.stream = 0,
	    .exchange = e->msg.LOGIN_GO.id,
	    .reason = PROTO_REFUSED_AUDIT};

	worker_send(
	    &auditd_env.w, ROLE_EGRESS, PROTO_SERVICES, MSG_REFUSED, &m, -1);
}

int
auditd_on_login(struct chan *c, const struct msg_LOGIN *m)
{
	const int of = m->cancel == 0 ? -1 : service_stream(m->cancel);
	struct auditlog_line l;
	int i;

	if (chan_index(c) != PROTO_SERVICES)
		return chan_violation(c, "LOGIN of a server");
	if ((i = service_begin(c, m->id, m->host, m->port, true)) == -1)
		return -1;
	if (m->cancel != 0 && (of == -1 || streams[of].service != (unsigned)i))
		return chan_violation(c, "LOGIN cancels no connection");
	auditd_line(&l, "connect");
	if (m->cancel != 0)
		auditlog_u64(&l, "cancels", m->cancel);
	auditlog_u64(&l, "connection", m->id);
	auditlog_str(&l, "host", m->host);
	auditlog_str(&l, "login", span_str(services[i].user));
	auditlog_u64(&l, "port", m->port);
	auditlog_str(&l, "service", span_str(services[i].name));
	auditd_line_end(&l);
	auditd_effect_msg(
	    ROLE_KEY, services[i].key - 1U, MSG_LOGIN_GO, m, 0)
	    ->refuse = login_refuse;
	return 0;
}

const char *
auditd_service_end(struct chan *c, const struct msg_CONNECT_END *m)
{
	const int at = m->id == 0 ? -1 : service_stream(m->id);
	unsigned i;

	if (at == -1) {
		chan_violation(c, "CONNECT_END of no connection");
		return NULL;
	}
	i = streams[at].service;
	streams[at].id = 0;
	services[i].use.open--;
	services[i].use.sent += m->sent;
	services[i].use.received += m->received;
	if (m->error.len != 0) {
		services[i].use.failed++;
		(void)span_copy(
		    m->error, services[i].error, sizeof(services[i].error));
	}
	service_changed(i);
	return services[i].name;
}
