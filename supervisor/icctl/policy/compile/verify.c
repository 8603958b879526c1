/* SPDX-License-Identifier: ISC */
/*
 * Rounds of verification. In each, policyd decides every scenario, a judge
 * reads the decisions, and the rules of what failed are repaired. A decision
 * that is looser than expected can only be mended in the rules: no judge and no
 * model can take the scenario back. One that is stricter may have been expected
 * wrongly, and then the scenario expects the stricter decision from now on.
 */
#include "icctl/policy/compile/verify.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json.h"
#include "common/log.h"
#include "common/plural.h"

/* Returns true if the decision withholds more than was expected. */
static bool
is_stricter(struct span expected, unsigned status)
{
	if (span_is(expected, "allow"))
		return status != PROTO_ALLOW;
	return span_is(expected, "escalate") && status == PROTO_DENY;
}

static int
run_open(struct trial_run *run, const struct value *scenarios)
{
	const struct value *v = scenarios == NULL ? NULL : scenarios->child;

	*run = (struct trial_run){0};
	if (scenarios == NULL || scenarios->count == 0)
		return 0;
	if ((run->list = calloc(scenarios->count, sizeof(*run->list))) == NULL)
		return -1;
	for (; v != NULL; v = v->next)
		run->list[run->n++].scenario = v;
	return 0;
}

/* Let policyd decide all scenarios of a server. */
static int
decide_all(struct compile *c, struct policyd *pd, struct trial_run *run,
    struct fault *fault)
{
	struct policy_request r;
	struct span expected;
	struct tried *t;

	for (size_t i = 0; i < run->n; i++) {
		t = &run->list[i];
		expected = value_str(t->scenario, "expectedDecision");
		if (policy_request(
			value_get(t->scenario, "request"), c->pool, &r) != NULL)
			return fault_set(fault, "a scenario is malformed");
		if (policy_decide(pd, &r, true, &t->got) == -1)
			return fault_set(fault, "policyd ended");
		t->passed = policy_expects(expected, t->got.status);
		if (t->corrected && is_stricter(expected, t->got.status))
			t->passed = true;
		t->stricter = is_stricter(expected, t->got.status);
		t->blame = VERDICT_NONE;
		t->agrees = false;
		t->why = t->rule = (struct span){0};
	}
	return 0;
}

/*
 * Accept a stricter decision where the judge blames a generated scenario. Such
 * a scenario can be wrong about what is granted, at no one's cost.
 */
static void
correct(struct trial_run *run)
{
	struct tried *t;

	for (size_t i = 0; i < run->n; i++) {
		t = &run->list[i];
		if (!t->passed && t->stricter && t->agrees &&
		    t->blame == VERDICT_SCENARIO &&
		    span_is(value_str(t->scenario, "source"), "generated"))
			t->corrected = t->passed = true;
	}
}

/* Returns true if the scenario is as the constitution wants it. */
static bool
is_good(const struct tried *t)
{
	return t->passed && t->agrees;
}

static size_t
count_bad(const struct trial_run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < run->n; i++)
		n += !is_good(&run->list[i]);
	return n;
}

static void
blame_add(struct compile *c, struct value *blamed, const struct value *rules,
    struct span name)
{
	if (name.len != 0 && rules_named(rules, name) != NULL)
		(void)value_append(
		    blamed, value_new_string(c->pool, pool_text(c, name)));
}

/* Repair a server's rules for the scenarios that failed. */
static int
repair_server(struct compile *c, struct compile_server *s,
    struct trial_run *run, struct fault *fault)
{
	struct value *blamed = value_new(c->pool, VALUE_ARRAY);
	struct buf failed;
	int rv;

	buf_init(&failed, (size_t)4 << 20);
	for (size_t i = 0; i < run->n; i++) {
		const struct tried *t = &run->list[i];

		if (is_good(t))
			continue;
		judge_put(&failed, i, t);
		blame_add(c, blamed, s->rules, span_str(t->got.rule));
		if (t->blame == VERDICT_RULE)
			blame_add(c, blamed, s->rules, t->rule);
	}
	rv = repair_ask(c, s, buf_span(&failed), blamed, fault);
	buf_free(&failed);
	return rv;
}

/* Print the scenarios that failed in the last round. */
static void
print_bad(const struct compile_server *s, const struct trial_run *run)
{
	const struct tried *t;

	for (size_t i = 0; i < run->n; i++) {
		t = &run->list[i];
		if (is_good(t))
			continue;
		policy_print("not ok ", s->name, ": ");
		policy_print("", value_str(t->scenario, "description"), "\n");
		policy_print("    expected ",
		    value_str(t->scenario, "expectedDecision"), ", got ");
		printf("%s by ", policy_status(t->got.status));
		policy_print("", span_str(t->got.rule), "\n");
		if (t->why.len != 0)
			policy_print("    the judge: ", t->why, "\n");
	}
}

/* Decide and judge everything once. Returns the number of failures, or -1. */
static long
round_run(struct compile *c, struct trial_run *runs, struct fault *fault)
{
	struct policyd_bad bad;
	struct policy_opts o = {0};
	struct policy_set set;
	struct policyd *pd;
	long n = 0;
	int rv = 0;

	if (artefact_set(c, &set, fault) == -1)
		return -1;
	pd = policyd_start(c->ctl, &o, &set, true, &bad);
	policy_set_free(&set);
	if (pd == NULL) {
		*fault = bad.fault;
		return -1;
	}
	for (unsigned i = 0; rv == 0 && i < c->nservers; i++)
		if (!c->servers[i].skipped)
			rv = decide_all(c, pd, &runs[i], fault);
	policyd_end(pd);
	for (unsigned i = 0; rv == 0 && i < c->nservers; i++) {
		if (c->servers[i].skipped || runs[i].n == 0)
			continue;
		rv = judge_ask(c, &c->servers[i], &runs[i], fault);
		correct(&runs[i]);
		n += (long)count_bad(&runs[i]);
	}
	return rv == 0 ? n : -1;
}

/* Run the rounds. Returns the number of failures of the last, or -1. */
static long
rounds(struct compile *c, struct trial_run *runs, struct fault *fault)
{
	unsigned repairs = 0;
	long n = 0;

	for (unsigned r = 0; r < COMPILE_ROUNDS; r++) {
		if ((n = round_run(c, runs, fault)) <= 0)
			return n;
		if (repairs++ == c->o.repairs || r + 1 == COMPILE_ROUNDS)
			return n;
		warnx("%ld scenario%s failed; repairing (%u of %u)", n,
		    n == 1 ? "" : "s", repairs, c->o.repairs);
		for (unsigned i = 0; i < c->nservers; i++)
			if (!c->servers[i].skipped &&
			    count_bad(&runs[i]) != 0 &&
			    repair_server(c, &c->servers[i], &runs[i], fault) ==
				-1) {
				warnx("not repaired: %s", fault->text);
				return n;
			}
	}
	return n;
}

int
verify_run(struct compile *c, struct fault *fault)
{
	struct trial_run runs[COMPILE_MAX_SERVERS] = {{0}};
	size_t total = 0;
	long n = 0;

	for (unsigned i = 0; n == 0 && i < c->nservers; i++) {
		if (c->servers[i].skipped)
			continue;
		if (run_open(&runs[i], c->servers[i].scenarios) == -1)
			n = fault_errno(fault, "scenarios");
		total += runs[i].n;
	}
	if (n == 0)
		n = rounds(c, runs, fault);
	if (n > 0)
		for (unsigned i = 0; i < c->nservers; i++)
			print_bad(&c->servers[i], &runs[i]);
	if (n != -1)
		printf("%zu scenario%s decided by policyd, %ld not as the "
		       "constitution wants\n", total, plural(total), n);
	for (unsigned i = 0; i < c->nservers; i++)
		free(runs[i].list);
	return n < 0 ? -1 : n > 0 ? 1 : 0;
}
