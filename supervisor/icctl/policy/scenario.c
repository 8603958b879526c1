/* SPDX-License-Identifier: ISC */
/*
 * `icctl policy test`: runs scenario files, in the format of the TypeScript
 * IronCurtain, like unit tests. As in that system's verifier, the engine is
 * asked directly.
 */
#include "icctl/policy/policy.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json.h"

#define LINES_MAX 100U

struct run {
	bool json, quiet;
	struct policyd *pd;
	struct buf out;
	unsigned n, failed;
	const struct policy_file *file;
};

static bool
known_expectation(struct span s)
{
	return span_is(s, "allow") || span_is(s, "deny") ||
	       span_is(s, "escalate") || span_is(s, "not-allow");
}

static void
report_json(struct run *t, bool ok, struct span description,
    struct span expected, const struct policy_decided *d, const char *why)
{
	if (t->n > 1)
		buf_addc(&t->out, ',');
	buf_printf(&t->out, "{\"ok\":%s,", ok ? "true" : "false");
	policy_put_member(&t->out, "file", span_str(t->file->path));
	buf_addc(&t->out, ',');
	policy_put_member(&t->out, "description", description);
	buf_addc(&t->out, ',');
	if (why != NULL) {
		policy_put_member(&t->out, "error", span_str(why));
	} else {
		policy_put_member(&t->out, "expected", expected);
		buf_addc(&t->out, ',');
		policy_put_decided(&t->out, "result", d);
	}
	buf_addc(&t->out, '}');
}

static void
report(struct run *t, bool ok, const struct value *scenario, size_t index,
    const struct policy_decided *d, const char *why)
{
	struct span description = value_str(scenario, "description");
	struct span expected = value_str(scenario, "expectedDecision");
	char place[40];

	t->n++;
	if (!ok)
		t->failed++;
	if (t->quiet)
		return;
	if (description.p == NULL)
		description = SPAN("(no description)");
	if (t->json) {
		report_json(t, ok, description, expected, d, why);
		return;
	}
	printf("%s %u - ", ok ? "ok" : "not ok", t->n);
	policy_print("", description, "\n");
	if (ok)
		return;
	snprintf(place, sizeof(place), "%s[%zu]",
	    t->file->text[0] == '[' ? "" : "scenarios", index);
	policy_print("#   ", span_str(t->file->path), ":");
	/* Each line number takes a search: do without if everything fails. */
	if (t->failed <= LINES_MAX)
		printf("%u:", policy_line(t->file, place));
	printf(" ");
	if (why != NULL) {
		printf("%s\n", why);
		return;
	}
	policy_print("expected ", expected, ", got ");
	printf("%s by ", policy_status(d->status));
	policy_print("", span_str(d->rule), ": ");
	policy_print("", span_str(d->reason), "\n");
}

static int
run_one(
    struct run *t, struct value_pool *pool, const struct value *v, size_t index)
{
	const struct value *request = value_get(v, "request");
	struct span expected = value_str(v, "expectedDecision");
	struct policy_decided d;
	struct policy_request r;
	const char *why = NULL;

	if (v->type != VALUE_OBJECT || request == NULL)
		why = "a scenario is an object with description, request and "
		      "expectedDecision";
	else if (!known_expectation(expected))
		why = "expectedDecision must be allow, deny, escalate or "
		      "not-allow";
	else
		why = policy_request(request, pool, &r);
	if (why != NULL) {
		report(t, false, v, index, NULL, why);
		return 0;
	}
	if (policy_decide(t->pd, &r, false, &d) == -1)
		return -1;
	report(t, policy_expects(expected, d.status), v, index, &d, NULL);
	return 0;
}

static void
bad_file(const char *path, struct span text)
{
	struct value_pool *pool = value_pool_new((size_t)256 << 20);
	struct json_fail fail = {0};
	unsigned line = 1;

	if (pool != NULL)
		(void)json_read_large(
		    pool, text, 2000000, (size_t)16 << 20, &fail);
	for (size_t i = 0; i < fail.at && i < text.len; i++)
		line += text.p[i] == '\n';
	warnx("%s:%u: %s", path, line, json_strerror(fail.error));
	value_pool_free(pool);
}

static int
run_file(struct run *t, const char *path)
{
	struct value_pool *pool = NULL;
	struct policy_file file;
	const struct value *v, *s;
	struct fault fault;
	size_t i = 0;
	int r = -1;

	if (policy_file_read(&file, path, &fault) == -1) {
		warnx("%s", fault.text);
		return -1;
	}
	t->file = &file;
	if ((v = policy_tree(&file, &pool)) == NULL) {
		bad_file(path, span_of(file.text, file.len));
		goto out;
	}
	if (v->type == VALUE_OBJECT)
		v = value_get(v, "scenarios");
	if (v == NULL || v->type != VALUE_ARRAY) {
		warnx("%s: must be an array of scenarios, or an object with "
		      "\"scenarios\"",
		    path);
		goto out;
	}
	r = 0;
	for (s = v->child; r == 0 && s != NULL; s = s->next)
		r = run_one(t, pool, s, i++);
out:
	value_pool_free(pool);
	free(file.path);
	free(file.text);
	return r;
}

static int
summary(struct run *t, bool broken)
{
	bool ok = !broken && t->failed == 0;

	if (t->json) {
		struct buf all;

		buf_init(&all, (size_t)64 << 20);
		buf_printf(&all,
		    "{\"ok\":%s,\"passed\":%u,"
		    "\"failed\":%u,\"scenarios\":[",
		    ok ? "true" : "false", t->n - t->failed, t->failed);
		buf_addspan(&all, buf_span(&t->out));
		buf_adds(&all, "]}\n");
		if (policy_flush(&all) == -1)
			ok = false;
		buf_free(&all);
	} else {
		printf("1..%u\n# %u passed, %u failed\n", t->n,
		    t->n - t->failed, t->failed);
	}
	return ok ? ICCTL_OK : ICCTL_FAILED;
}

int
policy_test_count(struct icctl *ctl, struct policy_opts *o, const char *file,
    unsigned *passed, unsigned *failed)
{
	struct run t = {.quiet = true};
	struct policyd_bad bad;
	struct policy_set set;
	int r;

	if (policy_set_load(ctl, o, &set, &bad.fault) == -1 ||
	    (t.pd = policyd_start(ctl, o, &set, true, &bad)) == NULL) {
		warnx("%s", bad.fault.text);
		return -1;
	}
	policy_set_free(&set);
	r = run_file(&t, file);
	policyd_end(t.pd);
	*passed = t.n - t.failed;
	*failed = t.failed;
	return r;
}

int
icctl_policy_test(struct icctl *ctl, struct policy_opts *o)
{
	struct run t = {.json = ctl->json};
	struct policyd_bad bad;
	struct policy_set set;
	bool broken = false;
	int r;

	o->narrowed = true;
	if (policy_set_load(ctl, o, &set, &bad.fault) == -1 ||
	    (t.pd = policyd_start(ctl, o, &set, false, &bad)) == NULL) {
		warnx("%s", bad.fault.text);
		return ICCTL_FAILED;
	}
	policy_set_free(&set);
	buf_init(&t.out, (size_t)60 << 20);
	for (unsigned i = 0; i < o->nargs; i++)
		broken = run_file(&t, o->args[i]) == -1 || broken;
	r = summary(&t, broken);
	policyd_end(t.pd);
	buf_free(&t.out);
	return r;
}
