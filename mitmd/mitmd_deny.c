/* SPDX-License-Identifier: ISC */
/*
 * Answers of our own: refusals of requests, and the ends of exchanges that
 * failed.  A refused request whose length is known and small is read over and
 * the connection stays, so that an agent's next request needs no new one;
 * everything malformed ends it.
 */
#include "mitmd.h"

#include <stdio.h>

#include "log.h"

/* "Allowed: POST /v1/messages, ...": cut where it grows too long. */
static const char *
deny_routes(const struct provider *p, char *dst, size_t cap)
{
	size_t len = 0;
	int n;

	dst[0] = '\0';
	for (unsigned i = 0; i < p->nroutes; i++) {
		if (p->routes[i].answer != 0)
			continue;
		n = snprintf(dst + len, cap - len, "%s%.*s %.*s",
		    len == 0 ? "Allowed: " : ", ", (int)p->routes[i].method.len,
		    (const char *)p->routes[i].method.p,
		    (int)p->routes[i].path.len,
		    (const char *)p->routes[i].path.p);
		if (n < 0 || (size_t)n >= cap - len - 8) {
			snprintf(dst + len, cap - len, ", ...");
			break;
		}
		len += (size_t)n;
	}
	return dst;
}

/* Writes the answer; close: the connection ends with it. */
static int
deny_say(struct agent *a, enum refusal no, const char *detail, bool close)
{
	const struct provider *p = mitmd_env.providers[a->provider].p;
	char more[4096];
	unsigned status = 0;
	struct buf b;
	int r;

	if (no == REFUSE_OFFERED)
		status = p->routes[a->req.route].answer;
	if (no == REFUSE_ENDPOINT || no == REFUSE_METHOD)
		detail = deny_routes(p, more, sizeof(more));
	else if (no == REFUSE_MALFORMED || no == REFUSE_HEADERS)
		detail = refuse_why(a->req.why, more, sizeof(more));
	buf_init(&b, 16384);
	r = refuse_compose(
	    &b, no, status, mitmd_denied_id(a), detail, false, close);
	if (r == 0)
		r = mitmd_tls_put(a, buf_span(&b));
	buf_free(&b);
	return r;
}

/* After the answer: what is left of the request, then the next one. */
static void
deny_rest(struct agent *a)
{
	bool chunked = a->req.body.framing == HTTP1_CHUNKED;

	if ((chunked && !a->req.body.done) || a->req.left != 0) {
		if (chunked)
			a->req.left = MITMD_MAX_DISCARD;
		agent_enter(a, AGENT_DISCARD, MITMD_STALL_MS);
		return;
	}
	body_end(a);
	agent_enter(a, AGENT_REQUEST, MITMD_IDLE_MS);
}

static void
deny_answer(struct agent *a, enum refusal no, const char *detail, bool known)
{
	bool close;

	close = !known || a->req.close || a->req.expect ||
		a->req.left > MITMD_MAX_DISCARD;
	if (deny_say(a, no, detail, close) == -1)
		agent_close(a);
	else if (close)
		agent_linger(a);
	else
		deny_rest(a);
}

void
deny_request(struct agent *a, enum refusal no, bool known)
{
	char text[128];
	bool key = no == REFUSE_WRONG_KEY || no == REFUSE_FOREIGN_KEY ||
		   no == REFUSE_TWO_KEYS;

	a->bad_keys += key;
	if (!key || a->bad_keys < MITMD_MAX_BAD_KEYS || !known) {
		deny_answer(a, no, NULL, known);
		return;
	}
	if (!a->alarmed) {
		a->alarmed = true;
		snprintf(text, sizeof(text),
		    "connection %u: %u requests with "
		    "a wrong or foreign key",
		    a->number, a->bad_keys);
		mitmd_alarm("credential", text);
	}
	a->refusal = no;
	agent_enter(a, AGENT_PENALTY, MITMD_PENALTY_MS);
}

void
deny_after_penalty(struct agent *a)
{
	deny_answer(a, a->refusal, NULL, true);
	agent_resume(a);
}

void
deny_exchange(struct agent *a, enum refusal no, const char *detail)
{
	if (a->dead)
		return;
	a->denied = ++mitmd_env.last_refusal;
	mitmd_note(a, "%u %s, request %08x: %s", refuse_text(no)->status,
	    refuse_text(no)->code, a->denied, detail != NULL ? detail : "");
	if (a->state == AGENT_EXCHANGE && a->up.answered) {
		/* Its framing tells the agent that it is not whole. */
		a->cut = true;
		agent_linger(a);
		return;
	}
	upstream_close(a);
	deny_answer(a, no, detail, true);
	agent_resume(a);
}
