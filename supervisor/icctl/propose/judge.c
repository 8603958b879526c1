/* SPDX-License-Identifier: ISC */
/*
 * Composes the proposed policy and has policyd decide every recorded call under
 * it. A rule that allows what was not approved, or that denies what was, is
 * dropped, and all is judged again.
 */
#include "icctl/propose/propose.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "common/json/json.h"
#include "common/plural.h"

static void
put_names(struct buf *out, const struct span *list, unsigned n)
{
	buf_addc(out, '[');
	for (unsigned i = 0; i < n; i++) {
		if (i != 0)
			buf_addc(out, ',');
		(void)json_write_string(out, list[i]);
	}
	buf_addc(out, ']');
}

static void
put_roles(struct buf *out, uint32_t roles)
{
	const char *sep = "";

	buf_adds(out, "\"roles\":[");
	for (unsigned r = 0; r < ARG_COUNT; r++) {
		if (!(roles & ARG_BIT(r)))
			continue;
		buf_printf(
		    out, "%s\"%s\"", sep, arg_role_name((enum arg_role)r));
		sep = ",";
	}
	buf_addc(out, ']');
}

static void
put_conditions(struct buf *out, const struct propose_rule *r)
{
	const struct propose_dim *d;

	if (r->ndims == 0)
		return;
	if (r->dims[0].within) {
		buf_adds(out, ",\"paths\":{");
		put_roles(out, r->dims[0].roles);
		buf_adds(out, ",\"within\":");
		(void)json_write_string(out, r->dims[0].values[0]);
		buf_addc(out, '}');
		return;
	}
	for (unsigned i = 0; i < r->ndims; i++) {
		d = &r->dims[i];
		buf_adds(out, i == 0 ? ",\"lists\":[{" : ",{");
		put_roles(out, d->roles);
		buf_adds(out, ",\"allowed\":");
		put_names(out, d->values, d->n);
		buf_adds(out, ",\"matchType\":\"identifiers\"}");
	}
	buf_addc(out, ']');
}

/* The texts name no value: those are in the conditions. */
static void
put_texts(struct buf *out, const struct propose_rule *r)
{
	static const struct {
		const char *word, *principle, *reason;
	} texts[] = {
	    [PROTO_ALLOW] = {"approved",
		"What the user approved while recording, and nothing beside "
		"it.",
		"The user approved this while recording"},
	    [PROTO_DENY] = {"denied",
		"What the user denied while recording is denied without a "
		"question.",
		"The user denied this while recording"},
	    [PROTO_ESCALATE] = {"denied",
		"No rule covered it while recording; from now on the user is "
		"asked.",
		"No rule covers this; the user is asked"},
	};

	buf_printf(out, "\"description\":\"Recorded: %s %u time%s%s.\",",
	    texts[r->then].word, r->times, plural(r->times),
	    r->then == PROTO_ALLOW && r->ndims == 0 ? "; any arguments" : "");
	buf_printf(out, "\"principle\":\"%s\",\"reason\":\"%s\",",
	    texts[r->then].principle, texts[r->then].reason);
}

void
propose_put_rule(struct buf *out, const struct propose_rule *r)
{
	buf_printf(out, "{\"name\":\"%s\",", r->name);
	put_texts(out, r);
	buf_adds(out, "\"if\":{\"server\":");
	put_names(out, &r->server, 1);
	buf_adds(out, ",\"tool\":");
	put_names(out, r->tools, r->ntools);
	put_conditions(out, r);
	buf_printf(out, "},\"then\":\"%s\"}", policy_status(r->then));
}

static const char *
put_rules(
    struct buf *out, const struct propose *p, bool asks, const char *sep)
{
	for (int then = PROTO_ALLOW; then <= PROTO_STATUS_LAST; then++) {
		if (asks != (then == PROTO_ESCALATE))
			continue;
		for (size_t i = 0; i < p->nrules; i++) {
			if (p->rules[i].dropped || (int)p->rules[i].then != then)
				continue;
			buf_adds(out, sep);
			propose_put_rule(out, &p->rules[i]);
			sep = ",";
		}
	}
	return sep;
}

/* The rules that ask come last: they are for what no other rule covers. */
static int
compose(const struct propose *p, struct buf *out)
{
	struct value_pool *pool = NULL;
	const struct value *root, *v, *r;
	const char *sep = "", *rsep;

	root = policy_tree(&p->base.files[PROTO_RULES_POLICY], &pool);
	buf_reset(out, 0);
	buf_addc(out, '{');
	for (v = root == NULL ? NULL : root->child; v != NULL; v = v->next) {
		/* The constitution does not describe the new rules. */
		if (span_is(v->key, "constitutionHash") ||
		    span_is(v->key, "inputHash"))
			continue;
		buf_adds(out, sep);
		(void)json_write_string(out, v->key);
		buf_addc(out, ':');
		sep = ",";
		if (!span_is(v->key, "rules")) {
			(void)json_write(out, v);
			continue;
		}
		buf_addc(out, '[');
		rsep = put_rules(out, p, false, "");
		for (r = v->child; r != NULL; r = r->next) {
			buf_adds(out, rsep);
			(void)json_write(out, r);
			rsep = ",";
		}
		(void)put_rules(out, p, true, rsep);
		buf_addc(out, ']');
	}
	buf_addc(out, '}');
	value_pool_free(pool);
	if (root != NULL && !out->failed)
		return 0;
	warnx("the policy cannot be read, or is too large");
	return -1;
}

static struct propose_rule *
find_rule(struct propose *p, const char *name)
{
	for (size_t i = 0; i < p->nrules; i++)
		if (!p->rules[i].dropped && strcmp(p->rules[i].name, name) == 0)
			return &p->rules[i];
	return NULL;
}

/* Drop the rule that asks about the call, as another rule does already. */
static int
drop_ask(struct propose *p, const struct propose_call *c)
{
	struct propose_rule *r;

	for (size_t i = 0; i < p->nrules; i++) {
		r = &p->rules[i];
		if (r->dropped || r->then != PROTO_ESCALATE ||
		    !span_eq(r->server, c->request.server))
			continue;
		for (unsigned k = 0; k < r->ntools; k++)
			if (span_eq(r->tools[k], c->request.tool)) {
				r->tools[k] = r->tools[--r->ntools];
				r->dropped = r->ntools == 0;
				return 1;
			}
	}
	return 0;
}

/*
 * Decide one call. Returns 1 if a rule was dropped, 0 if not, or -1 after an
 * error was reported.
 */
static int
judge_call(struct propose *p, struct policyd *pd, struct propose_call *c)
{
	struct policy_decided d;
	struct propose_rule *r;
	bool wide, narrow;

	if (c->settled)
		return 0;
	if (policy_decide(pd, &c->request, true, &d) == -1)
		return -1;
	wide = d.status == PROTO_ALLOW && c->end != PROPOSE_APPROVED &&
	       c->end != PROPOSE_ALLOWED;
	narrow = d.status == PROTO_DENY && (c->end == PROPOSE_APPROVED ||
					       c->end == PROPOSE_ALLOWED);
	if ((wide || narrow) && (r = find_rule(p, d.rule)) != NULL) {
		r->dropped = true;
		return 1;
	}
	if (c->end == PROPOSE_UNCOVERED && find_rule(p, d.rule) == NULL)
		return drop_ask(p, c);
	if (c->end == PROPOSE_APPROVED && d.status != PROTO_ALLOW &&
	    c->why_not == NULL)
		c->why_not = "no rule allows it without also allowing what "
			     "was not approved";
	return 0;
}

static int
judge_all(struct propose *p, struct policyd *pd)
{
	int r;

	for (size_t i = 0; i < p->ncalls; i++)
		if ((r = judge_call(p, pd, &p->calls[i])) != 0)
			return r;
	return 0;
}

int
propose_judge(struct propose *p, struct buf *text)
{
	struct policyd_bad bad;
	struct policy_set trial;
	struct policyd *pd;
	int r = 1;

	while (r == 1) {
		if (compose(p, text) == -1)
			return -1;
		trial = p->base;
		trial.files[PROTO_RULES_POLICY].text =
		    (char *)(uintptr_t)buf_span(text).p;
		trial.files[PROTO_RULES_POLICY].len = text->len;
		pd = policyd_start(p->ctl, p->opts, &trial, true, &bad);
		if (pd == NULL) {
			warnx("%s", bad.fault.text);
			return -1;
		}
		r = judge_all(p, pd);
		policyd_end(pd);
	}
	return r;
}
