/* SPDX-License-Identifier: ISC */
#include "hub/hold.h"

#include <stdio.h>
#include <string.h>

#include "base/here.h"
#include "base/json_put.h"
#include "common/sha256.h"
#include "conversation/talk_events.h"
#include "core/sup.h"
#include "hub/control.h"

const char *
hold_state(enum proto_hold state)
{
	switch (state) {
	case PROTO_HOLD_APPROVED:
		return "approved";
	case PROTO_HOLD_DENIED:
		return "denied";
	case PROTO_HOLD_EXPIRED:
		return "expired";
	case PROTO_HOLD_CANCELLED:
		return "cancelled";
	case PROTO_HOLD_CHANGED:
		return "changed";
	case PROTO_HOLD_RELOADED:
		return "reloaded";
	case PROTO_HOLD_NONE:
		break;
	}
	return "ended";
}

const char *
hold_label(const struct hold *h, char *dst, size_t cap)
{
	if ((h->id & PROTO_ID_KINDS) != 0)
		snprintf(dst, cap, "%s (%s)", h->tool, h->server);
	else
		snprintf(dst, cap, "%s__%s", h->server, h->tool);
	return dst;
}

int
hold_to_sign(const struct hold *h, struct buf *b)
{
	char nonce[2 * SIGNED_NONCE + 1], digest[SHA256_HEX];
	const struct signed_answer a = {.host = here()->host,
	    .boot = here()->boot,
	    .session = sup.session.id,
	    .nonce = nonce,
	    .id = h->sid,
	    .digest = sha256_hex(h->digest, digest),
	    .verdict = "approve"};

	for (size_t i = 0; i < SIGNED_NONCE; i++)
		snprintf(nonce + 2 * i, 3, "%02x", h->nonce[i]);
	return signed_compose(b, &a);
}

/* Add the text that approvers sign; "" if nobody can sign it. */
static void
hold_sign(const struct hold *h, struct json_object *o)
{
	struct buf b;

	buf_init(&b, 4096);
	if (hold_to_sign(h, &b) == -1)
		buf_reset(&b, 4096);
	buf_addc(&b, '\0');
	put_str(o, "toSign", (const char *)buf_span(&b).p);
	buf_free(&b);
}

struct json_object *
hold_json(const struct hold *h, bool whole)
{
	struct json_object *o = json_object_new_object();
	uint64_t now = loop_now(&sup.loop);

	put_str(o, "id", h->sid);
	json_object_object_add(o, "call", json_object_new_uint64(h->id));
	if ((h->id & PROTO_ASK_ID) != 0 && (h->id & PROTO_HOST_ID) != 0)
		put_bool(o, "host", 1);
	else if ((h->id & PROTO_ASK_ID) != 0 && (h->id & PROTO_QUESTION_ID) != 0)
		put_bool(o, "question", 1);
	else if ((h->id & PROTO_ASK_ID) != 0)
		put_bool(o, "request", 1);
	else if ((h->id & PROTO_LOGIN_ID) != 0)
		put_bool(o, "login", 1);
	else if ((h->id & PROTO_BUDGET_ID) != 0)
		put_bool(o, "limit", 1);
	put_str(o, "server", h->server);
	put_str(o, "tool", h->tool);
	put_str(o, "effect", h->effect);
	put_str(o, "reason", h->reason);
	put_str(o, "rule", h->rule);
	if (h->opinion[0] != '\0')
		put_str(o, "approver", h->opinion);
	put_digest(o, "digest", h->digest);
	if (h->session[0] != '\0') {
		json_object_object_add(
		    o, "forSession", json_tokener_parse(h->session));
		put_digest(o, "sessionDigest", h->session_digest);
	}
	/* All or nothing: a part could be mistaken for the whole. */
	if (whole || h->preview_len + h->details_len <= CONTROL_MAX_SHOWN) {
		json_object_object_add(o, "arguments",
		    json_object_new_string_len(
			h->preview, (int)h->preview_len));
		json_object_object_foreach(h->details, key, v)
		    json_object_object_add(o, key, json_object_get(v));
	} else {
		put_bool(o, "cut", 1);
	}
	if (sup.config.approvers.needed != 0)
		hold_sign(h, o);
	put_int(o, "age_ms", (int64_t)(now - h->since));
	if (h->expires != UINT64_MAX)
		put_int(o, "expires_ms", (int64_t)h->expires - (int64_t)now);
	return o;
}

void
hold_opinion(struct hold *h, const char *text)
{
	(void)strlcpy(h->opinion, text, sizeof(h->opinion));
	sup_note("%s: the approver: %s", h->sid, h->opinion);
}

void
hold_tell(const struct hold *h)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "hold", hold_json(h, false));
	control_event("hold", o);
	talk_event_hold(h->sid, h->server, h->tool, NULL);
}

static void
client_late(struct client *c)
{
	control_refuse(c, "late",
	    "too late: the call was already answered, "
	    "expired or cancelled");
}

/*
 * The call may have been approved, but what is not recorded does not happen. A
 * call that was denied stays so, without a record.
 */
static void
client_unlogged(struct client *c)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
	    "the call was %s: the audit log cannot be written (%s). Make room "
	    "and start a new session",
	    c->approve ? "refused" : "denied, and the denial is not recorded",
	    sup.audit_failed);
	control_refuse(c, "audit", text);
}

void
hold_tell_end(const struct hold *h, enum proto_hold state, bool granted)
{
	struct json_object *o = json_object_new_object();
	struct client *c;

	put_str(o, "id", h->sid);
	put_str(o, "state", hold_state(state));
	control_event("holdEnd", o);
	talk_event_hold(h->sid, h->server, h->tool, hold_state(state));
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		c = &control_clients[i];
		if (c->fd == -1 || c->verdict != h->id || c->reply == NULL)
			continue;
		put_str(c->reply, "state", hold_state(state));
		if (c->session)
			put_bool(c->reply, "granted", granted);
		if (sup.audit_failed[0] != '\0')
			client_unlogged(c);
		else if (c->approve && state == PROTO_HOLD_CHANGED)
			control_refuse(c, "changed",
			    "what the call refers to "
			    "changed since it was shown; it was refused");
		else if (state !=
			 (c->approve ? PROTO_HOLD_APPROVED : PROTO_HOLD_DENIED))
			client_late(c);
		control_answer(c);
	}
}

void
hold_tell_late(uint64_t call)
{
	struct client *c;

	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		c = &control_clients[i];
		if (c->fd == -1 || c->verdict != call || c->reply == NULL)
			continue;
		client_late(c);
		control_answer(c);
	}
}
