/* SPDX-License-Identifier: ISC */
/*
 * The reply to `icctl status`: the session, its servers, workers, credentials
 * and alarms.
 */
#include "hub/control.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "auto/consider.h"
#include "budget/budget.h"
#include "hub/grants.h"
#include "box/sandbox.h"
#include "conversation/conversation.h"
#include "conversation/talk_trouble.h"
#include "start/clone.h"
#include "common/time_text.h"
#include "base/json_put.h"
#include "base/kept.h"
#include "start/domains.h"
#include "box/containers/gate.h"
#include "relay/publish.h"
#include "relay/services.h"
#include "core/sup.h"
#include "undo/checkpoint.h"

struct json_object *
control_holds_json(void)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; i < approvals_count(); i++)
		json_object_array_add(list, hold_json(approvals_at(i), false));
	return list;
}

static struct json_object *
status_workers(void)
{
	struct json_object *list = json_object_new_array(), *o;
	char text[256], lacks[300];
	uint32_t missing;

	for (unsigned i = 0; i < sup.nchildren; i++) {
		const struct child *c = &sup.children[i];

		if (c->name[0] == '\0')
			continue;
		o = json_object_new_object();
		put_str(o, "name", c->name);
		put_int(o, "pid", c->sp.pid);
		put_bool(o, "stopped", c->stopped_told);
		put_str(o, "confinement",
		    confine_describe(&c->confine, text, sizeof(text)));
		missing = topology_missing(c->role, &c->confine);
		if (c->hello && missing != 0) {
			snprintf(lacks, sizeof(lacks), "without %s",
			    confine_names(missing, text, sizeof(text)));
			put_str(o, "missing", lacks);
		}
		json_object_array_add(list, o);
	}
	return list;
}

/* List the servers that run for a single call. */
static struct json_object *
status_instances(void)
{
	struct json_object *list = json_object_new_array(), *o, *paths;

	for (unsigned k = 0; k < PROTO_MAX_INSTANCES; k++) {
		const struct instance *i = &sup.instances[k];

		if (i->call == 0)
			continue;
		o = json_object_new_object();
		put_str(o, "server", sup.servers[i->of].def->name);
		put_int(o, "instance", i->index);
		put_int(o, "call", (int64_t)i->call);
		put_int(o, "pid", i->sp.pid > 0 ? i->sp.pid : 0);
		put_str(o, "state",
		    i->dropped ? "ending"
		    : i->up    ? "running"
			       : "starting");
		paths = json_object_new_array();
		for (unsigned n = 0; n < i->nobjects; n++)
			json_object_array_add(
			    paths, json_text(i->objects[n].path));
		json_object_object_add(o, "paths", paths);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *
status_keys(void)
{
	static const char *const states[] = {
	    "loaded", "empty", "bad", "locked", "refused", "waiting"};
	struct json_object *list = json_object_new_array(), *o;

	for (unsigned i = 0; i < sup.providers.n; i++) {
		if (sup.providers.list[i].env == NULL)
			continue;
		o = json_object_new_object();
		put_str(o, "provider", sup.providers.list[i].name);
		put_str(o, "credential", states[sup.keys[i].state]);
		if (sup.keys[i].length != 0 && sup.keys[i].length < 16)
			put_str(o, "note",
			    "too short to be recognised in responses");
		json_object_array_add(list, o);
	}
	return list;
}

struct json_object *
control_alarms_json(void)
{
	struct json_object *list = json_object_new_array(), *o;

	for (unsigned i = 0; i < sup.nalarms; i++) {
		o = json_object_new_object();
		put_str(o, "who", sup.alarms[i].who);
		put_str(o, "kind", sup.alarms[i].kind);
		put_str(o, "text", sup.alarms[i].text);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *
status_proxy(void)
{
	const struct proxy *p = &sup.proxy;
	struct json_object *o = json_object_new_object();

	put_str(o, "host", p->host);
	put_int(o, "port", p->port);
	put_str(o, "from", p->from);
	put_bool(o, "credential", p->auth);
	put_int(o, "direct", p->ndirect);
	put_str(o, "state", proxy_state(p));
	put_str(o, "text", p->text);
	put_str(o, "hint", proxy_hint(p));
	put_str(
	    o, "note", "it resolves host names and screens their addresses");
	return o;
}

/*
 * Returns the state of a session with one task, or none, in the same words. An
 * agent that has the terminal may be idle, which nobody here knows.
 */
static const char *
status_state(void)
{
	if (sup.ending)
		return "stopping";
	if (approvals_count() != 0)
		return "waiting";
	return sup.opt.runtime == RUNTIME_NONE ? "ready" : "running";
}

struct json_object *
control_status_json(void)
{
	struct json_object *o = control_ok(), *list, *counts, *ids,
			   *clone = clone_json();
	char when[TIME_TEXT], until[TIME_TEXT];

	put_str(o, "session", sup.session.id);
	put_str(o, "dir", sup.session.dir);
	put_str(o, "agent",
	    sup.opt.runtime == RUNTIME_NONE ? "none" : sup.adapter.name);
	if (sup.opt.persona != NULL)
		put_str(o, "persona", sup.opt.persona);
	put_str(o, "runtime", options_runtime_name(sup.opt.runtime));
	if (sandbox.image[0] != '\0') {
		put_str(o, "image", sandbox.image);
		put_str(
		    o, "transport", options_transport_name(sup.opt.transport));
	}
	if (sup.opt.transport == TRANSPORT_TCP)
		json_object_object_add(o, "gate", gate_json());
	put_str(o, "workspace", sup.workspace_path);
	put_str(o, "workspaceInside", sup.inside);
	put_bool(o, "workspaceReadOnly", sup.read_only);
	if (clone != NULL)
		json_object_object_add(o, "clone", clone);
	put_str(o, "policy", sup.rules[PROTO_RULES_POLICY].path);
	put_str(o, "started", time_text((int64_t)(sup.began / 1000000), when));
	put_int(o, "pid", getpid());
	if (sup.opt.conversation) {
		put_str(o, "state", conversation_state());
		if (talk_trouble_quota(until) && until[0] != '\0')
			put_str(o, "quotaUntil", until);
		put_int(o, "turn", conversation_turn());
	}
	if (!sup.opt.conversation)
		put_str(o, "state", status_state());
	put_int(o, "pending", approvals_count());
	ids = json_object_new_array();
	for (unsigned i = 0; i < approvals_count(); i++)
		json_object_array_add(
		    ids, json_object_new_string(approvals_at(i)->sid));
	json_object_object_add(o, "pendingIds", ids);
	put_int(o, "rules", sup.rules_count);
	if (sup.audit_failed[0] != '\0')
		put_str(o, "auditFailed", sup.audit_failed);
	if (kept_changed())
		put_bool(o, "upgraded", true);
	if (undo_on())
		json_object_object_add(o, "undo", undo_json());
	counts = json_object_new_object();
	put_int(counts, "seq", (int64_t)sup.counts.seq);
	put_int(counts, "allowed", (int64_t)sup.counts.allowed);
	put_int(counts, "denied", (int64_t)sup.counts.denied);
	put_int(counts, "escalated", (int64_t)sup.counts.escalated);
	put_int(counts, "requests", (int64_t)sup.counts.requests);
	put_int(counts, "refused", (int64_t)sup.counts.refused);
	json_object_object_add(o, "counts", counts);
	json_object_object_add(o, "budget", budget_json());
	json_object_object_add(o, "limits", limits_json(&sup.config.limits));
	json_object_object_add(o, "breakoutTest", breakout_json());
	if (sup.opt.npublish != 0)
		json_object_object_add(o, "published", publish_json());
	if (sup.services)
		json_object_object_add(o, "services", services_json());
	if (sup.proxy.set)
		json_object_object_add(o, "proxy", status_proxy());
	if (sup.approver != 0)
		json_object_object_add(o, "autoApprove", consider_json());
	list = json_object_new_array();
	for (unsigned i = 0; i < sup.nservers; i++)
		json_object_array_add(list, control_server_json(i));
	if (domains_on())
		json_object_array_add(list, domains_server_json());
	json_object_object_add(o, "servers", list);
	json_object_object_add(o, "instances", status_instances());
	json_object_object_add(o, "workers", status_workers());
	json_object_object_add(o, "credentials", status_keys());
	json_object_object_add(o, "failures", trouble_list());
	json_object_object_add(o, "destinations", domains_json());
	put_bool(o, "proxyTools", domains_on());
	put_str(o, "openHosts", sup.config.asks_hosts ? "ask" : "off");
	put_str(o, "unasked", adapter_unasked(&sup.adapter));
	json_object_object_add(o, "alarms", control_alarms_json());
	json_object_object_add(o, "quarantined", pins_json(NULL, NULL, false));
	json_object_object_add(o, "definitions", noted_json());
	json_object_object_add(o, "granted", grants_json());
	return o;
}

void
control_counts(void)
{
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		struct client *c = &control_clients[i];

		if (c->fd == -1 || !c->counting || c->reply == NULL)
			continue;
		json_object_put(c->reply);
		c->reply = control_status_json();
		control_answer(c);
	}
}
