/* SPDX-License-Identifier: ISC */
/*
 * A model reads what policyd decided. It can find fault with a decision that
 * was expected, and say which rule is to blame; it cannot excuse one that was
 * not.
 */
#include "icctl/policy/compile/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json.h"
#include "common/log.h"

#define JUDGE_BATCH 40U

void
judge_put(struct buf *b, size_t index, const struct tried *t)
{
	const struct value *v = t->scenario;

	buf_printf(b, "%zu. ", index);
	quote_add(b, value_str(v, "description"), 400);
	buf_adds(b, "\n   call: ");
	(void)json_write(b, value_get(v, "request"));
	buf_adds(b, "\n   expected: ");
	quote_add(b, value_str(v, "expectedDecision"), 40);
	buf_printf(b, "\n   decided: %s by ", policy_status(t->got.status));
	quote_add(b, span_str(t->got.rule), 200);
	buf_adds(b, "\n   wanted because: ");
	quote_add(b, value_str(v, "reasoning"), 600);
	if (t->why.len != 0) {
		buf_adds(b, "\n   reviewer: ");
		quote_add(b, t->why, 600);
	}
	buf_addc(b, '\n');
}

struct judged {
	size_t from, to;
	const struct value *rules;
};

static int
judge_check(void *arg, const struct value *reply, struct fault *fault)
{
	const struct judged *j = arg;
	const struct value *v = value_get(reply, "verdicts")->child, *w;
	char vis[200];
	unsigned i = 0;
	int64_t k;
	bool agrees;

	for (; v != NULL; v = v->next, i++) {
		if (value_int(value_get(v, "scenario"), (int64_t)j->from,
			(int64_t)j->to - 1, &k) == -1)
			return fault_set(fault,
			    "/verdicts/%u/scenario: there is no such scenario",
			    i);
		for (w = value_get(reply, "verdicts")->child; w != v;
		     w = w->next)
			if (value_eq(value_get(w, "scenario"),
				value_get(v, "scenario")))
				return fault_set(fault,
				    "/verdicts/%u/scenario: is judged twice",
				    i);
		agrees = value_bool(v, "agrees", false);
		if (agrees == span_is(value_str(v, "blame"), "rule") ||
		    (!agrees && !span_is(value_str(v, "blame"), "rule")))
			return fault_set(fault,
			    "/verdicts/%u: agrees and blame contradict", i);
		if (!text_plain(value_str(v, "reason")))
			return fault_set(fault,
			    "/verdicts/%u/reason: has control characters", i);
		if (value_str(v, "rule").p != NULL &&
		    rules_named(j->rules, value_str(v, "rule")) == NULL)
			return fault_set(fault,
			    "/verdicts/%u/rule: there is no rule \"%s\"", i,
			    log_vis(value_str(v, "rule"), vis, sizeof(vis)));
	}
	if (i != j->to - j->from)
		return fault_set(fault, "/verdicts: %u of %zu scenarios", i,
		    j->to - j->from);
	return 0;
}

static void
take_verdict(struct trial_run *run, const struct value *v)
{
	struct tried *t;
	int64_t k;

	if (value_int(value_get(v, "scenario"), 0, (int64_t)run->n - 1, &k) ==
	    -1)
		return;
	t = &run->list[k];
	t->why = value_str(v, "reason");
	t->rule = value_str(v, "rule");
	t->agrees = value_bool(v, "agrees", false);
	t->blame = span_is(value_str(v, "blame"), "rule") ? VERDICT_RULE
		   : span_is(value_str(v, "blame"), "scenario")
		       ? VERDICT_SCENARIO
		       : VERDICT_NONE;
}

int
judge_ask(struct compile *c, struct compile_server *s, struct trial_run *run,
    struct fault *fault)
{
	struct ask_part parts[4] = {{"constitution", {0}}, {"server", s->name},
	    {"rules", {0}}, {"test cases", {0}}};
	struct judged j = {0, 0, s->rules};
	const struct ask q = {"judge", parts, nitems(parts), judge_check, &j};
	const struct value *reply, *v;
	struct buf text, rules, list;
	int rv = 0;

	buf_init(&text, (size_t)1 << 20);
	buf_init(&rules, (size_t)4 << 20);
	buf_init(&list, (size_t)4 << 20);
	quote_add(&text, span_str(c->constitution), COMPILE_MAX_TEXT);
	(void)json_write(&rules, s->rules);
	parts[0].text = buf_span(&text);
	parts[2].text = buf_span(&rules);
	while (rv == 0 && j.to < run->n) {
		j.from = j.to;
		j.to = run->n - j.from > JUDGE_BATCH ? j.from + JUDGE_BATCH
						     : run->n;
		buf_reset(&list, (size_t)4 << 20);
		for (size_t i = j.from; i < j.to; i++)
			judge_put(&list, i, &run->list[i]);
		parts[3].text = buf_span(&list);
		if ((reply = compile_ask(c, &q, NULL, fault)) == NULL) {
			rv = -1;
			break;
		}
		v = value_get(reply, "verdicts")->child;
		for (; v != NULL; v = v->next)
			take_verdict(run, v);
	}
	buf_free(&text);
	buf_free(&rules);
	buf_free(&list);
	return rv;
}
