/* SPDX-License-Identifier: ISC */
/*
 * Connections of MCP servers, and of the agent to its services: a connection
 * that egressd found on its list goes on to dialerd once it is recorded, and
 * its end is recorded too.
 * The same for the use of published ports, which portd counts.
 */
#include "workers/auditd/auditd.h"

/* Add whose connection it is: that of a server, or of the agent to `service`. */
static void
egress_owner(
    struct auditlog_line *l, const struct chan *c, const char *service)
{
	if (service != NULL)
		auditlog_str(l, "service", span_str(service));
	else
		auditlog_str(l, "serverName",
		    span_str(auditd_env.servers[chan_index(c)].name));
}

static void
connect_refuse(const struct auditd_effect *e)
{
	const struct msg_REFUSED m = {.stream = 0,
	    .exchange = e->msg.CONNECT_GO.id,
	    .reason = PROTO_REFUSED_AUDIT};

	worker_send(&auditd_env.w, ROLE_EGRESS, e->msg.CONNECT_GO.server,
	    MSG_REFUSED, &m, -1);
}

int
auditd_on_connect(struct chan *c, const struct msg_CONNECT *m)
{
	struct msg_CONNECT_GO go = {.server = (uint16_t)chan_index(c),
	    .id = m->id,
	    .host = m->host,
	    .port = m->port};
	const char *service = NULL;
	struct auditlog_line l;

	if (chan_index(c) == PROTO_SERVICES &&
	    (service = auditd_service_begin(c, m)) == NULL)
		return -1;
	auditd_line(&l, "connect");
	auditlog_u64(&l, "connection", m->id);
	auditlog_str(&l, "host", m->host);
	auditlog_u64(&l, "port", m->port);
	egress_owner(&l, c, service);
	auditd_line_end(&l);
	auditd_effect_msg(ROLE_DIAL, 0, MSG_CONNECT_GO, &go, 0)->refuse =
	    connect_refuse;
	return 0;
}

int
auditd_on_connect_end(struct chan *c, const struct msg_CONNECT_END *m)
{
	const char *service = NULL;
	struct auditlog_line l;

	if (chan_index(c) == PROTO_SERVICES &&
	    (service = auditd_service_end(c, m)) == NULL)
		return -1;
	auditd_line(&l, "connectEnd");
	auditlog_u64(&l, "connection", m->id);
	if (m->error.len != 0)
		auditlog_str(&l, "error", m->error);
	auditlog_u64(&l, "received", m->received);
	auditlog_u64(&l, "sent", m->sent);
	egress_owner(&l, c, service);
	auditd_line_end(&l);
	return 0;
}

int
auditd_on_port_use(struct chan *c, const struct msg_PORT_USE *m)
{
	struct auditlog_line l;

	auditd_line(&l, "portUse");
	auditlog_u64(&l, "connections", m->connections);
	auditlog_u64(&l, "open", m->open);
	auditlog_u64(&l, "over", m->over);
	auditlog_u64(&l, "port", m->port);
	auditlog_u64(&l, "received", m->received);
	auditlog_u64(&l, "sent", m->sent);
	auditlog_u64(&l, "silent", m->silent);
	auditlog_u64(&l, "strangers", m->strangers);
	auditd_line_end(&l);
	auditd_effect_msg(ROLE_SUP, 0, MSG_PORT_USE_SHOW, m, 0);
	return 0;
}
