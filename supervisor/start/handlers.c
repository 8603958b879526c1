/* SPDX-License-Identifier: ISC */
/*
 * Handles messages of workers. The protocol table decides which worker may send
 * what; after START only policyd, auditd, keyd and tunneld send to
 * icsupervisor. Texts in messages may come from outside and are made printable.
 */
#include "core/sup.h"

#include <sys/socket.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "auto/consider.h"
#include "box/containers/gate.h"
#include "box/orient.h"
#include "box/runtime.h"
#include "budget/budget.h"
#include "common/log.h"
#include "common/plural.h"
#include "conversation/conversation.h"
#include "conversation/talk_calls.h"
#include "core/rotate.h"
#include "core/topology.h"
#include "domains.h"
#include "hub/approvals.h"
#include "hub/control.h"
#include "hub/grants.h"
#include "log/said.h"
#include "relay/publish.h"
#include "relay/services.h"
#include "resume/state.h"
#include "undo.h"

static int
on_hello(struct chan *ch, const struct msg_HELLO *m)
{
	struct child *c = chan_arg(ch);
	char have[256], lacks[128];
	struct confine_state st = {m->flags, m->landlock};
	uint32_t missing;

	if (c->hello)
		return chan_violation(ch, "HELLO twice");
	if (m->role != c->role)
		return chan_violation(
		    ch, "HELLO of a %s", role_name((enum role)m->role));
	if (m->proto != proto_id()) {
		end_request(SUP_EXIT_OS, c,
		    "%s is of another build, whose messages differ from "
		    "icsupervisor's. Install all programs of one version",
		    c->name);
		return 0;
	}
	if ((m->flags & topology_find(c->role)->required) !=
	    topology_find(c->role)->required) {
		end_request(SUP_EXIT_OS, c,
		    "%s is not confined as it must be "
		    "(%s). See: icctl doctor",
		    c->name, confine_describe(&st, have, sizeof(have)));
		return 0;
	}
	missing =
	    require_missing(&sup.require, topology_find(c->role)->layers, &st);
	if (missing != 0) {
		end_request(SUP_EXIT_OS, c,
		    "%s runs without %s, which --require or "
		    "confinement.require asks for (it has %s). See: icctl "
		    "doctor",
		    c->name, confine_names(missing, lacks, sizeof(lacks)),
		    confine_describe(&st, have, sizeof(have)));
		return 0;
	}
	c->hello = true;
	c->confine = st;
	sup.nhello++;
	if (sup.started && c->role == ROLE_KEY)
		domains_hello(c);
	else if (sup.started && c->role == ROLE_TERM)
		terminal_hello(c);
	else if (sup.started)
		instance_hello(c);
	return 0;
}

static int
on_rules_ok(struct chan *ch, const struct msg_RULES_OK *m)
{
	struct span rest = m->warnings, line;

	if (sup.started && !sup.reloading)
		return chan_violation(ch, "RULES_OK of nothing");
	sup.rules_good++;
	sup.rules_count = m->rules;
	while (span_line(&rest, &line))
		session_log(&sup.session, "policy", line);
	if (sup.started)
		reload_done(m->warnings);
	return 0;
}

static int
on_rules_bad(struct chan *ch, const struct msg_RULES_BAD *m)
{
	char text[2049];

	if (sup.started) {
		if (!sup.reloading)
			return chan_violation(ch, "RULES_BAD of nothing");
		log_vis_again(m->text, text, sizeof(text));
		reload_refused(text);
		return 0;
	}
	sup.rules_refused = true;
	snprintf(sup.rules_text, sizeof(sup.rules_text), "%.*s",
	    (int)m->text.len, (const char *)m->text.p);
	return 0;
}

static int
on_ca(struct chan *ch, const struct msg_CA *m)
{
	struct fault fault;

	if (sup.ca_pem != NULL)
		return chan_violation(ch, "CA twice");
	if (orient_ca(m->der, &fault) == -1)
		end_request(SUP_EXIT_OS, NULL, "%s", fault.text);
	return 0;
}

static int
on_tools_told(struct chan *ch, const struct msg_TOOLS_TOLD *m)
{
	if (orient_tools(m) == -1)
		return chan_violation(ch, "TOOLS_TOLD is not plain text");
	runtime_poll();
	return 0;
}

static int
on_key_state(struct chan *ch, const struct msg_KEY_STATE *m)
{
	struct child *c = chan_arg(ch);
	struct key *k = &sup.keys[c->index];
	unsigned server;

	if (c->role == ROLE_TUNNEL) {
		sup.proxy.known = true;
		sup.proxy.key = (enum proto_key)m->state;
		log_vis_again(
		    m->text, sup.proxy.key_text, sizeof(sup.proxy.key_text));
		return 0;
	}
	k->known = true;
	k->state = (enum proto_key)m->state;
	k->length = m->length;
	log_vis_again(m->text, k->text, sizeof(k->text));
	if (!sup.ready)
		return 0;
	k->locked = k->locked || k->state == PROTO_KEY_LOCKED;
	state_spent();
	if (k->state == PROTO_KEY_LOCKED)
		sup_warn("provider %s is locked, because its credential came "
			 "back in a response. Find out why, then run: icctl "
			 "unlock",
		    sup.providers.list[c->index].name);
	else if (k->state != PROTO_KEY_LOADED)
		sup_warn("credential of %s: %s",
		    sup.providers.list[c->index].name, k->text);
	control_key(c->index);
	control_keys_state(c->index);
	server = sup.providers.list[c->index].server;
	if (server != 0 && k->state == PROTO_KEY_LOADED &&
	    sup.servers[server - 1].state == PROTO_STATE_GONE)
		server_again(&sup.servers[server - 1]);
	return 0;
}

static int
on_tunnel_show(struct chan *ch, const struct msg_TUNNEL_SHOW *m)
{
	struct proxy *p = &sup.proxy;

	p->told = true;
	p->state = (enum proto_proxy)m->proxy;
	log_vis_again(m->text, p->text, sizeof(p->text));
	/* Hosts that the proxy denies concern the agent, not the terminal. */
	if (p->state == PROTO_PROXY_AUTH || p->state == PROTO_PROXY_LOST ||
	    p->state == PROTO_PROXY_BROKEN)
		sup_warn(
		    "corporate proxy %s:%u: %s", p->host, p->port, p->text);
	else
		sup_note("corporate proxy %s:%u: %s%s%s", p->host, p->port,
		    proxy_state(p), p->text[0] != '\0' ? ": " : "", p->text);
	return 0;
}

static int
on_key_tell(struct chan *ch, const struct msg_KEY_TELL *m)
{
	struct child *c = chan_arg(ch);

	control_keys_tell(c->index, m);
	return 0;
}

static int
on_trouble(struct chan *ch, const struct msg_TROUBLE *m)
{
	const struct child *c = chan_arg(ch);
	unsigned server = sup.providers.list[c->index].server;

	trouble_take(c->index, m->text, m->count, m->retry);
	if (server != 0)
		control_server(server - 1);
	conversation_answer(c->index, m->text, m->count, m->status, m->retry);
	return 0;
}

static int
on_spent(struct chan *ch, const struct msg_SPENT *m)
{
	const struct child *c = chan_arg(ch);

	budget_spent(c->index, m);
	undo_worked();
	return 0;
}

static int
on_calls_spent(struct chan *ch, const struct msg_CALLS_SPENT *m)
{
	budget_calls(m->calls);
	undo_worked();
	return 0;
}

static int
on_usage_show(struct chan *ch, const struct msg_USAGE_SHOW *m)
{
	/*
	 * The number comes from mitmd: ignore a provider that does not exist.
	 */
	if (m->provider < sup.providers.n) {
		budget_usage(m);
		conversation_answer(m->provider, span_of(NULL, 0), 1, 200, 0);
	}
	return 0;
}

static int
on_secret_want(struct chan *ch, const struct msg_SECRET_WANT *m)
{
	struct child *c = chan_arg(ch);

	if (renew_want(&sup.keys[c->index].renewal, m) == -1 &&
	    control_keys_want(c->index) == -1)
		return chan_violation(ch, "SECRET_WANT without a login");
	return 0;
}

static int
on_secret_done(struct chan *ch, const struct msg_SECRET_DONE *m)
{
	struct child *c = chan_arg(ch);

	if (credential_renew_done(&sup.keys[c->index].renewal, m) == -1)
		return chan_violation(ch, "SECRET_DONE without a login");
	return 0;
}

static int
on_audit_fail(struct chan *ch, const struct msg_AUDIT_FAIL *m)
{
	log_vis_again(m->text, sup.audit_failed, sizeof(sup.audit_failed));
	sup_warn("the audit log cannot be written: %s. No more calls or "
		 "requests are forwarded",
	    sup.audit_failed);
	undo_logged();
	control_alarm("auditd", "audit", sup.audit_failed);
	return 0;
}

static int
on_log_full(struct chan *ch, const struct msg_LOG_FULL *m)
{
	if (!rotate_due())
		return chan_violation(ch, "LOG_FULL of a file that is not");
	rotate_full();
	return 0;
}

static int
on_log_taken(struct chan *ch, const struct msg_LOG_TAKEN *m)
{
	rotate_taken();
	return 0;
}

static int
on_logged(struct chan *ch, const struct msg_LOGGED *m)
{
	if (sup.logged)
		undo_logged();
	sup.logged = true;
	return 0;
}

static int
on_counts(struct chan *ch, const struct msg_COUNTS *m)
{
	sup.counts = *m;
	control_counts();
	return 0;
}

static int
on_alarm_show(struct chan *ch, const struct msg_ALARM_SHOW *m)
{
	sup_alarm_of(m->who, m->kind, m->text);
	return 0;
}

static int
on_state_show(struct chan *ch, const struct msg_STATE_SHOW *m)
{
	char where[4200];
	struct server *s;

	/* The virtual server is built in, so the agent need not wait for it. */
	if (m->server == PROTO_VIRTUAL && domains_on()) {
		domains_state(m);
		return 0;
	}
	if (m->server >= sup.nservers)
		return chan_violation(ch, "STATE_SHOW of server %u", m->server);
	s = &sup.servers[m->server];
	s->state = (enum proto_state)m->state;
	s->tools = m->tools;
	s->resources = m->resources;
	s->prompts = m->prompts;
	s->parts = m->parts;
	log_vis_again(m->version, s->version, sizeof(s->version));
	log_vis_again(m->text, s->text, sizeof(s->text));
	if (s->state == PROTO_STATE_GONE)
		sup_warn("MCP server %s does not run: %s" SAID_LOG "%s/session.log",
		    s->def->name, s->text,
		    paths_tilde(sup.paths.user_home, sup.session.dir, where,
			sizeof(where)));
	else if (s->state == PROTO_STATE_DIED)
		sup_warn("MCP server %s ended (%s) and is started again",
		    s->def->name, s->text);
	else
		sup_note("MCP server %s: %s, %u tool%s", s->def->name,
		    control_server_state(s->state), s->tools, plural(s->tools));
	control_server(m->server);
	if (s->state == PROTO_STATE_DIED)
		server_again(s);
	runtime_poll();
	return 0;
}

static int
on_call_show(struct chan *ch, const struct msg_CALL_SHOW *m)
{
	return talk_call(m) == -1
		   ? chan_violation(ch, "CALL_SHOW outside a conversation")
		   : 0;
}

static int
on_result_show(struct chan *ch, const struct msg_RESULT_SHOW *m)
{
	return talk_call_end(m) == -1
		   ? chan_violation(ch, "RESULT_SHOW outside a conversation")
		   : 0;
}

static int
on_hold_show(struct chan *ch, const struct msg_HOLD_SHOW *m)
{
	if ((m->id & PROTO_BUDGET_ID) != 0 && !budget_asks(m->id))
		return 0; /* withdrawn meanwhile */
	if (approvals_add(m) == -1)
		return chan_violation(ch, "HOLD_SHOW beyond the limit, or "
					  "twice");
	consider_hold(approvals_by_call(m->id));
	return 0;
}

static int
on_opinion_show(struct chan *ch, const struct msg_OPINION_SHOW *m)
{
	return consider_opinion(m) == -1
		   ? chan_violation(ch, "OPINION_SHOW without an approver")
		   : 0;
}

static int
on_hold_end(struct chan *ch, const struct msg_HOLD_END *m)
{
	/* If the log failed, the call may never have been shown. */
	if (approvals_end(m->id, (enum proto_hold)m->state, m->granted != 0) ==
		-1 &&
	    sup.audit_failed[0] == '\0')
		return chan_violation(ch, "HOLD_END of no hold");
	consider_gone(m->id);
	if (m->state == PROTO_HOLD_EXPIRED && sup.config.expiry_ends)
		end_stop(SIGTERM, "a pending call that expired");
	return 0;
}

static int
on_verdict_go(struct chan *ch, const struct msg_VERDICT_GO *m)
{
	budget_verdict(m);
	return 0;
}

static int
on_instance_want(struct chan *ch, const struct msg_INSTANCE_WANT *m)
{
	if (instance_want(m) == -1)
		return chan_violation(ch, "INSTANCE_WANT beyond the limit");
	return 0;
}

static int
on_instance_kill(struct chan *ch, const struct msg_INSTANCE_KILL *m)
{
	if (instance_kill(m->call) == -1)
		return chan_violation(ch, "INSTANCE_KILL of none");
	return 0;
}

static int
on_instance_gone_go(struct chan *ch, const struct msg_INSTANCE_GONE_GO *m)
{
	if (instance_free_index(m->server) == -1)
		return chan_violation(ch, "INSTANCE_GONE_GO of none");
	return 0;
}

static int
on_tool_seen(struct chan *ch, const struct msg_TOOL_SEEN_SHOW *m)
{
	if (pins_seen(m) == -1)
		return chan_violation(ch, "TOOL_SEEN_SHOW of no server");
	return 0;
}

static int
on_tools_noted(struct chan *ch, const struct msg_TOOLS_NOTED_SHOW *m)
{
	if (noted_take(m) == -1)
		return chan_violation(ch, "malformed TOOLS_NOTED_SHOW");
	return 0;
}

static int
on_virtual(struct chan *ch, const struct msg_VIRTUAL *m)
{
	if (domains_call(m) == -1)
		return chan_violation(ch, "VIRTUAL %llu is impossible",
		    (unsigned long long)m->id);
	return 0;
}

static int
on_grant_show(struct chan *ch, const struct msg_GRANT_SHOW *m)
{
	grants_show(m);
	if (m->state == PROTO_GRANT_ENDED)
		domains_revoked(m->id);
	return 0;
}

static int
on_host_open(struct chan *ch, const struct msg_HOST_OPEN_GO *m)
{
	if (domains_open(m) == -1)
		return chan_violation(ch, "HOST_OPEN_GO of no such host");
	return 0;
}

static int
on_port_use_show(struct chan *ch, const struct msg_PORT_USE_SHOW *m)
{
	return publish_used(m) == -1
		   ? chan_violation(ch, "PORT_USE of no published port")
		   : 0;
}

static int
on_service_use(struct chan *ch, const struct msg_SERVICE_USE *m)
{
	return services_used(m) == -1
		   ? chan_violation(ch, "SERVICE_USE of no service")
		   : 0;
}

static int
on_gate_open(struct chan *ch, const struct msg_GATE_OPEN *m, int fd)
{
	gate_opened((enum gate_way)m->way, fd);
	return 0;
}

static int
on_gate_refused(struct chan *ch, const struct msg_GATE_REFUSED *m)
{
	gate_refused(m);
	return 0;
}

static int
on_turn_text(struct chan *ch, const struct msg_TURN_TEXT *m)
{
	return conversation_text(m) == -1
		   ? chan_violation(ch, "TURN_TEXT of no conversation, or with "
					"control characters")
		   : 0;
}

static int
on_turn_done(struct chan *ch, const struct msg_TURN_DONE *m)
{
	conversation_printed(m->turn);
	return 0;
}

static int
on_person_said(struct chan *ch, const struct msg_PERSON_SAID *m)
{
	undo_person(m->prompt != 0);
	return 0;
}

static int
on_late_show(struct chan *ch, const struct msg_LATE_SHOW *m)
{
	approvals_late(m->id);
	return 0;
}

static void
sup_closed_late(struct loop_timer *t)
{
	struct child *c = t->arg;
	char said[300];

	end_request(SUP_EXIT_FAILED, c,
	    "%s (pid %d) closed its channel and lives on%s", c->name,
	    (int)c->sp.pid, child_said(c, said, sizeof(said)));
}

static void
sup_closed(struct chan *ch, const char *why)
{
	struct child *c = chan_arg(ch);

	if (sup.ready && (c->role == ROLE_TERM ||
			     (c->role == ROLE_ACP && sup.terminal.leaving)))
		terminal_closed(c, why);
	else if (why != NULL)
		end_request(SUP_EXIT_FAILED, c,
		    "%s (pid %d) broke the "
		    "protocol: %s",
		    c->name, (int)c->sp.pid, why);
	else if (!c->leaving)
		/* The worker's exit says more than the end of its channel. */
		loop_timer_set(
		    &sup.loop, &sup.closed_timer, 300, sup_closed_late, c);
	chan_free(ch);
	c->chan = NULL;
}

/* clang-format off */
static const struct chan_handler sup_handlers[] = {
	HANDLER(HELLO,		on_hello),
	HANDLER(RULES_OK,	on_rules_ok),
	HANDLER(RULES_BAD,	on_rules_bad),
	HANDLER(CA,		on_ca),
	HANDLER(KEY_STATE,	on_key_state),
	HANDLER(SPENT,		on_spent),
	HANDLER(TROUBLE,	on_trouble),
	HANDLER(TOOLS_TOLD,	on_tools_told),
	HANDLER(CALLS_SPENT,	on_calls_spent),
	HANDLER(USAGE_SHOW,	on_usage_show),
	HANDLER(KEY_TELL,	on_key_tell),
	HANDLER(TUNNEL_SHOW,	on_tunnel_show),
	HANDLER(PORT_USE_SHOW,	on_port_use_show),
	HANDLER(SERVICE_USE,	on_service_use),
	HANDLER(GATE_OPEN,	on_gate_open),
	HANDLER(GATE_REFUSED,	on_gate_refused),
	HANDLER(TURN_TEXT,	on_turn_text),
	HANDLER(TURN_DONE,	on_turn_done),
	HANDLER(PERSON_SAID,	on_person_said),
	HANDLER(SECRET_WANT,	on_secret_want),
	HANDLER(SECRET_DONE,	on_secret_done),
	HANDLER(AUDIT_FAIL,	on_audit_fail),
	HANDLER(LOG_FULL,	on_log_full),
	HANDLER(LOG_TAKEN,	on_log_taken),
	HANDLER(LOGGED,		on_logged),
	HANDLER(COUNTS,		on_counts),
	HANDLER(ALARM_SHOW,	on_alarm_show),
	HANDLER(STATE_SHOW,	on_state_show),
	HANDLER(CALL_SHOW,	on_call_show),
	HANDLER(RESULT_SHOW,	on_result_show),
	HANDLER(HOLD_SHOW,	on_hold_show),
	HANDLER(OPINION_SHOW,	on_opinion_show),
	HANDLER(HOLD_END,	on_hold_end),
	HANDLER(VERDICT_GO,	on_verdict_go),
	HANDLER(LATE_SHOW,	on_late_show),
	HANDLER(GRANT_SHOW,	on_grant_show),
	HANDLER(HOST_OPEN_GO,	on_host_open),
	HANDLER(INSTANCE_WANT,	on_instance_want),
	HANDLER(INSTANCE_KILL,	on_instance_kill),
	HANDLER(INSTANCE_GONE_GO,	on_instance_gone_go),
	HANDLER(TOOL_SEEN_SHOW,	on_tool_seen),
	HANDLER(TOOLS_NOTED_SHOW,	on_tools_noted),
	HANDLER(VIRTUAL,	on_virtual),
};
/* clang-format on */

const struct chan_ops sup_chan_ops = {
    .handlers = sup_handlers,
    .nhandlers = nitems(sup_handlers),
    .closed = sup_closed,
};
