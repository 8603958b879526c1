/* SPDX-License-Identifier: ISC */
/*
 * Sends the configuration to the workers once all have said HELLO and have
 * their channels to each other, in the order in which the receivers need it.
 * Only the rules, the CA and the credentials are waited for, at the end.
 */
#include "core/sup.h"

#include <sys/epoll.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "auto/consider.h"
#include "base/jsonfile.h"
#include "box/containers/gate.h"
#include "box/orient.h"
#include "core/rotate.h"
#include "domains.h"
#include "relay/publish.h"
#include "relay/services.h"

static void
setup_log(void)
{
	struct msg_LOG log = {.seq = sup.session.seq,
	    .prev = span_of(sup.session.prev, sizeof(sup.session.prev)),
	    .sync = sup.config.sync,
	    .calls = sup.opt.conversation,
	    .room = rotate_room(sup.session.size)};

	child_send(ROLE_AUDIT, 0, MSG_LOG, &log, sup.session.audit);
	sup.session.audit = -1;
	sup.logging = true;
}

static void
setup_protect(const char *path)
{
	struct msg_PROTECT m = {.path = span_str(path == NULL ? "" : path)};

	if (m.path.len != 0 && m.path.len <= 4096)
		child_send(ROLE_POLICY, 0, MSG_PROTECT, &m, -1);
}

static void
setup_view(unsigned i)
{
	const struct view *v = &sup.servers[i].view;
	struct msg_VIEW m = {.server = (uint16_t)i};

	for (unsigned k = 0; !sup.servers[i].def->internal && k < v->nrows;
	     k++) {
		m.path = span_str(v->rows[k].path);
		m.host = span_str(v->rows[k].host);
		m.kind = (uint8_t)v->rows[k].kind;
		child_send(ROLE_POLICY, 0, MSG_VIEW, &m,
		    fcntl(v->rows[k].fd, F_DUPFD_CLOEXEC, 0));
	}
}

/* Returns what the server can reach beyond its view, as PROTO_REACH_ bits. */
static uint8_t
setup_reach(const struct server_def *d)
{
	unsigned reach = d->silent ? PROTO_REACH_SILENT : 0;

	if (d->remote != NULL)
		return (uint8_t)(reach | PROTO_REACH_AFAR |
				 PROTO_REACH_NETWORK |
				 (d->secret ? PROTO_REACH_SECRET : 0));
	if (d->egress != NULL)
		reach |= PROTO_REACH_NETWORK;
	if (d->secret)
		reach |= PROTO_REACH_SECRET;
	if (!d->sandboxed)
		reach |= PROTO_REACH_HOST;
	return (uint8_t)reach;
}

/* The agent is told what a sandboxed server sees when that stops a call. */
static void
setup_server_view(unsigned i)
{
	char text[PROTO_MAX_SEEN];
	struct msg_SERVER_VIEW m = {.server = (uint16_t)i};

	view_tell(&sup.servers[i].view, sup.servers[i].def, text, sizeof(text));
	m.text = span_str(text);
	child_send(ROLE_PROXY, 0, MSG_SERVER_VIEW, &m, -1);
}

/* The tools that the agent sees, if not all. */
static void
setup_tools(unsigned i)
{
	char *const *list = sup.servers[i].def->tools;
	struct msg_TOOLS_ONLY m = {.server = (uint16_t)i};

	for (size_t k = 0; list != NULL && list[k] != NULL; k++) {
		m.pattern = span_str(list[k]);
		child_send(ROLE_POLICY, 0, MSG_TOOLS_ONLY, &m, -1);
	}
}

static void
setup_server_rows(void)
{
	const struct server_def *d;
	struct msg_SERVER m;
	uint8_t command[32];

	for (unsigned i = 0; i < sup.nservers; i++) {
		d = sup.servers[i].def;
		memset(&m, 0, sizeof(m));
		m.index = (uint16_t)i;
		m.name = span_str(d->name);
		m.cwd = span_str(!d->sandboxed  ? sup.workspace_path
				 : d->workspace ? "/workspace"
						: "/");
		m.domains = span_str(d->domains != NULL ? d->domains : "");
		m.internal = d->internal;
		m.git = d->git;
		m.reach = setup_reach(d);
		/*
		 * IronCurtain's own file server is trusted: its tools have no
		 * pins.
		 */
		pins_command(&sup.servers[i], command);
		m.command = span_of(command, sizeof(command));
		m.trusted = config_trusts(&sup.config, d->name);
		child_send(ROLE_AUDIT, 0, MSG_SERVER, &m, -1);
		child_send(ROLE_POLICY, 0, MSG_SERVER, &m, -1);
		setup_tools(i);
		/* The agent cannot name an internal server. */
		if (!d->internal)
			child_send(ROLE_PROXY, 0, MSG_SERVER, &m, -1);
		if (!d->internal && d->sandboxed && d->remote == NULL)
			setup_server_view(i);
	}
	domains_setup();
}

/*
 * Let policyd notice that something was mounted. It gets an epoll descriptor
 * with the kernel's list of mounts in it, from which nothing can be read. The
 * list stays open here, as it leaves the epoll set when it is closed.
 */
static void
setup_mounts(void)
{
	struct epoll_event ev = {.events = EPOLLPRI};
	struct msg_MOUNTS m = {0};
	int fd;

	sup.mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (sup.mounts == -1 || (fd = epoll_create1(EPOLL_CLOEXEC)) == -1) {
		sup_warn("mountinfo: %s", strerror(errno));
		return;
	}
	if (epoll_ctl(fd, EPOLL_CTL_ADD, sup.mounts, &ev) == -1) {
		sup_warn("changes of mounts cannot be watched, so that no "
			 "path is remembered: %s",
		    strerror(errno));
		close(fd);
		return;
	}
	child_send(ROLE_POLICY, 0, MSG_MOUNTS, &m, fd);
}

static void
setup_policy(void)
{
	struct msg_SETTINGS set = {.hold_ms = sup.config.hold_ms,
	    .ask = sup.opt.ask,
	    .redact = sup.config.redact,
	    .strict = sup.config.strict,
	    .unknown = (uint8_t)sup.config.unknown,
	    .tool_bytes = sup.config.tool_kib << 10,
	    .server_bytes = sup.config.server_kib << 10,
	    .list_bytes = sup.config.list_kib << 10,
	    .hosts = domains_asked(),
	    .home = span_str(sup.paths.user_home)};

	child_send(ROLE_POLICY, 0, MSG_SETTINGS, &set, -1);
	known_send(ROLE_POLICY, 0);
	for (unsigned i = 0; i < sup.nservers; i++)
		known_send(ROLE_BACK, i);
	for (char **s = sup.config.narrow; s != NULL && *s != NULL; s++)
		child_send(ROLE_POLICY, 0, MSG_NARROW,
		    &(struct msg_NARROW){.text = span_str(*s)}, -1);
	setup_protect(sup.paths.home);
	setup_protect(sup.session.dir);
	setup_protect(sup.config.file);
	setup_protect(sup.defs.file);
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++)
		setup_protect(sup.rules[k].path);
	setup_server_rows();
	for (unsigned i = 0; i < sup.nservers; i++)
		setup_view(i);
	setup_mounts();
	pins_send();
	sup.rules_sent = rules_send(sup.rules);
}

/* dialerd connects to the proxy, and tunneld asks it for hosts. */
static void
setup_proxy(void)
{
	struct proxy *p = &sup.proxy;
	struct msg_SECRET secret = {.kind = p->escaped};
	struct msg_VIA_PROXY m;

	if (!p->set)
		return;
	m = (struct msg_VIA_PROXY){.host = span_str(p->host),
	    .port = p->port,
	    .direct = span_str(p->direct)};
	child_send(ROLE_DIAL, 0, MSG_VIA_PROXY, &m, -1);
	child_send(ROLE_TUNNEL, 0, MSG_VIA_PROXY, &m, -1);
	if (p->cred.fd != -1)
		child_send(ROLE_TUNNEL, 0, MSG_SECRET, &secret, p->cred.fd);
	p->cred.fd = -1;
}

/*
 * Send the same rows to the egressd that asks, to dialerd, which connects, and
 * to tunneld, which asks the proxy.
 */
static void
setup_door(unsigned i)
{
	static const struct msg_LISTEN listen_msg;
	struct server *s = &sup.servers[i];
	const struct server_def *d = s->def;
	struct msg_DOOR m = {
	    .server = (uint16_t)i, .private_ok = d->egress->private_ok};

	for (unsigned k = 0; k < d->egress->n; k++) {
		m.host = span_str(d->egress->rows[k].host);
		m.port = d->egress->rows[k].port;
		m.denied = d->egress->rows[k].denied;
		m.opaque = d->egress->rows[k].opaque;
		child_send(ROLE_EGRESS, i, MSG_DOOR, &m, -1);
		child_send(ROLE_TUNNEL, 0, MSG_DOOR, &m, -1);
		child_send(ROLE_DIAL, 0, MSG_DOOR, &m, -1);
	}
	child_send(ROLE_EGRESS, i, MSG_LISTEN, &listen_msg, s->door);
	s->door = -1;
}

void
setup_config(void)
{
	static const struct msg_LISTEN listen_msg;

	/* The slowest first: mitmd makes keys meanwhile, and policyd reads. */
	setup_providers();
	setup_proxy();
	for (unsigned i = 0; i < sup.nservers; i++)
		if (sup.servers[i].def->egress != NULL)
			setup_door(i);
	services_setup();
	setup_policy();
	setup_log();
	orient_setup();
	child_send(ROLE_PROXY, 0, MSG_LISTEN, &listen_msg, sup.listen_mcp);
	child_send(ROLE_MITM, 0, MSG_LISTEN, &listen_msg, sup.listen_mitm);
	sup.listen_mcp = sup.listen_mitm = -1;
	terminal_setup();
	publish_setup();
	gate_setup();
	consider_setup();
}

static void
setup_start_role(enum role role)
{
	static const struct msg_START start;
	struct child *c;

	for (unsigned i = 0; i < sup.nchildren; i++) {
		c = &sup.children[i];
		if (c->role != role || c->chan == NULL)
			continue;
		child_send(role, c->index, MSG_START, &start, -1);
		chan_phase(c->chan, PHASE_RUN);
	}
}

void
setup_start(void)
{
	/* In this order, no worker sends before its receiver has started. */
	static const enum role order[] = {ROLE_AUDIT, ROLE_KEY, ROLE_FOLLOW,
	    ROLE_TUNNEL, ROLE_DIAL, ROLE_EGRESS, ROLE_POLICY, ROLE_BACK,
	    ROLE_MITM, ROLE_PROXY, ROLE_TERM, ROLE_ACP, ROLE_PORT, ROLE_GATE,
	    ROLE_APPROVE};

	for (size_t i = 0; i < nitems(order); i++)
		setup_start_role(order[i]);
	sup.started = true;
}
