/* SPDX-License-Identifier: ISC */
/*
 * The list of pending calls as people see it. Holds what auditd has recorded;
 * text from the agent is shown only by icctl, which makes it printable.
 */
#include "hub/approvals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/value.h"
#include "common/log.h"
#include "common/sha256.h"
#include "core/sup.h"
#include "hub/control.h"
#include "hub/notify.h"

/*
 * Calls, requests, hosts, logins and limits, each limited by the process that
 * counts them.
 */
#define APPROVALS_MAX                                                          \
	(PROTO_MAX_HOLDS + PROTO_MAX_ASKS + PROTO_MAX_HOST_ASKS +              \
	    PROTO_MAX_PROVIDERS + PROTO_MAX_LIMITS + PROTO_MAX_QUESTIONS)
#define APPROVALS_GONE 256U

static struct hold approvals_list[APPROVALS_MAX];
static unsigned approvals_n; /* oldest first, without gaps */
static void (*approvals_waiting)(bool);
/* The last calls that ended, for those who answer too late. */
static struct ended {
	char sid[APPROVALS_SID + 1];
	enum proto_hold state;
} approvals_gone[APPROVALS_GONE];
static unsigned approvals_ngone; /* also counts those replaced since */

static void
hold_clear(struct hold *h)
{
	free(h->rule);
	free(h->reason);
	free(h->session);
	free(h->effect);
	json_object_put(h->details);
	if (h->preview != NULL)
		freezero(h->preview, h->preview_len);
	memset(h, 0, sizeof(*h));
}

void
approvals_init(void (*waiting)(bool))
{
	approvals_n = approvals_ngone = 0;
	approvals_waiting = waiting;
}

/* Report whether anything waits for the person; a limit's raise does not. */
static void
approvals_tell(void)
{
	bool waiting = false;

	for (unsigned i = 0; i < approvals_n; i++)
		waiting |= (approvals_list[i].id & PROTO_BUDGET_ID) == 0;
	approvals_waiting(waiting);
}

void
approvals_free(void)
{
	for (unsigned i = 0; i < approvals_n; i++)
		hold_clear(&approvals_list[i]);
	approvals_n = 0;
}

unsigned
approvals_count(void)
{
	return approvals_n;
}

struct hold *
approvals_at(unsigned i)
{
	return i < approvals_n ? &approvals_list[i] : NULL;
}

void
approvals_sid(char dst[APPROVALS_SID + 1])
{
	/* Without l, o, 0 and 1, which people confuse. */
	static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";
	bool taken;

	do {
		for (size_t i = 0; i < APPROVALS_SID; i++)
			dst[i] =
			    letters[arc4random_uniform(sizeof(letters) - 1)];
		dst[APPROVALS_SID] = '\0';
		/* `a` and `s`, typed twice, would be an approval: no bounce. */
		taken = dst[0] == 'a' || dst[0] == 's';
		for (unsigned i = 0; i < approvals_n; i++)
			if (strcmp(approvals_list[i].sid, dst) == 0)
				taken = true;
		for (unsigned i = 0; i < APPROVALS_GONE; i++)
			if (strcmp(approvals_gone[i].sid, dst) == 0)
				taken = true;
	} while (taken);
}

struct hold *
approvals_by_call(uint64_t id)
{
	for (unsigned i = 0; i < approvals_n; i++)
		if (approvals_list[i].id == id)
			return &approvals_list[i];
	return NULL;
}

const char *
approvals_sid_of(uint64_t id)
{
	const struct hold *h = approvals_by_call(id);

	return h != NULL ? h->sid : NULL;
}

/* Returns a worker's text as valid UTF-8. The caller frees it. */
static char *
hold_text(struct span s)
{
	char vis[4096];

	if (utf8_valid(s) && memchr(s.p, '\0', s.len) == NULL)
		return span_dup(s);
	return strdup(log_vis(s, vis, sizeof(vis)));
}

/* Returns true if as many entries of this kind are pending as are allowed. */
static bool
hold_full(uint64_t id)
{
	unsigned n = 0;

	for (unsigned i = 0; i < approvals_n; i++)
		if (((approvals_list[i].id ^ id) &
			(PROTO_ID_KINDS | PROTO_HOST_ID | PROTO_QUESTION_ID)) ==
		    0)
			n++;
	return n == ((id & PROTO_HOST_ID) != 0          ? PROTO_MAX_HOST_ASKS
			: (id & PROTO_QUESTION_ID) != 0 ? PROTO_MAX_QUESTIONS
			: (id & PROTO_ASK_ID) != 0      ? PROTO_MAX_ASKS
			: (id & PROTO_LOGIN_ID) != 0    ? PROTO_MAX_PROVIDERS
			: (id & PROTO_BUDGET_ID) != 0   ? PROTO_MAX_LIMITS
							: PROTO_MAX_HOLDS);
}

/*
 * Parse policyd's description of the arguments. Returns NULL if it is
 * malformed, so that the call cannot be approved.
 */
static struct json_object *
hold_details(struct span s)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *o = NULL;

	if (tok != NULL && s.len <= INT32_MAX)
		o = json_tokener_parse_ex(tok, (const char *)s.p, (int)s.len);
	if (tok != NULL &&
	    json_tokener_get_error(tok) != json_tokener_success) {
		json_object_put(o);
		o = NULL;
	}
	json_tokener_free(tok);
	if (json_object_is_type(o, json_type_object) &&
	    json_object_is_type(
		json_object_object_get(o, "asks"), json_type_array) &&
	    json_object_is_type(
		json_object_object_get(o, "resources"), json_type_array))
		return o;
	json_object_put(o);
	return NULL;
}

/* Fill in everything from the message except the short id and the times. */
static int
hold_read(struct hold *h, const struct msg_HOLD_SHOW *m)
{
	struct span details;

	memset(h, 0, sizeof(*h));
	if (m->digest.len != sizeof(h->digest) || m->args > m->preview.len)
		return -1;
	h->id = m->id;
	memcpy(h->digest, m->digest.p, sizeof(h->digest));
	log_vis(m->server_name, h->server, sizeof(h->server));
	log_vis(m->tool, h->tool, sizeof(h->tool));
	h->rule = hold_text(m->rule);
	h->reason = hold_text(m->reason);
	h->effect = hold_text(m->effect);
	h->session = m->session.len == 0 ? strdup("") : hold_text(m->session);
	sha256_span(m->session, h->session_digest);
	details = span_of(m->preview.p + m->args, m->preview.len - m->args);
	h->details = hold_details(details);
	h->details_len = details.len;
	h->automatic = m->automatic != 0;
	h->preview = malloc((size_t)m->args + 1);
	if (h->rule == NULL || h->reason == NULL || h->effect == NULL ||
	    h->session == NULL || h->preview == NULL || h->details == NULL) {
		hold_clear(h);
		return -1;
	}
	memcpy(h->preview, m->preview.p, m->args);
	h->preview[m->args] = '\0';
	h->preview_len = m->args;
	return 0;
}

/* Tell the agent the id by which its call is answered. */
static void
hold_named(const struct hold *h)
{
	const struct msg_CALL_HELD_AS m = {
	    .id = h->id, .name = span_str(h->sid)};

	if ((h->id & PROTO_ID_KINDS) == 0)
		child_send(ROLE_PROXY, 0, MSG_CALL_HELD_AS, &m, -1);
}

int
approvals_add(const struct msg_HOLD_SHOW *m)
{
	struct hold h, *was = approvals_by_call(m->id);
	char label[512];

	if (m->digest.len != 32 ||
	    (was == NULL ? hold_full(m->id)
			 : memcmp(was->digest, m->digest.p, 32) != 0) ||
	    hold_read(&h, m) == -1)
		return -1;
	h.since = loop_now(&sup.loop);
	h.expires = m->ms != 0 ? h.since + m->ms : UINT64_MAX;
	if (was != NULL) {
		memcpy(h.sid, was->sid, sizeof(h.sid));
		h.since = was->since;
		h.answered = was->answered;
		memcpy(h.nonce, was->nonce, sizeof(h.nonce));
		hold_clear(was);
		*was = h;
		sup_note("pending call %s, now for another reason: "
			 "%s",
		    h.sid, h.reason);
		hold_tell(was);
		return 0;
	}
	approvals_sid(h.sid);
	arc4random_buf(h.nonce, sizeof(h.nonce));
	approvals_list[approvals_n++] = h;
	approvals_tell();
	sup_note("pending call %s: %s (%s)", h.sid,
	    hold_label(&h, label, sizeof(label)), h.reason);
	hold_named(&approvals_list[approvals_n - 1]);
	hold_tell(&approvals_list[approvals_n - 1]);
	notify_hold(&approvals_list[approvals_n - 1]);
	return 0;
}

int
approvals_end(uint64_t id, enum proto_hold state, bool granted)
{
	struct hold *h = approvals_by_call(id), gone;
	char label[512];
	size_t i;

	if (h == NULL)
		return -1;
	gone = *h;
	i = (size_t)(h - approvals_list);
	memmove(h, h + 1, (approvals_n - i - 1) * sizeof(*h));
	approvals_n--;
	memset(&approvals_list[approvals_n], 0, sizeof(*h));
	approvals_tell();
	sup_note("%s: %s %s", gone.sid, hold_label(&gone, label, sizeof(label)),
	    hold_state(state));
	hold_tell_end(&gone, state, granted);
	approvals_gone[approvals_ngone % APPROVALS_GONE].state = state;
	memcpy(approvals_gone[approvals_ngone++ % APPROVALS_GONE].sid, gone.sid,
	    sizeof(gone.sid));
	hold_clear(&gone);
	return 0;
}

bool
approvals_ended(const char *sid, enum proto_hold *state)
{
	for (unsigned i = 0; i < APPROVALS_GONE && i < approvals_ngone; i++) {
		if (strcmp(approvals_gone[i].sid, sid) != 0)
			continue;
		*state = approvals_gone[i].state;
		return true;
	}
	return false;
}

void
approvals_late(uint64_t id)
{
	struct hold *h = approvals_by_call(id);

	/* It is still pending, so it can be answered again. */
	if (h != NULL)
		h->answered = false;
	sup_note("an answer came too late (call %llu)", (unsigned long long)id);
	hold_tell_late(id);
}

enum approvals_find
approvals_find(const char *sid, bool part, struct hold **out)
{
	size_t n = strlen(sid);
	struct hold *found = NULL;

	if (n == 0 || n > APPROVALS_SID)
		return APPROVALS_NONE;
	for (unsigned i = 0; i < approvals_n; i++) {
		if (strncmp(approvals_list[i].sid, sid, n) != 0)
			continue;
		if (found != NULL)
			return APPROVALS_SEVERAL;
		found = &approvals_list[i];
	}
	if (found == NULL)
		return APPROVALS_NONE;
	*out = found;
	return part || n == APPROVALS_SID ? APPROVALS_FOUND : APPROVALS_PART;
}

int
approvals_answer(struct hold *h, const uint8_t digest[32],
    const uint8_t *session, unsigned times, bool approve, const char *because,
    const char *answer, const char *by)
{
	struct msg_VERDICT v = {.id = h->id,
	    .digest = span_of(h->digest, sizeof(h->digest)),
	    .times = (uint8_t)times,
	    .approve = approve,
	    .because = span_str(because),
	    .answer = span_str(answer),
	    .by = span_str(by)};

	if (memcmp(h->digest, digest, sizeof(h->digest)) != 0)
		return -1;
	if (session != NULL &&
	    memcmp(h->session_digest, session, sizeof(h->session_digest)) != 0)
		return -1;
	if (session != NULL)
		v.session =
		    span_of(h->session_digest, sizeof(h->session_digest));
	h->answered = true;
	child_send(ROLE_AUDIT, 0, MSG_VERDICT, &v, -1);
	return 0;
}

void
approvals_automatic(struct hold *h, struct span reasoning)
{
	struct msg_VERDICT v = {.id = h->id,
	    .digest = span_of(h->digest, sizeof(h->digest)),
	    .automatic = 1,
	    .approve = 1,
	    .because = reasoning};

	h->answered = true;
	child_send(ROLE_AUDIT, 0, MSG_VERDICT, &v, -1);
}
