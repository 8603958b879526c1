/* SPDX-License-Identifier: ISC */
/*
 * Refused requests and failed exchanges: mitmd answers them itself and limits
 * the number of wrong keys per connection. The front writes the answer.
 */
#include "mitmd.h"

#include <stdio.h>

#include "common/log.h"
#include "usage.h"
#include "wire/git_push.h"

/* Too many wrong keys: stop reading, and refuse the request later. */
static void
deny_penalty(struct exchange *x, enum refusal no)
{
	struct agent *a = x->a;
	char text[128];

	if (!a->alarmed) {
		a->alarmed = true;
		snprintf(text, sizeof(text),
		    "connection %u: %u requests with "
		    "a wrong or foreign key",
		    a->number, a->bad_keys);
		mitmd_alarm("credential", text);
	}
	a->penalized = x;
	a->refusal = no;
	agent_enter(a, AGENT_PENALTY, MITMD_PENALTY_MS);
}

void
deny_request(struct exchange *x, enum refusal no, bool known)
{
	struct agent *a = x->a;
	bool key = no == REFUSE_WRONG_KEY || no == REFUSE_FOREIGN_KEY ||
		   no == REFUSE_TWO_KEYS;

	a->bad_keys += key;
	if (key && a->bad_keys >= MITMD_MAX_BAD_KEYS && known &&
	    a->penalized == NULL)
		deny_penalty(x, no);
	else
		x->front->refuse(x, no, NULL, known);
}

void
deny_after_penalty(struct agent *a)
{
	struct exchange *x = a->penalized;

	a->penalized = NULL;
	agent_enter(a, AGENT_OPEN, MITMD_HEAD_MS);
	if (x != NULL)
		x->front->refuse(x, a->refusal, NULL, true);
	agent_resume(a);
}

void
deny_exchange(struct exchange *x, enum refusal no, const char *detail)
{
	struct agent *a = x->a;

	if (a->dead || x->gone)
		return;
	x->denied = ++mitmd_env.last_refusal;
	mitmd_note(a, "%u %s, request %08x: %s", refuse_text(no)->status,
	    refuse_text(no)->code, x->denied, detail != NULL ? detail : "");
	if (x->state == EXCHANGE_ON && x->up.answered) {
		if (refuse_is_budget(no) && x->front->farewell(x, no, detail))
			return;
		/* The framing shows the agent that the answer is incomplete. */
		x->front->cut(x, false);
		return;
	}
	/*
	 * Unless keyd ended a request that the provider has, there is nothing
	 * to answer.
	 */
	if (x->up.failed ||
	    (no != REFUSE_PROVIDER && no != REFUSE_CREDENTIAL &&
		!refuse_is_budget(no)))
		usage_drop(x);
	exchange_abandon(x);
	x->front->refuse(x, no, detail, true);
	agent_resume(a);
}

/*
 * Tell git why each ref was refused. Returns 0, or -1 if the client cannot read
 * it.
 */
static int
deny_push(struct exchange *x, enum refusal no, const char *why)
{
	const struct refusal_text *t = refuse_text(no);
	struct buf head, body;
	char text[512];
	int r = -1;

	snprintf(text, sizeof(text), "IronCurtain: %s (request %08x)",
	    why != NULL ? why : t->text, exchange_denied_id(x));
	buf_init(&head, PROVIDER_MAX_BLOB);
	buf_init(&body, 65536);
	if (git_push_report(&body, &x->push, t->code, text) == -1 ||
	    provider_pack(&head, SPAN("content-type"),
		SPAN("application/x-git-receive-pack-result")) == -1 ||
	    provider_pack(&head, SPAN("cache-control"), SPAN("no-cache")) == -1)
		goto out;
	x->up.answered = x->up.sized = true;
	x->up.promised = 0;
	if (x->front->head(x, 200, buf_span(&head), true, body.len) == -1 ||
	    x->front->body(x, buf_span(&body)) == -1) {
		agent_close(x->a);
	} else {
		x->front->end(x);
	}
	r = 0;
out:
	buf_free(&head);
	buf_free(&body);
	return r;
}

void
deny_asked(struct exchange *x, enum refusal no)
{
	struct agent *a = x->a;

	ask_over(x, false);
	if (!x->push.report) {
		deny_exchange(x, no, NULL);
		return;
	}
	x->denied = ++mitmd_env.last_refusal;
	mitmd_note(a, "%s, request %08x", refuse_text(no)->code, x->denied);
	exchange_abandon(x);
	if (deny_push(x, no, NULL) == -1)
		x->front->refuse(x, no, NULL, true);
	if (!a->dead)
		agent_resume(a);
}

void
deny_refs(struct exchange *x)
{
	struct agent *a = x->a;
	const char *why = x->req.why;

	exchange_abandon(x);
	if (!x->push.report || deny_push(x, REFUSE_PUSH, why) == -1)
		x->front->refuse(x, REFUSE_PUSH, NULL, true);
	if (!a->dead)
		agent_resume(a);
}
