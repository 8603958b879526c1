/* SPDX-License-Identifier: ISC */
/*
 * Instances of servers that run for a single call. policyd's request is
 * recorded before icsupervisor sees it, and the instance's start before policyd
 * learns of it. Holds each instance's stdin, as for any server. An index is
 * reused once every process that had a channel to its mcp-backd has seen that
 * channel close.
 */
#include "workers/auditd/auditd.h"

#include <unistd.h>

static struct auditd_instance *
instance_find(uint64_t call)
{
	for (size_t i = 0; call != 0 && i < PROTO_MAX_INSTANCES; i++) {
		if (auditd_env.instances[i].call == call)
			return &auditd_env.instances[i];
	}
	return NULL;
}

static struct auditd_instance *
instance_new(const struct msg_INSTANCE *m)
{
	struct auditd_instance *i;

	for (size_t k = 0; k < PROTO_MAX_INSTANCES; k++) {
		i = &auditd_env.instances[k];
		if (i->call != 0)
			continue;
		*i = (struct auditd_instance){.call = m->call,
		    .of = m->server,
		    .left = (unsigned)m->left + 1};
		return i;
	}
	return NULL;
}

static void
add_server(struct auditlog_line *l, const struct auditd_instance *i)
{
	auditlog_str(l, "serverName", span_str(auditd_env.servers[i->of].name));
}

/* Report to policyd that the instance was not started. */
static void
instance_refuse(const struct auditd_effect *e)
{
	const struct msg_INSTANCE_FAIL_GO m = {
	    .call = e->msg.INSTANCE_WANT.call,
	    .text = SPAN("the audit log cannot be written")};

	worker_send(
	    &auditd_env.w, ROLE_POLICY, 0, MSG_INSTANCE_FAIL_GO, &m, -1);
}

int
auditd_on_instance(struct chan *c, const struct msg_INSTANCE *m)
{
	static const char *const kinds[] = {"directory", "file", "name"};
	struct auditd_instance *i = instance_find(m->call);
	struct auditlog_line l;

	if (m->call == 0 || !auditd_env.servers[m->server].known)
		return chan_violation(c, "INSTANCE of no call or server");
	if (i == NULL && (i = instance_new(m)) == NULL)
		return chan_violation(c, "more instances than allowed");
	if (i->of != m->server || i->left != (unsigned)m->left + 1)
		return chan_violation(c, "INSTANCE out of turn");
	i->left--;
	auditd_line(&l, "instance");
	auditlog_u64(&l, "id", m->call);
	auditlog_str(&l, "kind", span_str(kinds[m->kind]));
	auditlog_str(&l, "path", m->path);
	add_server(&l, i);
	auditlog_str(&l, "state", SPAN("asked"));
	auditlog_bool(&l, "writable", m->writable != 0);
	auditd_line_end(&l);
	/* INSTANCE and INSTANCE_WANT have the same layout. */
	auditd_effect_msg(ROLE_SUP, 0, MSG_INSTANCE_WANT, m, 0)->refuse =
	    instance_refuse;
	return 0;
}

int
auditd_on_instance_up(struct chan *c, const struct msg_INSTANCE_UP *m, int fd)
{
	struct auditd_instance *i = instance_find(m->call);
	struct auditd_server *s = &auditd_env.servers[m->server];
	struct auditlog_line l;

	/*
	 * The instance was dropped meanwhile; the order to end it is on its
	 * way.
	 */
	if (i == NULL) {
		close(fd);
		return 0;
	}
	if (m->server < PROTO_FIRST_INSTANCE || s->known || i->index != 0 ||
	    i->left != 0) {
		close(fd);
		return chan_violation(
		    c, "INSTANCE_UP %u twice or impossible", m->server);
	}
	s->known = true;
	memcpy(s->name, auditd_env.servers[i->of].name, sizeof(s->name));
	i->index = m->server;
	auditd_server_stdin(m->server, fd);
	auditd_line(&l, "instance");
	auditlog_u64(&l, "id", m->call);
	auditlog_u64(&l, "instance", m->server);
	add_server(&l, i);
	auditlog_str(&l, "state", SPAN("started"));
	auditd_line_end(&l);
	/* INSTANCE_UP and INSTANCE_GO have the same layout. */
	auditd_effect_msg(ROLE_POLICY, 0, MSG_INSTANCE_GO, m, 0);
	return 0;
}

int
auditd_on_instance_fail(struct chan *c, const struct msg_INSTANCE_FAIL *m)
{
	const struct auditd_instance *i = instance_find(m->call);
	struct auditlog_line l;

	if (i == NULL)
		return 0;
	auditd_line(&l, "instance");
	auditlog_u64(&l, "id", m->call);
	add_server(&l, i);
	auditlog_str(
	    &l, "state", m->changed != 0 ? SPAN("changed") : SPAN("failed"));
	auditlog_str(&l, "text", m->text);
	auditd_line_end(&l);
	auditd_effect_msg(ROLE_POLICY, 0, MSG_INSTANCE_FAIL_GO, m, 0);
	return 0;
}

int
auditd_on_instance_drop(struct chan *c, const struct msg_INSTANCE_DROP *m)
{
	struct auditd_instance *i = instance_find(m->call);
	struct auditlog_line l;

	if (i == NULL || i->left != 0)
		return chan_violation(c, "INSTANCE_DROP of none");
	if (i->index != 0) {
		auditd_server_lost(i->index, "was ended");
		auditd_env.servers[i->index].known = false;
	}
	auditd_line(&l, "instance");
	auditlog_u64(&l, "id", m->call);
	if (i->index != 0)
		auditlog_u64(&l, "instance", i->index);
	add_server(&l, i);
	auditlog_str(&l, "state", SPAN("ending"));
	auditd_line_end(&l);
	i->call = 0;
	auditd_effect_end(ROLE_SUP, 0, MSG_INSTANCE_KILL, m);
	return 0;
}

int
auditd_on_instance_ended(struct chan *c, const struct msg_INSTANCE_ENDED *m)
{
	struct auditlog_line l;

	auditd_line(&l, "instance");
	auditlog_u64(&l, "id", m->call);
	auditlog_str(&l, "state", SPAN("ended"));
	auditd_line_end(&l);
	auditd_effect_end(ROLE_POLICY, 0, MSG_INSTANCE_ENDED_GO, m);
	return 0;
}

static void
instance_free(unsigned server)
{
	const struct msg_INSTANCE_GONE_GO m = {.server = (uint16_t)server};

	if (!auditd_env.lost[server] || !auditd_env.left[server])
		return;
	auditd_env.lost[server] = auditd_env.left[server] = false;
	auditd_effect_end(ROLE_SUP, 0, MSG_INSTANCE_GONE_GO, &m);
}

int
auditd_on_instance_gone(struct chan *c, const struct msg_INSTANCE_GONE *m)
{
	unsigned server = m->server;

	if (server < PROTO_FIRST_INSTANCE || auditd_env.left[server])
		return chan_violation(c, "INSTANCE_GONE of none");
	auditd_env.left[server] = true;
	instance_free(server);
	return 0;
}

void
auditd_lost(enum role role, unsigned index)
{
	if (role != ROLE_BACK || index < PROTO_FIRST_INSTANCE)
		return;
	auditd_env.lost[index] = true;
	instance_free(index);
}
