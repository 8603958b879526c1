/* SPDX-License-Identifier: ISC */
/*
 * The operations of the control socket. Any process of the user may ask; only
 * processes outside of every sandbox may answer calls and give commands
 * (peer.h).
 */
#include "hub/control.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auto/signed.h"
#include "base/json_get.h"
#include "base/json_put.h"
#include "base/jsonfile.h"
#include "budget/budget.h"
#include "core/sup.h"
#include "hub/grants.h"
#include "relay/inbox.h"
#include "start/undo.h"

/* Return the end of "that call ", with the next step where there is one. */
static const char *
op_how_it_ended(enum proto_hold state)
{
	switch (state) {
	case PROTO_HOLD_APPROVED:
		return "was approved already";
	case PROTO_HOLD_DENIED:
		return "was denied already";
	case PROTO_HOLD_EXPIRED:
		return "expired: nobody answered in time. The agent may ask "
		       "again";
	case PROTO_HOLD_CANCELLED:
		return "was cancelled by the agent, or its session ended";
	case PROTO_HOLD_CHANGED:
		return "was refused: it had changed after it was shown";
	case PROTO_HOLD_RELOADED:
		return "was decided by the policy that was loaded since";
	case PROTO_HOLD_NONE:
		break;
	}
	return "has ended";
}

static void
op_no_hold(struct client *c, const char *sid)
{
	enum proto_hold state;
	char text[256];

	if (approvals_ended(sid, &state))
		snprintf(text, sizeof(text), "call %s %s. See: icctl pending",
		    sid, op_how_it_ended(state));
	else
		snprintf(text, sizeof(text),
		    "no pending call has this id; it may be mistyped. See: "
		    "icctl pending");
	control_fail(c, "not-found", text);
}

/*
 * Find the pending call that "id" names; if `part`, the beginning of the id is
 * enough. Returns NULL after it sent the refusal.
 */
static struct hold *
op_hold(struct client *c, struct json_object *req, bool part)
{
	struct json_object *v;
	struct hold *h = NULL;
	char text[256];

	if (!json_object_object_get_ex(req, "id", &v)) {
		control_fail(c, "bad-request",
		    "\"id\" is missing: the short id of a pending call");
		return NULL;
	}
	switch (approvals_find(json_object_get_string(v), part, &h)) {
	case APPROVALS_FOUND:
		return h;
	case APPROVALS_SEVERAL:
		control_fail(c, "ambiguous",
		    "several pending calls have ids that begin like that; "
		    "give more of the id. See: icctl pending");
		return NULL;
	case APPROVALS_PART:
		snprintf(text, sizeof(text),
		    "give the whole id, so that no other call is answered by "
		    "mistake. The pending call that begins like that is %s",
		    h->sid);
		control_fail(c, "whole-id", text);
		return NULL;
	case APPROVALS_NONE:
		break;
	}
	op_no_hold(c, json_object_get_string(v));
	return NULL;
}

static void
op_show(struct client *c, struct json_object *req)
{
	struct hold *h = op_hold(c, req, true);
	struct json_object *o;

	if (h == NULL)
		return;
	o = control_ok();
	json_object_object_add(o, "hold", hold_json(h, true));
	control_reply(c, o);
}

/* "times": so many calls of the tool. Returns -1 after a refusal. */
static int
op_times(struct client *c, struct json_object *req, const struct hold *h,
    unsigned *times)
{
	struct json_object *v, *offer, *max = NULL;
	const char *s;
	bool offered;

	if (!json_object_object_get_ex(req, "times", &v))
		return 0;
	offer = json_tokener_parse(h->session);
	offered = json_object_is_type(offer, json_type_object) &&
		  json_object_object_get_ex(offer, "times", &max);
	json_object_put(offer);
	if (!offered) {
		control_fail(c, "not-grantable",
		    "this tool cannot be allowed for several calls: that is "
		    "only for tools that write nothing, have no network and no "
		    "credential, and take plain values");
		return -1;
	}
	s = json_object_get_string(v);
	if (strlen(s) == 0 || strlen(s) > 2 ||
	    strspn(s, "0123456789") != strlen(s) ||
	    (*times = (unsigned)strtoul(s, NULL, 10)) == 0 ||
	    *times > PROTO_MAX_TIMES ||
	    !json_object_object_get_ex(req, "session", NULL)) {
		control_fail(c, "bad-request",
		    "\"times\" must be from 1 to 20, with the \"session\" "
		    "that `show` gives for this call");
		return -1;
	}
	return 0;
}

/* Returns a text of at most `max` bytes, or NULL after a refusal. */
static const char *
op_text(struct client *c, struct json_object *req, const char *key, size_t max)
{
	const char *text = get_str(req, key, "");
	char why[80];

	if (strlen(text) <= max)
		return text;
	snprintf(why, sizeof(why), "\"%s\" must be text of at most %zu bytes",
	    key, max);
	control_fail(c, "bad-request", why);
	return NULL;
}

/* Approve the call if enough people have signed that, and nothing else. */
static void
op_signed(struct client *c, struct json_object *req, const struct hold *h,
    const uint8_t digest[32])
{
	const char *entries = op_text(c, req, "signed", SIGNED_ENTRIES);

	if (entries == NULL)
		return;
	if (json_object_object_get_ex(req, "session", NULL) ||
	    (~h->id & (PROTO_ASK_ID | PROTO_QUESTION_ID)) == 0) {
		control_fail(c, "needs-signatures",
		    "with \"approvers\" in config.json only single calls are "
		    "approved, and a server's question can only be declined");
	} else if (entries[0] == '\0') {
		control_fail(c, "needs-signatures",
		    "this session takes signed approvals only: icctl sign ID "
		    "--as NAME --key FILE >SIGNED, then icctl approve ID "
		    "--signed SIGNED");
	} else if (memcmp(h->digest, digest, sizeof(h->digest)) != 0) {
		control_fail(c, "changed",
		    "this is not the call that was shown: its digest differs. "
		    "Look again: icctl show ID");
	} else {
		signed_begin(c, h, entries, get_str(req, "by", ""));
	}
}

static void
op_answer(struct client *c, struct json_object *req)
{
	const bool approve = strcmp(get_str(req, "op", ""), "approve") == 0;
	struct hold *h = op_hold(c, req, false);
	struct json_object *o;
	const char *because, *answer, *by;
	uint8_t digest[32], session[32];
	unsigned times = 0;
	bool grant = json_object_object_get_ex(req, "session", NULL);

	if (h == NULL)
		return;
	if (grant && (!approve || h->session[0] == '\0')) {
		control_fail(c, "not-grantable",
		    "this call cannot be allowed for the session: it names no "
		    "path and no URL, so there are no \"calls like it\" to "
		    "show. Approve it alone: icctl approve ID");
		return;
	}
	if (control_digest(req, "digest", digest) == -1 ||
	    (grant && control_digest(req, "session", session) == -1)) {
		control_fail(c, "bad-request",
		    "\"digest\" must be the 64 hex digits that `show` gives "
		    "for this call");
		return;
	}
	if (op_times(c, req, h, &times) == -1 ||
	    (because = op_text(c, req, "because", 512)) == NULL ||
	    (answer = op_text(c, req, "answer", PROTO_MAX_ANSWER)) == NULL ||
	    (by = op_text(c, req, "by", 128)) == NULL)
		return;
	/* The first of several verdicts counts; the others are refused. */
	if (h->answered) {
		control_fail(c, "late", "too late: another answer came first");
		return;
	}
	if (approve && sup.config.approvers.needed != 0) {
		op_signed(c, req, h, digest);
		return;
	}
	o = control_ok();
	json_object_object_add(o, "hold", hold_json(h, false));
	if (approvals_answer(h, digest, grant ? session : NULL, times, approve,
		because, answer, by) == -1) {
		json_object_put(o);
		control_fail(c, "changed",
		    "this is not the call that was shown: its digest differs. "
		    "Look again: icctl show ID");
		return;
	}
	sup_note("%s %s%s by pid %d%s%s", approve ? "approve" : "deny", h->sid,
	    grant ? " for the session" : "", (int)c->peer.pid,
	    by[0] != '\0' ? ", for " : "", by);
	c->session = grant;
	/* The reply waits until policyd has decided. */
	c->verdict = h->id;
	c->approve = approve;
	c->reply = o;
}

static void
op_unlock(struct client *c, struct json_object *req)
{
	static const struct msg_UNLOCK unlock;
	unsigned n = 0;

	for (unsigned i = 0; i < sup.providers.n; i++) {
		if (sup.keys[i].state != PROTO_KEY_LOCKED &&
		    !sup.keys[i].locked)
			continue;
		sup.keys[i].locked = false;
		child_send(ROLE_KEY, i, MSG_UNLOCK, &unlock, -1);
		n++;
	}
	if (n == 0)
		control_fail(c, "not-found", "no provider is locked");
	else
		control_reply(c, control_ok());
}

static void
op_budget_set(struct client *c, struct json_object *req)
{
	struct json_object *key, *value, *o;
	const char *s;
	char *end, text[160];
	double max = 0;
	int k;

	if (!json_object_object_get_ex(req, "key", &key) ||
	    !json_object_object_get_ex(req, "value", &value)) {
		control_fail(c, "bad-request",
		    "\"key\" or \"value\" is missing: a limit and its number");
		return;
	}
	if ((k = budget_find(json_object_get_string(key))) == -1) {
		control_fail(c, "bad-request",
		    "there is no such limit. Known: maxTotalTokens, maxSteps, "
		    "maxSessionSeconds, maxEstimatedCostUsd, maxTurnTokens, "
		    "maxTurnSteps, maxTurnSeconds and "
		    "maxTurnEstimatedCostUsd");
		return;
	}
	s = json_object_get_string(value);
	if (strcmp(s, "null") != 0) {
		max = strtod(s, &end);
		if (*s < '0' || *s > '9' || *end != '\0' ||
		    !budget_value_ok((enum budget_key)k, max)) {
			control_fail(c, "bad-request",
			    budget_wants(
				(enum budget_key)k, text, sizeof(text)));
			return;
		}
	}
	budget_change((enum budget_key)k, strcmp(s, "null") != 0, max);
	sup_note("budget: %s is %s now, by pid %d",
	    budget_name((enum budget_key)k), s, (int)c->peer.pid);
	control_usage();
	o = control_ok();
	json_object_object_add(o, "budget", budget_json());
	control_reply(c, o);
}

static void
op_metrics(struct client *c)
{
	struct json_object *o = control_ok();
	struct span s;
	struct buf b;

	buf_init(&b, 256U << 10);
	budget_metrics(&b);
	s = buf_span(&b);
	json_object_object_add(o, "metrics",
	    json_object_new_string_len((const char *)s.p, (int)s.len));
	buf_free(&b);
	control_reply(c, o);
}

static void
op_keys_reload(struct client *c, struct json_object *req)
{
	struct json_object *id, *path = NULL;

	if (!json_object_object_get_ex(req, "id", &id)) {
		control_fail(c, "bad-request", "\"id\" is missing: a provider");
		return;
	}
	(void)json_object_object_get_ex(req, "path", &path);
	control_keys_reload(c, json_object_get_string(id),
	    path == NULL ? NULL : json_object_get_string(path));
}

static void
op_watch(struct client *c)
{
	struct json_object *o = control_ok();

	put_str(o, "session", sup.session.id);
	json_object_object_add(o, "holds", control_holds_json());
	json_object_object_add(o, "budget", budget_json());
	json_object_object_add(o, "alarms", control_alarms_json());
	c->watch = true;
	control_reply(c, o);
}

/*
 * An image that icctl has checked: with a digest, it is recorded before the
 * sandbox can see it; without, viewers are told that it is there.
 */
static void
op_paste(struct client *c, struct json_object *req)
{
	const char *name = get_str(req, "id", "");
	const char *sha256 = get_str(req, "digest", "");
	struct json_object *shown;
	struct value_pool *p;
	struct value *o;
	uint8_t digest[32];
	uint64_t bytes = 0;

	if (strlen(name) > INBOX_NAME_MAX ||
	    name[strspn(name, INBOX_NAME)] != '\0' ||
	    (sha256[0] != '\0' &&
		(control_digest(req, "digest", digest) == -1 ||
		    span_u64(get_span(req, "value"), UINT32_MAX, &bytes) ==
			-1))) {
		control_fail(c, "bad-request",
		    "an image has \"id\", \"digest\" and \"value\"");
	} else if (sha256[0] == '\0') {
		shown = json_object_new_object();
		put_str(shown, "name", name);
		control_event("pasted", shown);
		control_reply(c, control_ok());
	} else {
		if ((o = event_open(&p)) != NULL) {
			event_put_number(p, o, "bytes", (int64_t)bytes);
			event_put_text(p, o, "name", name);
			event_put_text(p, o, "sha256", sha256);
		}
		undo_record(c, "paste", p, o);
	}
}

static void
op_stop(struct client *c, struct json_object *req)
{
	control_reply(c, control_ok());
	end_stop(SIGTERM, "icctl (pid %d)", (int)c->peer.pid);
}

/*
 * Commands change something: only processes that may answer give them. One that
 * gives the agent more than its policy does is refused if approvals must be
 * signed.
 */
static const struct command {
	const char *name;
	void (*fn)(struct client *, struct json_object *);
	bool widens;
} op_commands[] = {
    {"approve", op_answer},
    {"attach", control_op_attach},
    {"budget-set", op_budget_set, true},
    {"checkpoint", control_op_checkpoint},
    {"deny", op_answer},
    {"interrupt", control_op_interrupt},
    {"keys-reload", op_keys_reload, true},
    {"paste", op_paste},
    {"reload", control_op_reload, true},
    {"revoke", control_op_revoke},
    {"say", control_op_say},
    {"send", control_op_send},
    {"stop", op_stop},
    {"trust", control_op_trust, true},
    {"undo", control_op_undo},
    {"undone", control_op_undone},
    {"unlock", op_unlock, true},
};

static const struct command *
op_command(const char *op)
{
	for (size_t i = 0; i < nitems(op_commands); i++)
		if (strcmp(op, op_commands[i].name) == 0)
			return &op_commands[i];
	return NULL;
}

static void
op_ask(struct client *c, const char *op, struct json_object *req)
{
	static const struct msg_COUNTS_GET get;
	struct json_object *o;

	if (strcmp(op, "ping") == 0) {
		control_reply(c, control_ok());
	} else if (strcmp(op, "keys") == 0) {
		control_keys(c);
	} else if (strcmp(op, "pending") == 0) {
		o = control_ok();
		json_object_object_add(o, "holds", control_holds_json());
		control_reply(c, o);
	} else if (strcmp(op, "show") == 0) {
		op_show(c, req);
	} else if (strcmp(op, "watch") == 0) {
		op_watch(c);
	} else if (strcmp(op, "budget") == 0) {
		o = control_ok();
		json_object_object_add(o, "budget", budget_json());
		control_reply(c, o);
	} else if (strcmp(op, "metrics") == 0) {
		op_metrics(c);
	} else if (strcmp(op, "events") == 0) {
		control_op_events(c);
	} else if (strcmp(op, "tools") == 0) {
		control_op_tools(c, req);
	} else if (strcmp(op, "status") == 0) {
		c->counting = true;
		c->reply = control_status_json();
		child_send(ROLE_AUDIT, 0, MSG_COUNTS_GET, &get, -1);
	} else {
		control_fail(c, "bad-request",
		    "unknown \"op\": known are "
		    "ping, status, pending, show, approve, attach, deny, "
		    "watch, budget, budget-set, checkpoint, events, interrupt, "
		    "keys, keys-reload, metrics, paste, reload, revoke, send, "
		    "tools, trust, undo, undone, unlock, stop");
	}
}

/*
 * Parse a request: its members are known ones, and strings. Returns NULL after
 * it sent the refusal.
 */
static struct json_object *
request_read(struct client *c, struct span line, const char **op)
{
	static const char *const keys[] = {"op", "id", "digest", "because",
	    "by", "key", "value", "path", "message", "session", "server",
	    "tool", "policy", "annotations", "lists", "times", "answer",
	    "signed", "typed", NULL};
	struct fault fault = {""};
	const struct jsonfile j = {"request", &fault};
	struct json_object *req;
	const char *text;
	char why[256];

	*op = NULL;
	if ((req = jsonfile_parse(j.file, line, &fault)) == NULL ||
	    jsonfile_known(&j, req, "", keys) == -1)
		goto bad;
	json_object_object_foreach(req, key, val)
	{
		if (jsonfile_text_of(&j, val, "", key, &text) == -1)
			goto bad;
		if (strcmp(key, "op") == 0)
			*op = text;
	}
	if (*op != NULL)
		return req;
	fault_set(&fault, "request: \"op\" is missing");
bad:
	json_object_put(req);
	snprintf(why, sizeof(why),
	    "a request is one JSON object on one line: "
	    "%.180s",
	    fault.text);
	control_fail(c, "bad-request", why);
	return NULL;
}

void
control_op(struct client *c, struct span line)
{
	const struct command *command;
	struct json_object *req;
	const char *op;
	char why[256];

	if ((req = request_read(c, line, &op)) == NULL)
		return;
	/* The workers are not ready yet. */
	if (!sup.ready && strcmp(op, "ping") != 0 && strcmp(op, "stop") != 0) {
		control_fail(c, "starting",
		    "the session is still starting. Ask again in a moment");
		goto out;
	}
	command = op_command(op);
	if (command != NULL && !c->peer.may) {
		snprintf(why, sizeof(why), "not permitted: %s", c->peer.why);
		sup_warn("%s refused to pid %d: %s", op, (int)c->peer.pid,
		    c->peer.why);
		control_fail(c, "not-permitted", why);
	} else if (command != NULL && command->widens &&
		   sup.config.approvers.needed != 0) {
		control_fail(c, "needs-signatures",
		    "not while \"approvers\" in config.json demands signed "
		    "answers: this would give the agent more without one. End "
		    "the session, and start it with other files");
	} else if (command != NULL) {
		command->fn(c, req);
	} else {
		op_ask(c, op, req);
	}
out:
	json_object_put(req);
}
