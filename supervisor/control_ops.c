/* SPDX-License-Identifier: ISC */
/*
 * What icctl can ask for.  Asking is open to the user's own processes;
 * answering and commanding to those alone that no sandbox holds (peer.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/value.h"
#include "control.h"
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
control_fail(struct client *c, const char *code, const char *error)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "ok", json_object_new_boolean(0));
	put(o, "code", code);
	put(o, "error", error);
	control_reply(c, o);
}

struct json_object *
control_hold_json(const struct hold *h, bool whole)
{
	struct json_object *o = json_object_new_object();
	uint64_t now = loop_now(&sup.loop);
	char hex[65];
	size_t n = h->preview_len;

	for (size_t i = 0; i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", h->digest[i]);
	if (!whole && n > CONTROL_MAX_SHOWN) {
		n = CONTROL_MAX_SHOWN;
		/* Not within a character. */
		while (n != 0 && ((uint8_t)h->preview[n] & 0xc0) == 0x80)
			n--;
		json_object_object_add(o, "cut", json_object_new_boolean(1));
	}
	put(o, "id", h->sid);
	put_int(o, "call", (int64_t)h->id);
	put(o, "server", h->server);
	put(o, "tool", h->tool);
	put(o, "reason", h->reason);
	put(o, "rule", h->rule);
	put(o, "digest", hex);
	json_object_object_add(o, "arguments",
	    json_object_new_string_len(h->preview, (int)n));
	put_int(o, "age_ms", (int64_t)(now - h->since));
	put_int(o, "expires_ms", (int64_t)h->expires - (int64_t)now);
	return o;
}

struct json_object *
control_holds_json(void)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; i < approvals_count(); i++)
		json_object_array_add(list,
		    control_hold_json(approvals_at(i), false));
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
control_server_json(unsigned server)
{
	const struct server *s = &sup.servers[server];
	struct json_object *o = json_object_new_object();

	put(o, "name", s->def->name);
	put(o, "state", control_server_state(s->state));
	put_int(o, "tools", s->tools);
	put(o, "text", s->text);
	return o;
}

static struct json_object *
status_workers(void)
{
	struct json_object *list = json_object_new_array(), *o;
	char text[256];

	for (unsigned i = 0; i < sup.nchildren; i++) {
		const struct child *c = &sup.children[i];

		o = json_object_new_object();
		put(o, "name", c->name);
		put_int(o, "pid", c->sp.pid);
		put(o, "confinement", confine_describe(&c->confine, text,
		    sizeof(text)));
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *
status_keys(void)
{
	static const char *const states[] = {"loaded", "empty", "bad",
	    "locked"};
	struct json_object *list = json_object_new_array(), *o;

	for (unsigned i = 0; i < sup.providers.n; i++) {
		o = json_object_new_object();
		put(o, "provider", sup.providers.list[i].name);
		put(o, "credential", states[sup.keys[i].state]);
		if (sup.keys[i].length != 0 && sup.keys[i].length < 16)
			put(o, "note", "too short to be searched for in "
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
	put(o, "agent", sup.opt.runtime == RUNTIME_NONE ? "none" :
	    sup.adapter.name);
	put(o, "runtime", sup.opt.runtime == RUNTIME_NONE ? "none" : "bwrap");
	put(o, "workspace", sup.workspace_path);
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
	list = json_object_new_array();
	for (unsigned i = 0; i < sup.nservers; i++)
		json_object_array_add(list, control_server_json(i));
	json_object_object_add(o, "servers", list);
	json_object_object_add(o, "workers", status_workers());
	json_object_object_add(o, "credentials", status_keys());
	json_object_object_add(o, "alarms", status_alarms());
	return o;
}

/* The hold that "id" names; else the refusal is sent. */
static struct hold *
op_hold(struct client *c, struct json_object *req)
{
	struct json_object *v;
	struct hold *h = NULL;

	if (!json_object_object_get_ex(req, "id", &v) ||
	    !json_object_is_type(v, json_type_string)) {
		control_fail(c, "bad-request", "\"id\" is missing: the short "
		    "id of a held call");
		return NULL;
	}
	switch (approvals_find(json_object_get_string(v), &h)) {
	case APPROVALS_FOUND:
		return h;
	case APPROVALS_SEVERAL:
		control_fail(c, "ambiguous", "several held calls begin like "
		    "that; give more of the id. See: icctl pending");
		return NULL;
	case APPROVALS_NONE:
		break;
	}
	control_fail(c, "not-found", "no such call waits: it was answered, "
	    "expired or cancelled, or the id is mistyped. See: icctl pending");
	return NULL;
}

static void
op_show(struct client *c, struct json_object *req)
{
	struct hold *h = op_hold(c, req);
	struct json_object *o;

	if (h == NULL)
		return;
	o = control_ok();
	json_object_object_add(o, "hold", control_hold_json(h, true));
	control_reply(c, o);
}

static int
op_digest(struct json_object *req, uint8_t digest[32])
{
	struct json_object *v;
	const char *s;
	unsigned b;

	if (!json_object_object_get_ex(req, "digest", &v) ||
	    !json_object_is_type(v, json_type_string))
		return -1;
	s = json_object_get_string(v);
	if (strlen(s) != 64 || strspn(s, "0123456789abcdef") != 64)
		return -1;
	for (size_t i = 0; i < 32; i++) {
		if (sscanf(s + 2 * i, "%2x", &b) != 1)
			return -1;
		digest[i] = (uint8_t)b;
	}
	return 0;
}

static void
op_answer(struct client *c, struct json_object *req, bool approve)
{
	struct hold *h = op_hold(c, req);
	struct json_object *v, *o;
	const char *because = "";
	uint8_t digest[32];

	if (h == NULL)
		return;
	if (op_digest(req, digest) == -1) {
		control_fail(c, "bad-request", "\"digest\" is missing: the 64 "
		    "hex digits that `show` gives for this call");
		return;
	}
	if (json_object_object_get_ex(req, "because", &v)) {
		if (!json_object_is_type(v, json_type_string) ||
		    json_object_get_string_len(v) > 512) {
			control_fail(c, "bad-request", "\"because\" must be "
			    "text of at most 512 bytes");
			return;
		}
		because = json_object_get_string(v);
	}
	o = control_ok();
	json_object_object_add(o, "hold", control_hold_json(h, false));
	if (approvals_answer(h, digest, approve, because) == -1) {
		json_object_put(o);
		control_fail(c, "changed", "this is not the call that was "
		    "shown: its digest differs. Look again: icctl show ID");
		return;
	}
	sup_note("%s %s by pid %d", approve ? "approve" : "deny", h->sid,
	    (int)c->peer.pid);
	/* The reply waits for what policyd makes of it. */
	c->verdict = h->id;
	c->approve = approve;
	c->reply = o;
}

static void
op_unlock(struct client *c)
{
	static const struct msg_UNLOCK unlock;
	unsigned n = 0;

	for (unsigned i = 0; i < sup.providers.n; i++) {
		if (sup.keys[i].state != PROTO_KEY_LOCKED)
			continue;
		child_send(ROLE_KEY, i, MSG_UNLOCK, &unlock, -1);
		n++;
	}
	if (n == 0)
		control_fail(c, "not-found", "no provider is locked");
	else
		control_reply(c, control_ok());
}

static void
op_watch(struct client *c)
{
	struct json_object *o = control_ok();

	json_object_object_add(o, "session",
	    json_object_new_string(sup.session.id));
	json_object_object_add(o, "holds", control_holds_json());
	c->watch = true;
	control_reply(c, o);
}

/* Commands, for those who may; false: it is none. */
static bool
op_command(struct client *c, const char *op, struct json_object *req)
{
	if (strcmp(op, "approve") == 0) {
		op_answer(c, req, true);
	} else if (strcmp(op, "deny") == 0) {
		op_answer(c, req, false);
	} else if (strcmp(op, "unlock") == 0) {
		op_unlock(c);
	} else if (strcmp(op, "stop") == 0) {
		control_reply(c, control_ok());
		end_request(SUP_EXIT_OK, NULL, "asked to stop by icctl (pid "
		    "%d)", (int)c->peer.pid);
	} else {
		return false;
	}
	return true;
}

static void
op_ask(struct client *c, const char *op, struct json_object *req)
{
	static const struct msg_COUNTS_GET get;
	struct json_object *o;

	if (strcmp(op, "ping") == 0) {
		control_reply(c, control_ok());
	} else if (strcmp(op, "pending") == 0) {
		o = control_ok();
		json_object_object_add(o, "holds", control_holds_json());
		control_reply(c, o);
	} else if (strcmp(op, "show") == 0) {
		op_show(c, req);
	} else if (strcmp(op, "watch") == 0) {
		op_watch(c);
	} else if (strcmp(op, "status") == 0) {
		c->counting = true;
		c->reply = control_status_json();
		child_send(ROLE_AUDIT, 0, MSG_COUNTS_GET, &get, -1);
	} else {
		control_fail(c, "bad-request", "unknown \"op\": known are "
		    "ping, status, pending, show, approve, deny, watch, "
		    "unlock, stop");
	}
}

void
control_request(struct client *c, struct span line)
{
	static const char *const commands[] = {"approve", "deny", "unlock",
	    "stop"};
	struct json_tokener *tok = json_tokener_new_ex(8);
	struct json_object *req = NULL, *v;
	const char *op;
	char why[256];

	if (tok != NULL && line.len != 0) {
		json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
		req = json_tokener_parse_ex(tok, (const char *)line.p,
		    (int)line.len);
	}
	if (tok != NULL)
		json_tokener_free(tok);
	if (req == NULL || !json_object_is_type(req, json_type_object) ||
	    !json_object_object_get_ex(req, "op", &v) ||
	    !json_object_is_type(v, json_type_string)) {
		control_fail(c, "bad-request", "a request is one JSON object "
		    "on one line, with \"op\"");
		goto out;
	}
	op = json_object_get_string(v);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(op, commands[i]) != 0 || c->peer.may)
			continue;
		snprintf(why, sizeof(why), "not permitted: %s", c->peer.why);
		sup_warn("%s refused to pid %d: %s", op, (int)c->peer.pid,
		    c->peer.why);
		control_fail(c, "not-permitted", why);
		goto out;
	}
	if (!op_command(c, op, req))
		op_ask(c, op, req);
out:
	json_object_put(req);
}
