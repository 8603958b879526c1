/* SPDX-License-Identifier: ISC */
/*
 * Answers of our own: which refusal, what it says of this provider, how often
 * a connection may try keys; and the ends of exchanges that failed.  How an
 * answer is written is its front's business.
 */
#include "mitmd.h"

#include <stdio.h>

#include "common/log.h"
#include "usage.h"

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

const char *
deny_detail(const struct exchange *x, enum refusal no, const char *detail,
    char *dst, size_t cap)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;

	if (no == REFUSE_ENDPOINT || no == REFUSE_METHOD)
		return deny_routes(p, dst, cap);
	if (no == REFUSE_MALFORMED || no == REFUSE_HEADERS ||
	    no == REFUSE_JSON || no == REFUSE_PUSH)
		return refuse_why(x->req.why, dst, cap);
	return detail;
}

unsigned
deny_status(const struct exchange *x, enum refusal no)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;

	return no == REFUSE_OFFERED ? p->routes[x->req.route].answer : 0;
}

enum refuse_form
deny_form(const struct exchange *x)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;

	if (p->plain)
		return REFUSE_AS_TEXT;
	return p->alphabet == PROVIDER_BEDROCK ? REFUSE_AS_AWS : REFUSE_AS_JSON;
}

/* Too many wrong keys: nothing is read, and this is said later. */
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
	a->penal = x;
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
	    a->penal == NULL)
		deny_penalty(x, no);
	else
		x->front->refuse(x, no, NULL, known);
}

void
deny_after_penalty(struct agent *a)
{
	struct exchange *x = a->penal;

	a->penal = NULL;
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
		if (refuse_is_budget(no) && usage_farewell(x, no, detail))
			return;
		/* Its framing tells the agent that it is not whole. */
		x->front->cut(x, false);
		return;
	}
	exchange_abandon(x);
	x->front->refuse(x, no, detail, true);
	agent_resume(a);
}
