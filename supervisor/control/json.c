/* SPDX-License-Identifier: ISC */
/*
 * What icctl is shown, as JSON: held calls, servers, workers, the session.
 * Text that is no UTF-8 is made printable; what an agent wrote stays as it is
 * until icctl shows it.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "budget.h"
#include "common/json/value.h"
#include "common/log.h"
#include "control/control.h"
#include "domains.h"
#include "sup.h"

static struct json_object *
text_json(const char *s)
{
	char vis[4096];

	if (!utf8_valid(span_str(s)))
		s = log_vis(span_str(s), vis, sizeof(vis));
	return json_object_new_string(s);
}

static void
put(struct json_object *o, const char *key, const char *s)
{
	json_object_object_add(o, key, text_json(s));
}

static void
put_int(struct json_object *o, const char *key, int64_t n)
{
	json_object_object_add(o, key, json_object_new_int64(n));
}

struct json_object *
control_ok(void)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "ok", json_object_new_boolean(1));
	return o;
}

static void
put_hex(struct json_object *o, const char *key, const uint8_t digest[32])
{
	char hex[65];

	for (size_t i = 0; i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	put(o, key, hex);
}

struct json_object *
control_hold_json(const struct hold *h, bool whole)
{
	struct json_object *o = json_object_new_object();
	uint64_t now = loop_now(&sup.loop);

	put(o, "id", h->sid);
	json_object_object_add(o, "call", json_object_new_uint64(h->id));
	if ((h->id & PROTO_ASK_ID) != 0)
		json_object_object_add(
		    o, "request", json_object_new_boolean(1));
	else if ((h->id & PROTO_LOGIN_ID) != 0)
		json_object_object_add(o, "login", json_object_new_boolean(1));
	put(o, "server", h->server);
	put(o, "tool", h->tool);
	put(o, "effect", h->effect);
	put(o, "reason", h->reason);
	put(o, "rule", h->rule);
	put_hex(o, "digest", h->digest);
	if (h->session[0] != '\0') {
		json_object_object_add(
		    o, "forSession", json_tokener_parse(h->session));
		put_hex(o, "sessionDigest", h->session_digest);
	}
	/* Whole or not at all: a part could be taken for all of it. */
	if (whole || h->preview_len + h->details_len <= CONTROL_MAX_SHOWN) {
		json_object_object_add(o, "arguments",
		    json_object_new_string_len(
			h->preview, (int)h->preview_len));
		json_object_object_foreach(h->details, key, v)
		    json_object_object_add(o, key, json_object_get(v));
	} else {
		json_object_object_add(o, "cut", json_object_new_boolean(1));
	}
	put_int(o, "age_ms", (int64_t)(now - h->since));
	put_int(o, "expires_ms", (int64_t)h->expires - (int64_t)now);
	return o;
}

struct json_object *
control_holds_json(void)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; i < approvals_count(); i++)
		json_object_array_add(
		    list, control_hold_json(approvals_at(i), false));
	return list;
}

const char *
control_server_state(enum proto_state state)
{
	switch (state) {
	case PROTO_STATE_STARTING:
		return "starting";
	case PROTO_STATE_LISTING:
		return "listing its tools";
	case PROTO_STATE_READY:
		return "ready";
	case PROTO_STATE_GONE:
		break;
	}
	return "gone";
}

struct json_object *
control_server_row(
    const char *name, enum proto_state state, uint32_t tools, const char *text)
{
	struct json_object *o = json_object_new_object();

	put(o, "name", name);
	put(o, "state", control_server_state(state));
	put_int(o, "tools", tools);
	put(o, "text", text);
	return o;
}

struct json_object *
control_server_json(unsigned server)
{
	const struct server *s = &sup.servers[server];
	char text[sizeof(s->text) + sizeof(s->ended) + 8];

	if (server == PROTO_VIRTUAL && domains_on())
		return domains_server_json();
	snprintf(text, sizeof(text), "%s%s%s", s->text,
	    s->ended[0] != '\0' ? "; it " : "", s->ended);
	return control_server_row(s->def->name, s->state, s->tools, text);
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
		put(o, "name", c->name);
		put_int(o, "pid", c->sp.pid);
		json_object_object_add(o, "stopped",
		    json_object_new_boolean(c->stopped_told));
		put(o, "confinement",
		    confine_describe(&c->confine, text, sizeof(text)));
		missing = topology_missing(c->role, &c->confine);
		if (c->hello && missing != 0) {
			snprintf(lacks, sizeof(lacks), "without %s",
			    confine_names(missing, text, sizeof(text)));
			put(o, "missing", lacks);
		}
		json_object_array_add(list, o);
	}
	return list;
}

/* Servers that run for one call. */
static struct json_object *
status_instances(void)
{
	struct json_object *list = json_object_new_array(), *o, *paths;

	for (unsigned k = 0; k < PROTO_MAX_INSTANCES; k++) {
		const struct instance *i = &sup.instances[k];

		if (i->call == 0)
			continue;
		o = json_object_new_object();
		put(o, "server", sup.servers[i->of].def->name);
		put_int(o, "instance", i->index);
		put_int(o, "call", (int64_t)i->call);
		put_int(o, "pid", i->sp.pid > 0 ? i->sp.pid : 0);
		put(o, "state",
		    i->dropped ? "ending"
		    : i->up    ? "running"
			       : "starting");
		paths = json_object_new_array();
		for (unsigned n = 0; n < i->nobjects; n++)
			json_object_array_add(
			    paths, text_json(i->objects[n].path));
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
		put(o, "provider", sup.providers.list[i].name);
		put(o, "credential", states[sup.keys[i].state]);
		if (sup.keys[i].length != 0 && sup.keys[i].length < 16)
			put(o, "note",
			    "too short to be searched for in "
			    "responses");
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *
status_alarms(void)
{
	struct json_object *list = json_object_new_array(), *o;

	for (unsigned i = 0; i < sup.nalarms; i++) {
		o = json_object_new_object();
		put(o, "who", sup.alarms[i].who);
		put(o, "kind", sup.alarms[i].kind);
		put(o, "text", sup.alarms[i].text);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *
status_proxy(void)
{
	const struct proxy *p = &sup.proxy;
	struct json_object *o = json_object_new_object();

	put(o, "host", p->host);
	put_int(o, "port", p->port);
	put(o, "from", p->from);
	json_object_object_add(
	    o, "credential", json_object_new_boolean(p->auth));
	put_int(o, "direct", p->ndirect);
	put(o, "state", proxy_state(p));
	put(o, "text", p->text);
	put(o, "hint", proxy_hint(p));
	put(o, "note",
	    "names are resolved, and what they lead to is screened, by it");
	return o;
}

struct json_object *
control_status_json(void)
{
	struct json_object *o = control_ok(), *list, *counts;
	char when[32];
	time_t began = (time_t)(sup.began / 1000000);
	struct tm tm;

	when[0] = '\0';
	if (gmtime_r(&began, &tm) != NULL)
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	put(o, "session", sup.session.id);
	put(o, "dir", sup.session.dir);
	put(o, "agent",
	    sup.opt.runtime == RUNTIME_NONE ? "none" : sup.adapter.name);
	put(o, "runtime", sup.opt.runtime == RUNTIME_NONE ? "none" : "bwrap");
	put(o, "workspace", sup.workspace_path);
	put(o, "policy", sup.rules[PROTO_RULES_POLICY].path);
	put(o, "started", when);
	put_int(o, "pid", getpid());
	put_int(o, "pending", approvals_count());
	put_int(o, "rules", sup.rules_count);
	if (sup.audit_failed[0] != '\0')
		put(o, "auditFailed", sup.audit_failed);
	counts = json_object_new_object();
	put_int(counts, "seq", (int64_t)sup.counts.seq);
	put_int(counts, "allowed", (int64_t)sup.counts.allowed);
	put_int(counts, "denied", (int64_t)sup.counts.denied);
	put_int(counts, "escalated", (int64_t)sup.counts.escalated);
	put_int(counts, "requests", (int64_t)sup.counts.requests);
	put_int(counts, "refused", (int64_t)sup.counts.refused);
	json_object_object_add(o, "counts", counts);
	json_object_object_add(o, "budget", budget_json());
	if (sup.proxy.set)
		json_object_object_add(o, "proxy", status_proxy());
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
	json_object_object_add(
	    o, "proxyTools", json_object_new_boolean(domains_on()));
	json_object_object_add(o, "alarms", status_alarms());
	json_object_object_add(o, "quarantined", pins_json(NULL, NULL, false));
	list = json_object_new_array();
	for (unsigned i = 0; approvals_granted(i) != NULL; i++)
		json_object_array_add(
		    list, json_tokener_parse(approvals_granted(i)));
	json_object_object_add(o, "granted", list);
	return o;
}
