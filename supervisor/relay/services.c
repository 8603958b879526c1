/* SPDX-License-Identifier: ISC */
/* "services": what workers and the user are told of them. */
#include "relay/services.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "core/sup.h"

#define SERVICES_SOCKET "services.sock"

static struct {
	int listener;
	int own[PROTO_MAX_SERVICES]; /* those of the session's own */
	struct {
		struct msg_SERVICE_USE use;
		char error[513];
	} uses[PROTO_MAX_SERVICES];
} services_env = {.listener = -1};

int
services_listen(struct fault *fault)
{
	if (!sup.services)
		return 0;
	services_env.listener =
	    session_listen(sup.session.sockets, SERVICES_SOCKET, 0600);
	if (services_env.listener == -1)
		return fault_errno(
		    fault, "%s/sockets/" SERVICES_SOCKET, sup.session.dir);
	for (unsigned i = 0; i < sup.config.nservices; i++) {
		char name[32];

		if (sup.config.services[i].own == NULL)
			continue;
		/* A container's user may be another one. */
		snprintf(name, sizeof(name), SERVICES_OWN_SOCKET, i);
		services_env.own[i] =
		    session_listen(sup.session.fd, name, 0666);
		if (services_env.own[i] == -1)
			return fault_errno(
			    fault, "%s/%s", sup.session.dir, name);
	}
	return 0;
}

/* Tell who connects: a keyd, or dialerd, perhaps with a sandbox's listener. */
static void
services_dial(unsigned i, const struct msg_DOOR *m)
{
	struct msg_SERVICE_OWN own = {.host = m->host, .port = m->port};

	if (m->key != 0)
		child_send(ROLE_KEY, m->key - 1U, MSG_DOOR, m, -1);
	else if (sup.config.services[i].own != NULL)
		child_send(ROLE_DIAL, 0, MSG_SERVICE_OWN, &own,
		    services_env.own[i]);
	else if (!services_off(i))
		/* There, a denied row forbids its address with any port. */
		child_send(ROLE_DIAL, 0, MSG_DOOR, m, -1);
}

void
services_setup(void)
{
	static const struct msg_LISTEN listen_msg;
	struct msg_DOOR m = {
	    .server = PROTO_SERVICES, .private_ok = 1, .opaque = 1};

	if (!sup.services)
		return;
	for (unsigned i = 0; i < sup.config.nservices; i++) {
		const struct config_service *s = &sup.config.services[i];

		m.host = span_str(s->host);
		m.port = s->to;
		m.denied = services_off(i);
		m.name = span_str(s->name);
		m.key = s->user[0] == '\0'
			    ? 0
			    : (uint8_t)(providers_find(&sup.providers, s->name) + 1);
		m.user = span_str(s->user);
		m.database = span_str(s->database);
		m.login = s->login;
		child_send(ROLE_EGRESS, PROTO_SERVICES, MSG_DOOR, &m, -1);
		child_send(ROLE_AUDIT, 0, MSG_DOOR, &m, -1);
		services_dial(i, &m);
	}
	child_send(ROLE_EGRESS, PROTO_SERVICES, MSG_LISTEN, &listen_msg,
	    services_env.listener);
	services_env.listener = -1;
}

bool
services_own_any(void)
{
	for (unsigned i = 0; i < sup.config.nservices; i++)
		if (sup.config.services[i].own != NULL)
			return true;
	return false;
}

int
services_used(const struct msg_SERVICE_USE *m)
{
	if (!sup.services || m->index >= sup.config.nservices)
		return -1;
	services_env.uses[m->index].use = *m;
	(void)span_copy(m->error, services_env.uses[m->index].error,
	    sizeof(services_env.uses[m->index].error));
	return 0;
}

struct json_object *
services_json(void)
{
	struct json_object *list = json_object_new_array(), *o;
	const struct config_service *s;
	const struct msg_SERVICE_USE *use;
	char to[80];

	for (unsigned i = 0; i < sup.config.nservices; i++) {
		s = &sup.config.services[i];
		use = &services_env.uses[i].use;
		snprintf(to, sizeof(to),
		    strchr(s->host, ':') != NULL ? "[%s]:%u" : "%s:%u", s->host,
		    s->to);
		o = json_object_new_object();
		put_str(o, "name", s->name);
		put_int(o, "port", s->port);
		if (s->user[0] != '\0')
			put_str(o, "login", s->user);
		put_str(o, "to", s->own != NULL ? "its own sandbox" : to);
		put_str(o, "state", services_off(i) ? "off" : "open");
		put_str(o, "listener", services_whose(i));
		put_int(o, "open", use->open);
		put_int(o, "connections", (int64_t)use->connections);
		put_int(o, "failed", (int64_t)use->failed);
		put_int(o, "sent", (int64_t)use->sent);
		put_int(o, "received", (int64_t)use->received);
		if (services_env.uses[i].error[0] != '\0')
			put_str(o, "lastError", services_env.uses[i].error);
		json_object_array_add(list, o);
	}
	return list;
}
