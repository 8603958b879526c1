/* SPDX-License-Identifier: ISC */
/*
 * Calls that wait. What is approved is what was sent to that login, whole, at
 * least a second ago, and is still the same; the command to the session is
 * composed here, and carries the digest of what was shown.
 */
#include "icctl/web/priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "icctl/hold/hold_answer.h"
#include "icctl/hold/hold_view.h"

/* Returns the session that is named, or NULL. */
static struct live_session *
verdict_session(struct web *w, struct span id)
{
	char text[LIVE_NAME];

	return span_copy(id, text, sizeof(text)) == -1 ? NULL
						       : live_find(w->live, text);
}

/* Returns the call that is named, or NULL after the page was told. */
static struct live_hold *
verdict_hold(struct web *w, const struct msg_WEB_REQUEST *m,
    struct live_session **s)
{
	struct live_hold *h = NULL;
	char id[LIVE_ID];

	*s = verdict_session(w, m->session);
	if (*s != NULL && span_copy(m->call, id, sizeof(id)) == 0)
		h = live_hold(*s, id);
	/* Its calls are gone, with the reason. */
	if (h == NULL && *s != NULL && (*s)->is == LIVE_OVER)
		send_refuse(w, m->n, 409, (*s)->why);
	else if (h == NULL)
		send_refuse(w, m->n, 404, "this call no longer waits");
	return h;
}

/* Note that the login has been sent the call now, unless it has been. */
static void
verdict_note(struct web *w, const struct web_login *login,
    const struct live_session *s, const struct live_hold *h)
{
	struct web_seen *seen;

	for (size_t i = 0; i < WEB_SEEN; i++) {
		seen = &w->seen[i];
		if (seen->at != 0 && seen->login == login &&
		    strcmp(seen->session, s->id) == 0 &&
		    strcmp(seen->call, h->id) == 0) {
			if (seen->since == h->since &&
			    strcmp(seen->digest, h->digest) == 0)
				return;
			seen->at = 0;
		}
	}
	seen = &w->seen[w->nseen++ % WEB_SEEN];
	*seen = (struct web_seen){.login = login,
	    .since = h->since,
	    .at = loop_now(&w->loop)};
	(void)strlcpy(seen->session, s->id, sizeof(seen->session));
	(void)strlcpy(seen->call, h->id, sizeof(seen->call));
	(void)strlcpy(seen->digest, h->digest, sizeof(seen->digest));
}

/*
 * A page can hold no key: add the command that signs the call and approves it;
 * "" if it can only be denied.
 */
static void
verdict_sign(
    json_object *o, const struct live_session *s, const struct live_hold *h)
{
	char line[2 * LIVE_NAME + 2 * LIVE_ID + 256];

	if (!hold_is_signed(h->hold))
		return;
	if (icctl_text(h->hold, "toSign")[0] == '\0' ||
	    hold_is_question(h->hold))
		line[0] = '\0';
	else if (s->far != NULL)
		snprintf(line, sizeof(line),
		    "icctl hub FILE, and there S at this call");
	else
		snprintf(line, sizeof(line),
		    "icctl --session %s sign %s | icctl --session %s approve "
		    "%s --digest %s --signed -",
		    s->id, h->id, s->id, h->id, h->digest);
	put_str(o, "sign", line);
}

void
verdict_show(struct web *w, const struct msg_WEB_REQUEST *m,
    const struct web_login *login)
{
	struct live_session *s;
	struct live_hold *h = verdict_hold(w, m, &s);
	json_object *o;
	char *text = NULL;
	size_t len = 0;
	bool whole;
	FILE *f;

	if (h == NULL)
		return;
	if (!h->whole) {
		send_refuse(w, m->n, 409,
		    "the values of this call are still being fetched");
		return;
	}
	if ((f = open_memstream(&text, &len)) == NULL) {
		send_refuse(w, m->n, 503, "there is no memory for it");
		return;
	}
	whole = hold_view(f, h->hold, HOLD_VIEW_FULL, 0);
	if (fclose(f) != 0) {
		free(text);
		send_refuse(w, m->n, 503, "there is no memory for it");
		return;
	}
	o = json_object_new_object();
	put_str(o, "session", s->id);
	put_str(o, "call", h->id);
	put_str(o, "digest", h->digest);
	put_str(o, "grant", icctl_text(h->hold, "sessionDigest"));
	put_str(o, "text", text);
	put_bool(o, "whole", whole);
	put_bool(o, "question", hold_is_question(h->hold));
	verdict_sign(o, s, h);
	if (hold_address(h->hold) != NULL)
		put_str(o, "address", hold_address(h->hold));
	free(text);
	send_answer(w, m->n, 200, o);
	verdict_note(w, login, s, h);
}

/*
 * Find how the login was sent the call. Returns NULL if it may not be answered
 * yet, and sets `*why`.
 */
static struct web_seen *
verdict_may(struct web *w, const struct msg_WEB_REQUEST *m,
    const struct web_login *login, const struct live_session *s,
    const struct live_hold *h, const char **why)
{
	*why = "the call has changed: look at it again";
	if (!span_is(m->digest, h->digest))
		return NULL;
	*why = "this page has not shown the call: look at it first";
	for (size_t i = 0; i < WEB_SEEN; i++) {
		struct web_seen *seen = &w->seen[i];

		if (seen->at == 0 || seen->login != login ||
		    seen->since != h->since ||
		    strcmp(seen->session, s->id) != 0 ||
		    strcmp(seen->call, h->id) != 0 ||
		    strcmp(seen->digest, h->digest) != 0)
			continue;
		*why = "this call has just appeared: look at it first";
		return loop_now(&w->loop) - seen->at < WEB_LOOK_MS ? NULL
								   : seen;
	}
	return NULL;
}

struct web_seen *
verdict_seen(struct web *w, const struct msg_WEB_REQUEST *m,
    const struct web_login *login)
{
	struct live_session *s;
	struct live_hold *h = verdict_hold(w, m, &s);
	struct web_seen *seen;
	const char *why;

	if (h == NULL)
		return NULL;
	if ((seen = verdict_may(w, m, login, s, h, &why)) == NULL)
		send_refuse(w, m->n, 409, why);
	return seen;
}

/* Answer a question in the person's words. */
static void
verdict_question(struct web *w, const struct msg_WEB_REQUEST *m,
    struct live_session *s, struct live_hold *h)
{
	struct live_verdict v = {
	    .approve = true, .id = h->id, .digest = h->digest};
	char why[HOLD_ANSWER_WHY];
	struct buf b;

	buf_init(&b, PROTO_MAX_ANSWER);
	if (hold_answer(h->hold, m->text, &b, why) == -1) {
		send_refuse(w, m->n, 409, why);
	} else {
		buf_addc(&b, '\0');
		v.answer = (const char *)buf_span(&b).p;
		if (b.failed || live_answer(s, &v, m->n) == -1)
			send_refuse(w, m->n, 503, "it cannot be sent: try again");
	}
	buf_free(&b);
}

void
verdict_give(struct web *w, const struct msg_WEB_REQUEST *m,
    const struct web_login *login)
{
	struct live_session *s;
	struct live_hold *h = verdict_hold(w, m, &s);
	struct live_verdict v = {.approve = m->verdict != PROTO_WEB_DENY};
	char because[LIVE_BECAUSE + 1];
	const char *why;

	if (h == NULL)
		return;
	if (verdict_may(w, m, login, s, h, &why) == NULL) {
		send_refuse(w, m->n, 409, why);
		return;
	}
	v.id = h->id;
	v.digest = h->digest;
	if (m->verdict == PROTO_WEB_FOR_SESSION) {
		v.session = icctl_text(h->hold, "sessionDigest");
		if (v.session[0] == '\0' || !span_is(m->grant, v.session)) {
			send_refuse(w, m->n, 409,
			    "this cannot be allowed for the session");
			return;
		}
	}
	if (span_copy(m->text, because, sizeof(because)) == -1) {
		send_refuse(w, m->n, 400, "the reason is too long");
		return;
	}
	if (!v.approve)
		v.because = because;
	if (v.approve && hold_is_question(h->hold)) {
		verdict_question(w, m, s, h);
		return;
	}
	if (live_answer(s, &v, m->n) == -1)
		send_refuse(w, m->n, 503,
		    errno == ENOTCONN ? "the session does not answer"
				      : "too many answers are open: try again");
}

void
verdict_revoke(struct web *w, const struct msg_WEB_REQUEST *m)
{
	struct live_session *s = verdict_session(w, m->session);
	char id[LIVE_ID];

	if (s == NULL || span_copy(m->call, id, sizeof(id)) == -1)
		send_refuse(w, m->n, 404, "there is no such session");
	else if (live_revoke(s, id, m->n) == -1)
		send_refuse(w, m->n, 503,
		    errno == ENOTCONN ? "the session does not answer"
				      : "too many answers are open: try again");
}

void
verdict_replied(void *arg, struct live_session *s, const struct live_reply *r)
{
	struct web *w = arg;
	json_object *o = json_object_new_object();

	put_bool(o, "ok", r->ok);
	if (!r->ok)
		json_object_object_add(o, "error", state_vis(r->error));
	send_answer(w, r->token, r->ok ? 200 : 409, o);
	if (r->ok)
		live_status(s);
}
