/* SPDX-License-Identifier: ISC */
/*
 * Answers. What is approved is what stood on the screen, whole, for a second;
 * it takes two keys, and carries the digest of what was shown.
 */
#include "icctl/overview/priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/ipc/proto.h"
#include "common/visible.h"
#include "icctl/hold/hold_answer.h"
#include "icctl/question/question.h"

/* Returns the call that may be answered now, or NULL after it said why not. */
static struct live_hold *
answer_may(struct overview *o, bool approve)
{
	struct overview_row row = rows_chosen(o);
	uint64_t now = loop_now(&o->loop);

	if (o->view != VIEW_CHOSEN || row.session == NULL || row.hold == NULL)
		overview_say(o, "choose a call that waits first (n)");
	else if (strcmp(o->of, row.hold->id) != 0 ||
		 strcmp(o->digest, row.hold->digest) != 0 ||
		 o->since != row.hold->since)
		overview_say(o, "the call has just changed: look at it again");
	else if (approve && !o->whole && !o->full)
		overview_say(o,
		    "parts of it were left out: press f for all of "
		    "it, or icctl show %s --full",
		    row.hold->id);
	else if (approve && !o->whole)
		overview_say(o, "it cannot be approved here: not everything of "
				"it could be shown");
	else if (approve && o->seen < o->nlines)
		overview_say(o, "there is more of it: press space");
	else if (now - o->shown < OVERVIEW_LOOK_MS)
		overview_say(o, "this call has just appeared: look at it, then "
				"press the key again");
	else
		return row.hold;
	return NULL;
}

/* Returns the chosen grant, or NULL. */
static json_object *
answer_grant(const struct overview *o)
{
	struct overview_row row = rows_chosen(o);
	json_object *list = NULL;

	if (o->view != VIEW_GRANTS || row.session == NULL ||
	    row.session->status == NULL ||
	    !json_object_object_get_ex(row.session->status, "granted", &list) ||
	    !json_object_is_type(list, json_type_array))
		return NULL;
	return json_object_array_get_idx(list, o->grant);
}

static void
answer_arm_grant(struct overview *o)
{
	json_object *grant = answer_grant(o);

	if (grant == NULL) {
		overview_say(o, "x takes back what g shows");
		return;
	}
	o->armed = 'x';
	o->armed_at = loop_now(&o->loop);
	overview_say(o, "press y to take back %.15s, any other key not to",
	    icctl_text(grant, "id"));
}

void
answer_arm(struct overview *o, char how)
{
	struct live_hold *h;

	if (how == 'x') {
		answer_arm_grant(o);
		return;
	}
	if ((h = answer_may(o, how != 'd')) == NULL)
		return;
	if (how != 'd' && hold_is_signed(h->hold)) {
		overview_say(o, "signatures approve this call: S signs it");
		return;
	}
	if (how == 's' && icctl_text(h->hold, "sessionDigest")[0] == '\0') {
		overview_say(o, "this call cannot be allowed for the session");
		return;
	}
	if (how == 'a' && hold_is_question(h->hold) &&
	    hold_address(h->hold) == NULL) {
		o->input = INPUT_ANSWER;
		o->typed[0] = '\0';
		overview_say(o, "%s", "");
		return;
	}
	if (how == 'd') {
		o->input = INPUT_REASON;
		o->typed[0] = '\0';
		overview_say(o, "%s", "");
		return;
	}
	o->armed = how;
	o->armed_at = loop_now(&o->loop);
	overview_say(o, "press %c to %s %s%s, any other key not to", h->id[0],
	    hold_is_question(h->hold) ? "open the address of" : "approve",
	    h->id, how == 's' ? " for the session" : "");
}

static void
answer_send(struct overview *o, const struct live_verdict *v)
{
	struct overview_row row = rows_chosen(o);

	if (live_answer(row.session, v, 0) == -1)
		overview_say(o, "%s was not answered: %s", v->id,
		    errno == ENOTCONN ? "the session does not answer"
				      : strerror(errno));
	else
		overview_say(o, "%s is being %s", v->id,
		    v->approve ? "approved" : "denied");
}

static void
answer_approve(struct overview *o, bool session)
{
	struct live_hold *h = answer_may(o, true);
	struct live_verdict v = {.approve = true};

	if (h == NULL)
		return;
	if (hold_is_question(h->hold) &&
	    question_open(hold_address(h->hold)) == -1) {
		overview_say(o, "it cannot be opened: icctl show %s", h->id);
		return;
	}
	v.id = h->id;
	v.digest = o->digest;
	if (session)
		v.session = icctl_text(h->hold, "sessionDigest");
	answer_send(o, &v);
}

json_object *
answer_signable(struct overview *o)
{
	struct live_hold *h = answer_may(o, true);

	if (h == NULL)
		return NULL;
	if (hold_is_signed(h->hold))
		return h->hold;
	overview_say(o, "this call is approved without signatures");
	return NULL;
}

void
answer_signed(struct overview *o, const char *entries)
{
	struct overview_row row = rows_chosen(o);
	struct live_verdict v = {
	    .approve = true, .digest = o->digest, .entries = entries};

	if (row.session == NULL || row.hold == NULL)
		return;
	v.id = row.hold->id;
	answer_send(o, &v);
}

static void
answer_revoke(struct overview *o)
{
	struct overview_row row = rows_chosen(o);
	json_object *grant = answer_grant(o);

	if (grant == NULL)
		return;
	if (live_revoke(row.session, icctl_text(grant, "id"), 0) == -1)
		overview_say(o, "it was not taken back: %s", strerror(errno));
}

void
answer_second(struct overview *o, int key)
{
	struct overview_row row = rows_chosen(o);
	uint64_t after = loop_now(&o->loop) - o->armed_at;
	char how = o->armed;

	o->armed = '\0';
	if (after < OVERVIEW_TWICE_MS) {
		overview_say(
		    o, "the second key came too soon: nothing was done");
	} else if (how == 'x') {
		if (key == 'y')
			answer_revoke(o);
		else
			overview_say(o, "it stays");
	} else if (row.hold == NULL || key != row.hold->id[0]) {
		overview_say(o, "not approved");
	} else {
		answer_approve(o, how == 's');
	}
}

/* Send the answer to a question, or say what is wrong with it. */
static void
answer_question(struct overview *o, struct live_hold *h)
{
	struct live_verdict v = {
	    .approve = true, .id = h->id, .digest = o->digest};
	char why[HOLD_ANSWER_WHY];
	struct buf b;

	buf_init(&b, PROTO_MAX_ANSWER);
	if (hold_answer(h->hold, span_str(o->typed), &b, why) == -1) {
		overview_say(o, "%s", why);
	} else {
		buf_addc(&b, '\0');
		v.answer = (const char *)buf_span(&b).p;
		if (!b.failed)
			answer_send(o, &v);
	}
	buf_free(&b);
}

void
answer_typed(struct overview *o)
{
	struct live_verdict v = {.approve = false};
	enum overview_input input = o->input;
	struct live_hold *h;

	o->input = INPUT_NONE;
	if (input == INPUT_FILTER) {
		(void)strlcpy(o->filter, o->typed, sizeof(o->filter));
		rows_make(o);
		overview_say(o, "%s", "");
		return;
	}
	if (input == INPUT_SEARCH) {
		if (strcmp(o->search, o->typed) != 0)
			o->found = o->scroll;
		(void)strlcpy(o->search, o->typed, sizeof(o->search));
		overview_say(o, "%s", "");
		text_search(o);
		return;
	}
	if ((h = answer_may(o, input == INPUT_ANSWER)) == NULL)
		return;
	if (input == INPUT_ANSWER) {
		answer_question(o, h);
		return;
	}
	v.id = h->id;
	v.digest = o->digest;
	v.because = o->typed;
	answer_send(o, &v);
}

void
answer_replied(void *arg, struct live_session *s, const struct live_reply *r)
{
	struct overview *o = arg;
	uint8_t bytes[4 * OVERVIEW_SAY];
	struct buf b = {.p = bytes, .cap = sizeof(bytes), .max = sizeof(bytes)};

	if (r->ok) {
		overview_say(o, "%s: %s", r->id,
		    strcmp(r->op, "approve") == 0 ? "approved"
		    : strcmp(r->op, "deny") == 0  ? "denied"
						  : "taken back");
		live_status(s);
		return;
	}
	(void)visible_add(&b,
	    span_str(r->reply == NULL ? "the session is gone" : r->error),
	    icctl_visible());
	overview_say(o, "%s: %.*s", r->id, (int)b.len, (const char *)bytes);
}
