/* SPDX-License-Identifier: ISC */
/* Takes the calls of a log, each once, with the number of times it was made. */
#include "icctl/propose/propose.h"

#include <string.h>

#include "common/json/json.h"

static enum propose_end
call_end(const struct policy_call *c)
{
	if (c->granted || span_is(c->held, "approved"))
		return PROPOSE_APPROVED;
	if (span_is(c->held, "denied"))
		return PROPOSE_DENIED;
	if (c->held.p == NULL && span_is(c->status, "allow"))
		return PROPOSE_ALLOWED;
	if (c->held.p == NULL && span_is(c->status, "deny") &&
	    span_is(c->rule, "default-deny"))
		return PROPOSE_UNCOVERED;
	return PROPOSE_WITHHELD;
}

static struct propose_call *
call_find(struct propose *p, const struct policy_call *c, enum propose_end end)
{
	struct propose_call *k;

	for (size_t i = 0; i < p->ncalls; i++) {
		k = &p->calls[i];
		if (k->end == end &&
		    span_eq(k->request.tool, c->request.tool) &&
		    span_eq(k->request.server, c->request.server) &&
		    value_eq(k->request.args, c->request.args))
			return k;
	}
	return NULL;
}

static struct span
call_text(struct propose *p, struct span s)
{
	struct value *v = value_new_string(p->pool, s);

	if (v == NULL || (v = value_copy(p->pool, v)) == NULL) {
		p->failed = true;
		return SPAN("");
	}
	return v->text;
}

int
propose_take(void *arg, const struct policy_call *c)
{
	enum propose_end end = call_end(c);
	struct propose *p = arg;
	struct propose_call *k;

	if (c->held.p == NULL && !c->granted && !c->judged)
		return 0;
	if ((k = call_find(p, c, end)) != NULL) {
		k->times++;
		return 0;
	}
	if (p->ncalls == PROPOSE_MAX_CALLS) {
		p->failed = true;
		return 0;
	}
	k = &p->calls[p->ncalls++];
	*k = (struct propose_call){.end = end,
	    .times = 1,
	    .request = {.server = call_text(p, c->request.server),
		.tool = call_text(p, c->request.tool),
		.args = value_copy(p->pool, c->request.args)},
	    .why_not = c->redacted ? "the log does not have all of it" : NULL};
	if (k->request.args == NULL)
		p->failed = true;
	return p->failed ? -1 : 0;
}
