/* SPDX-License-Identifier: ISC */
/*
 * icsupervisor's own audit records: start, the end of a worker, stop. They are
 * composed as value trees, so that they are canonical like all others, and
 * written by auditd, or appended here if auditd no longer can.
 */
#include "sup.h"

#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/closing.h"
#include "log/scan.h"
#include "common/json/json.h"
#include "common/log.h"
#include "base/here.h"
#include "box/sandbox.h"
#include "relay/publish.h"

#define EVENT_POOL (1U << 20)

static struct value *
text(struct value_pool *p, const char *s)
{
	size_t n = strlen(s);
	char *copy = value_pool_alloc(p, n + 1);

	if (copy == NULL)
		return NULL;
	memcpy(copy, s, n + 1);
	if (!utf8_valid(span_of(copy, n)))
		log_vis(span_str(s), copy, n + 1);
	return value_new_string(p, span_str(copy));
}

static struct value *
hex(struct value_pool *p, const uint8_t *bytes, size_t n)
{
	char out[65];

	return text(p, hex_string(bytes, n, out));
}

static void
put(struct value *o, const char *key, struct value *v)
{
	(void)value_set(o, span_str(key), v);
}

void
event_put_text(
    struct value_pool *p, struct value *o, const char *key, const char *s)
{
	put(o, key, text(p, s));
}

void
event_put_number(
    struct value_pool *p, struct value *o, const char *key, int64_t n)
{
	put(o, key, value_new_number(p, n));
}

void
event_send(const char *event, const struct value *detail)
{
	struct msg_EVENT m = {.event = span_str(event)};
	struct buf b;

	/* Before auditd has the log, records cannot be written. */
	if (!sup.logging)
		return;
	buf_init(&b, EVENT_POOL);
	if (detail != NULL && json_write(&b, detail) == 0) {
		m.detail = buf_span(&b);
		child_send(ROLE_AUDIT, 0, MSG_EVENT, &m, -1);
	}
	buf_free(&b);
}

static struct value *
event_policy(struct value_pool *p, const struct rules_file set[])
{
	static const char *const names[] = {"policy", "annotations", "lists"};
	struct value *o = value_new(p, VALUE_OBJECT);

	for (unsigned k = 0; o != NULL && k <= PROTO_RULES_LAST; k++)
		if (set[k].path != NULL)
			put(o, names[k], hex(p, set[k].hash, 32));
	return o;
}

void
event_budget(const char *what, const char *key, const char *why)
{
	struct value_pool *p = value_pool_new(EVENT_POOL);
	struct value *o;

	if (p == NULL)
		return;
	if ((o = value_new(p, VALUE_OBJECT)) != NULL) {
		put(o, "key", text(p, key));
		put(o, "text", text(p, why));
		put(o, "what", text(p, what));
		event_send("budget", o);
	}
	value_pool_free(p);
}

/* The message itself is in events.jsonl, which the user may delete. */
void
event_turn(uint32_t turn, struct span message)
{
	struct value_pool *p = value_pool_new(EVENT_POOL);
	struct value *o = p == NULL ? NULL : value_new(p, VALUE_OBJECT);
	uint8_t hash[32];
	SHA2_CTX ctx;

	if (o != NULL) {
		SHA256Init(&ctx);
		SHA256Update(&ctx, message.p, message.len);
		SHA256Final(hash, &ctx);
		put(o, "bytes", value_new_number(p, (int64_t)message.len));
		put(o, "sha256", hex(p, hash, 32));
		put(o, "turn", value_new_number(p, turn));
		event_send("turn", o);
	}
	value_pool_free(p);
}

void
event_reload(const struct rules_file set[], int64_t pid)
{
	struct value_pool *p = value_pool_new(EVENT_POOL);
	struct value *o = p == NULL ? NULL : value_new(p, VALUE_OBJECT);
	struct value *files = p == NULL ? NULL : value_new(p, VALUE_ARRAY);

	if (o != NULL && files != NULL) {
		for (unsigned k = 0; k <= PROTO_RULES_LAST; k++)
			if (set[k].path != NULL)
				(void)value_append(files, text(p, set[k].path));
		put(o, "files", files);
		put(o, "pid", value_new_number(p, pid));
		put(o, "policy", event_policy(p, set));
		event_send("reload", o);
	}
	value_pool_free(p);
}

void
event_reload_refused(const char *why)
{
	struct value_pool *p = value_pool_new(EVENT_POOL);
	struct value *o = p == NULL ? NULL : value_new(p, VALUE_OBJECT);

	if (o != NULL) {
		put(o, "reason", text(p, why));
		event_send("reloadRefused", o);
	}
	value_pool_free(p);
}

/* The proxy without its credential. "resolves" says who resolves names. */
static struct value *
event_proxy(struct value_pool *p)
{
	const struct proxy *x = &sup.proxy;
	struct value *o = value_new(p, VALUE_OBJECT);
	struct value *direct = value_new(p, VALUE_ARRAY);
	char row[300];
	size_t n;

	if (o == NULL || direct == NULL)
		return NULL;
	for (const char *s = x->direct; *s != '\0'; s += n + 1) {
		n = strcspn(s, "\n");
		snprintf(row, sizeof(row), "%.*s", (int)n, s);
		(void)value_append(direct, text(p, row));
	}
	put(o, "credential", value_new(p, x->auth ? VALUE_TRUE : VALUE_FALSE));
	put(o, "direct", direct);
	put(o, "from", text(p, x->from));
	put(o, "host", text(p, x->host));
	put(o, "port", value_new_number(p, x->port));
	put(o, "resolves", text(p, "proxy"));
	return o;
}

static struct value *
event_limits(struct value_pool *p)
{
	struct value *o = value_new(p, VALUE_OBJECT);
	struct json_object *all = limits_json(&sup.config.limits);
	char *name;

	json_object_object_foreach(all, key, v)
	{
		/* The tree outlives `all`. */
		if ((name = value_pool_alloc(p, strlen(key) + 1)) == NULL)
			break;
		memcpy(name, key, strlen(key) + 1);
		put(o, name, text(p, json_object_get_string(v)));
	}
	json_object_put(all);
	return o;
}

static struct value *
event_published(struct value_pool *p)
{
	struct value *list = value_new(p, VALUE_ARRAY), *o;

	for (unsigned i = 0; list != NULL && i < sup.opt.npublish; i++) {
		if ((o = value_new(p, VALUE_OBJECT)) == NULL)
			break;
		put(o, "port",
		    value_new_number(p, sup.opt.publish[i].port));
		put(o, "url", text(p, publish_url(i)));
		(void)value_append(list, o);
	}
	return list;
}

static struct value *
event_services(struct value_pool *p)
{
	struct value *list = value_new(p, VALUE_ARRAY), *o;

	for (unsigned i = 0; list != NULL && i < sup.config.nservices; i++) {
		const struct config_service *s = &sup.config.services[i];

		if ((o = value_new(p, VALUE_OBJECT)) == NULL)
			break;
		put(o, "host", text(p, s->host));
		put(o, "hostPort", value_new_number(p, s->to));
		if (s->user[0] != '\0')
			put(o, "login", text(p, s->user));
		put(o, "name", text(p, s->name));
		put(o, "port", value_new_number(p, s->port));
		(void)value_append(list, o);
	}
	return list;
}

void
event_start(void)
{
	struct value_pool *p = value_pool_new(EVENT_POOL);
	struct value *o, *all, *servers, *missing;
	const struct child *c;
	char have[256];
	uint32_t lacks;

	if (p == NULL)
		return;
	o = value_new(p, VALUE_OBJECT);
	all = value_new(p, VALUE_OBJECT);
	missing = value_new(p, VALUE_OBJECT);
	servers = value_new(p, VALUE_ARRAY);
	if (o == NULL || all == NULL || servers == NULL || missing == NULL)
		goto out;
	for (unsigned i = 0; i < sup.nchildren; i++) {
		c = &sup.children[i];
		put(all, c->name,
		    text(p, confine_describe(&c->confine, have, sizeof(have))));
		lacks = topology_missing(c->role, &c->confine);
		if (lacks != 0)
			put(missing, c->name,
			    text(p, confine_names(lacks, have, sizeof(have))));
	}
	for (unsigned i = 0; i < sup.nservers; i++)
		(void)value_append(servers, text(p, sup.servers[i].def->name));
	put(o, "boot", text(p, here()->boot));
	put(o, "host", text(p, here()->host));
	put(o, "agent",
	    text(p,
		sup.opt.runtime == RUNTIME_NONE ? "none" : sup.adapter.name));
	put(o, "config", hex(p, sup.config.hash, 32));
	put(o, "confinement", all);
	put(o, "limits", event_limits(p));
	put(o, "missing", missing);
	put(o, "format", value_new_number(p, AUDITSCAN_FORMAT));
	if (sandbox.image[0] != '\0') {
		put(o, "image", text(p, sandbox.image));
		put(o, "transport",
		    text(p, options_transport_name(sup.opt.transport)));
	}
	if (sup.opt.persona != NULL)
		put(o, "persona", text(p, sup.opt.persona));
	if (sup.constitution[0] != '\0')
		put(o, "constitution", text(p, sup.constitution));
	put(o, "policy", event_policy(p, sup.rules));
	if (sup.proxy.set)
		put(o, "proxy", event_proxy(p));
	if (sup.opt.npublish != 0)
		put(o, "published", event_published(p));
	put(o, "runtime", text(p, options_runtime_name(sup.opt.runtime)));
	put(o, "servers", servers);
	if (sup.services)
		put(o, "services", event_services(p));
	if (sup.session.torn != 0)
		put(o, "torn", value_new_number(p, (int64_t)sup.session.torn));
	put(o, "session", text(p, sup.session.id));
	put(o, "version", text(p, IC_VERSION));
	put(o, "workspace", text(p, sup.workspace_path));
	if (sup.read_only)
		put(o, "workspaceReadOnly", value_new(p, VALUE_TRUE));
	event_send("start", o);
out:
	value_pool_free(p);
}

void
event_destination(bool added, unsigned provider, const char *host)
{
	struct value_pool *p = value_pool_new(EVENT_POOL);
	struct value *o = p != NULL ? value_new(p, VALUE_OBJECT) : NULL;

	if (o != NULL) {
		put(o, "host", text(p, host));
		put(o, "kind", text(p, sup.providers.list[provider].kind));
		put(o, "provider", value_new_number(p, provider));
		event_send(
		    added ? "destinationAdded" : "destinationRemoved", o);
	}
	value_pool_free(p);
}

void
event_credential(unsigned provider, const char *what, const char *why)
{
	struct value_pool *p = value_pool_new(EVENT_POOL);
	const struct provider *pr = &sup.providers.list[provider];
	struct value *o = NULL;

	if (p != NULL)
		o = value_new(p, VALUE_OBJECT);
	if (o != NULL) {
		put(o, "kind",
		    text(p,
			pr->login == -1 ? "key" : pr->logins[pr->login].name));
		put(o, "provider", text(p, pr->name));
		put(o, "reason", text(p, why));
		put(o, "what", text(p, what));
		event_send("credential", o);
	}
	value_pool_free(p);
}

void
event_breakout(const struct breakout *test)
{
	struct value_pool *p = value_pool_new(EVENT_POOL);
	struct value *o;

	if (p != NULL && (o = value_new(p, VALUE_OBJECT)) != NULL) {
		put(o, "attempts", value_new_number(p, test->attempts));
		put(o, "outside", value_new_number(p, test->outside));
		put(o, "table", hex(p, test->table, sizeof(test->table)));
		event_send("breakoutTest", o);
	}
	value_pool_free(p);
}

void
event_log_broken(const char *why)
{
	struct value_pool *p = value_pool_new(EVENT_POOL);
	struct value *o;

	if (p != NULL && (o = value_new(p, VALUE_OBJECT)) != NULL) {
		put(o, "why", text(p, why));
		event_send("logBroken", o);
	}
	value_pool_free(p);
}

void
event_stopped(const struct child *c)
{
	struct value_pool *p = value_pool_new(EVENT_POOL);
	struct value *o;

	if (p != NULL && (o = value_new(p, VALUE_OBJECT)) != NULL) {
		put(o, "pid", value_new_number(p, c->sp.pid));
		put(o, "worker", text(p, c->name));
		event_send("workerStopped", o);
	}
	value_pool_free(p);
}

static struct value *
detail_worker(struct value_pool *p, const struct child *c)
{
	struct value *o = value_new(p, VALUE_OBJECT);
	char how[128] = "was told to end";
	const struct proto_msg *m;

	if (o == NULL)
		return NULL;
	if (c->dead)
		spawn_describe(c->code, c->status, how, sizeof(how));
	m = c->chan == NULL ? NULL : proto_find(chan_last(c->chan));
	put(o, "how", text(p, how));
	put(o, "index", value_new_number(p, c->index));
	put(o, "lastLog", text(p, c->last));
	put(o, "lastMessage", text(p, m != NULL ? m->name : ""));
	put(o, "pid", value_new_number(p, c->sp.pid));
	put(o, "role", text(p, role_name(c->role)));
	put(o, "worker", text(p, c->name));
	return o;
}

void
event_worker(struct child *c)
{
	struct value_pool *p = value_pool_new(EVENT_POOL);

	if (p != NULL)
		event_send("workerEnd", detail_worker(p, c));
	value_pool_free(p);
	c->recorded = true;
}

/*
 * Returns true if the log must have the end of this worker before it is closed.
 */
static bool
worker_is_due(const struct child *c)
{
	return !c->recorded && (c == sup.end_child || child_crashed(c));
}

static struct value *
detail_stop(struct value_pool *p)
{
	struct value *o = value_new(p, VALUE_OBJECT);

	if (o == NULL)
		return NULL;
	if (sup.end_evidence[0] != '\0')
		put(o, "evidence", text(p, sup.end_evidence));
	put(o, "reason", text(p, sup.end_why));
	put(o, "status", value_new_number(p, sup.end_status));
	return o;
}

static void
closing_add(struct auditclosing *c, const char *event, const struct value *v)
{
	struct buf json;

	buf_init(&json, EVENT_POOL);
	if (v != NULL && json_write(&json, v) == 0)
		auditclosing_add(c, event, buf_span(&json));
	buf_free(&json);
}

/* Acknowledge a torn line that a crash left, or that was removed. */
static struct value *
closing_detail(
    struct value_pool *p, struct value *o, const struct auditclosing *c)
{
	if (o != NULL && c->cut != 0)
		put(o, "cut", value_new_number(p, (int64_t)c->cut));
	if (o != NULL && c->torn != 0)
		put(o, "torn", value_new_number(p, (int64_t)c->torn));
	return o;
}

void
event_closing(void)
{
	struct value_pool *p = value_pool_new(EVENT_POOL);
	struct auditclosing c;

	if (p == NULL || auditclosing_begin(&c, &sup.session,
			     sup.audit_failed[0] != '\0') == -1) {
		sup_note("the audit log's end cannot be read; no closing "
			 "record");
		value_pool_free(p);
		return;
	}
	for (unsigned i = 0; i < sup.nchildren; i++) {
		if (!worker_is_due(&sup.children[i]))
			continue;
		closing_add(&c, "workerEnd",
		    closing_detail(p, detail_worker(p, &sup.children[i]), &c));
		sup.children[i].recorded = true;
	}
	closing_add(&c, "stop", closing_detail(p, detail_stop(p), &c));
	if (auditclosing_end(&c) == -1)
		sup_note("closing record: %s", strerror(errno));
	value_pool_free(p);
}

void
event_end(void)
{
	struct value_pool *p = value_pool_new(EVENT_POOL);

	if (p == NULL)
		return;
	for (unsigned i = 0; i < sup.nchildren; i++)
		if (worker_is_due(&sup.children[i]))
			event_worker(&sup.children[i]);
	event_send("stop", detail_stop(p));
	value_pool_free(p);
}
