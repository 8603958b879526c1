/* SPDX-License-Identifier: ISC */
/*
 * `icctl policy replay`: decides recorded calls again, as a session with today's
 * settings would. Calls that neither the policy nor the settings decided then
 * (unknown tool, too many calls), or that the log only counts, are counted and
 * skipped.
 */
#include "icctl/policy/policy.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/plural.h"

struct replay {
	bool json;
	struct policyd *pd;
	struct buf out;
	unsigned calls, differ, left;
	unsigned counted; /* those in `left` that have no record of their own */
};

static int
on_call(void *arg, const struct policy_call *c)
{
	struct replay *r = arg;
	struct policy_decided now;

	r->calls += c->counted != 0 ? c->counted : 1;
	if (!c->judged && !c->narrowed) {
		r->left += c->counted != 0 ? c->counted : 1;
		r->counted += c->counted;
		return 0;
	}
	if (policy_decide(r->pd, &c->named, true, &now) == -1)
		return -1;
	if (span_is(c->status, policy_status(now.status)))
		return 0;
	if (r->differ++ != 0)
		buf_addc(&r->out, ',');
	if (r->json) {
		buf_addc(&r->out, '{');
		policy_put_call(&r->out, c);
		buf_adds(&r->out, ",\"was\":{");
		policy_put_member(&r->out, "decision", c->status);
		buf_addc(&r->out, ',');
		policy_put_member(&r->out, "rule", c->rule);
		buf_adds(&r->out, "},");
		policy_put_decided(&r->out, "now", &now);
		buf_addc(&r->out, '}');
		return 0;
	}
	policy_print_call(c);
	policy_print("    was ", c->status, " by ");
	policy_print("", c->rule, "\n");
	printf("    now %s by ", policy_status(now.status));
	policy_print("", span_str(now.rule), ": ");
	policy_print("", span_str(now.reason), "\n");
	return 0;
}

static int
summary(struct replay *r, bool broken)
{
	struct buf all;

	if (!r->json) {
		printf(
		    "%u call%s, %u decided differently, %u not compared (not "
		    "decided by the policy",
		    r->calls, plural(r->calls), r->differ, r->left);
		if (r->counted != 0)
			printf(", or only counted in the log: %u", r->counted);
		puts(")");
	} else {
		buf_init(&all, (size_t)512 << 20);
		buf_printf(&all,
		    "{\"calls\":%u,\"differ\":%u,"
		    "\"notCompared\":%u,\"differences\":[",
		    r->calls, r->differ, r->left);
		buf_addspan(&all, buf_span(&r->out));
		buf_adds(&all, "]}\n");
		broken = policy_flush(&all) == -1 || broken;
		buf_free(&all);
	}
	return !broken && r->differ == 0 ? ICCTL_OK : ICCTL_FAILED;
}

int
icctl_policy_replay(struct icctl *ctl, struct policy_opts *o)
{
	struct replay r = {.json = ctl->json};
	char *workspace = NULL;
	struct policyd_bad bad;
	struct policy_set set;
	bool broken = false;
	int status;

	o->narrowed = true;
	if (o->sandbox == NULL)
		o->sandbox = workspace = policy_calls_workspace(o->args[0]);
	if (policy_set_load(ctl, o, &set, &bad.fault) == -1 ||
	    (r.pd = policyd_start(ctl, o, &set, true, &bad)) == NULL) {
		warnx("%s", bad.fault.text);
		free(workspace);
		return ICCTL_FAILED;
	}
	policy_set_free(&set);
	buf_init(&r.out, (size_t)500 << 20);
	for (unsigned i = 0; i < o->nargs; i++)
		broken = policy_calls(o->args[i], on_call, &r) == -1 || broken;
	status = summary(&r, broken);
	policyd_end(r.pd);
	buf_free(&r.out);
	free(workspace);
	return status;
}
