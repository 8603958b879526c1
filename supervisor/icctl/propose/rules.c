/* SPDX-License-Identifier: ISC */
/*
 * Makes rules of recorded calls. Two calls of a tool become one rule only if
 * they differ in the values of one condition, so that the rule allows exactly
 * these calls; two tools become one rule only if they touched the same.
 */
#include "icctl/propose/propose.h"

#include <stdio.h>
#include <string.h>

static enum proto_status
rule_then(enum propose_end end)
{
	switch (end) {
	case PROPOSE_APPROVED:
		return PROTO_ALLOW;
	case PROPOSE_UNCOVERED:
		return PROTO_ESCALATE;
	case PROPOSE_DENIED:
	case PROPOSE_WITHHELD:
	case PROPOSE_ALLOWED:
		break;
	}
	return PROTO_DENY;
}

static bool
dim_eq(const struct propose_dim *a, const struct propose_dim *b)
{
	if (a->roles != b->roles || a->n != b->n || a->within != b->within)
		return false;
	for (unsigned i = 0; i < a->n; i++)
		if (!span_eq(a->values[i], b->values[i]))
			return false;
	return true;
}

/*
 * Returns the number of conditions that differ, with the last of them in
 * `*which`; or UINT32_MAX if the rules cannot be compared.
 */
static unsigned
rule_differs(const struct propose_rule *r, const struct propose_dim *dims,
    unsigned n, unsigned *which)
{
	unsigned differ = 0;

	if (r->ndims != n)
		return UINT32_MAX;
	for (unsigned i = 0; i < n; i++) {
		if (dim_eq(&r->dims[i], &dims[i]))
			continue;
		if (r->dims[i].roles != dims[i].roles || r->dims[i].within ||
		    dims[i].within)
			return UINT32_MAX;
		*which = i;
		differ++;
	}
	return differ;
}

/* Add the values. Returns false, with nothing changed, if there is no room. */
static bool
dim_merge(struct propose_dim *to, const struct propose_dim *from)
{
	unsigned k;

	if (to->n + from->n > PROPOSE_MAX_VALUES)
		return false;
	for (unsigned i = 0; i < from->n; i++) {
		for (k = to->n; k > 0; k--) {
			int r = span_cmp(to->values[k - 1], from->values[i]);

			if (r <= 0)
				break;
		}
		if (k > 0 && span_eq(to->values[k - 1], from->values[i]))
			continue;
		memmove(&to->values[k + 1], &to->values[k],
		    (to->n - k) * sizeof(to->values[0]));
		to->values[k] = from->values[i];
		to->n++;
	}
	return true;
}

static bool
rule_merge(struct propose *p, const struct propose_call *c,
    enum proto_status then, const struct propose_dim *dims, unsigned n)
{
	struct propose_rule *r;
	unsigned which = 0, differ;

	for (size_t i = 0; i < p->nrules; i++) {
		r = &p->rules[i];
		if (r->then != then || !span_eq(r->server, c->request.server) ||
		    !span_eq(r->tools[0], c->request.tool))
			continue;
		differ = rule_differs(r, dims, n, &which);
		if (differ > 1 ||
		    (differ == 1 && !dim_merge(&r->dims[which], &dims[which])))
			continue;
		r->times += c->times;
		return true;
	}
	return false;
}

static void
rule_add(struct propose *p, const struct propose_call *c,
    enum proto_status then, const struct propose_dim *dims, unsigned n)
{
	struct propose_rule *r;

	if (rule_merge(p, c, then, dims, n))
		return;
	if (p->nrules == PROPOSE_MAX_RULES) {
		p->failed = true;
		return;
	}
	r = &p->rules[p->nrules++];
	*r = (struct propose_rule){.then = then,
	    .server = c->request.server,
	    .tools = {c->request.tool},
	    .ntools = 1,
	    .times = c->times,
	    .ndims = n};
	if (n == 0)
		return;
	if ((r->dims = value_pool_alloc(p->pool, n * sizeof(*dims))) == NULL) {
		p->failed = true;
		r->ndims = 0;
		p->nrules--;
		return;
	}
	memcpy(r->dims, dims, n * sizeof(*dims));
}

/* A rule that denies matches any of several values, so it would deny more. */
static const char *
deny_why_not(const struct propose_call *c, const struct propose_dim *dims,
    unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (dims[i].n != 1)
			return "it named several things, and the rule would "
			       "deny each of them";
	if (n == 0 && c->request.args->count != 0)
		return "a rule could only deny the tool as a whole";
	return NULL;
}

static void
rule_of_call(struct propose *p, struct propose_call *c)
{
	static struct propose_dim dims[ARG_COUNT];
	enum proto_status then = rule_then(c->end);
	unsigned n;

	if (c->end == PROPOSE_UNCOVERED) {
		rule_add(p, c, then, NULL, 0);
		return;
	}
	n = propose_values(p, c, dims);
	if (c->why_not == NULL && then == PROTO_DENY)
		c->why_not = deny_why_not(c, dims, n);
	if (c->why_not == NULL)
		rule_add(p, c, then, dims, n);
}

/* Add the tool of `from` to a rule that is the same otherwise. */
static bool
rule_join(struct propose_rule *to, const struct propose_rule *from)
{
	unsigned which;

	if (to->then != from->then || !span_eq(to->server, from->server) ||
	    to->ntools == PROPOSE_MAX_TOOLS ||
	    (to->ndims == 0 && to->then == PROTO_ALLOW) ||
	    rule_differs(to, from->dims, from->ndims, &which) != 0)
		return false;
	to->tools[to->ntools++] = from->tools[0];
	to->times += from->times;
	return true;
}

static void
rules_join(struct propose *p)
{
	size_t out = 0, k;

	for (size_t i = 0; i < p->nrules; i++) {
		for (k = 0; k < out; k++)
			if (rule_join(&p->rules[k], &p->rules[i]))
				break;
		if (k == out)
			p->rules[out++] = p->rules[i];
	}
	p->nrules = out;
}

/* Give each rule a name that the base does not have. */
static void
rules_name(struct propose *p)
{
	const struct policy_file *f = &p->base.files[PROTO_RULES_POLICY];
	static const char *const kinds[] = {[PROTO_ALLOW] = "allow",
	    [PROTO_DENY] = "deny",
	    [PROTO_ESCALATE] = "ask"};
	unsigned number[3] = {0};

	for (size_t i = 0; i < p->nrules; i++) {
		struct propose_rule *r = &p->rules[i];

		do {
			snprintf(r->name, sizeof(r->name), "recorded-%s-%u",
			    kinds[r->then], ++number[r->then]);
		} while (memmem(f->text, f->len, r->name, strlen(r->name)) !=
			 NULL);
	}
}

/*
 * If the same call ended in several ways, the best informed answer counts: none
 * if it was both approved and denied, and the approval if it expired, too.
 */
static void
calls_compare(struct propose_call *a, struct propose_call *b)
{
	if (a->end != PROPOSE_APPROVED || a->end == b->end ||
	    !span_eq(a->request.tool, b->request.tool) ||
	    !span_eq(a->request.server, b->request.server) ||
	    !value_eq(a->request.args, b->request.args))
		return;
	if (b->end == PROPOSE_DENIED) {
		a->why_not = "you also denied it";
		b->why_not = "you also approved it";
	} else {
		b->settled = true;
	}
}

void
propose_rules(struct propose *p)
{
	for (size_t i = 0; i < p->ncalls; i++)
		for (size_t k = 0; k < p->ncalls; k++)
			calls_compare(&p->calls[i], &p->calls[k]);
	for (size_t i = 0; i < p->ncalls; i++) {
		struct propose_call *c = &p->calls[i];

		if (c->why_not == NULL &&
		    (c->end == PROPOSE_APPROVED || c->end == PROPOSE_DENIED ||
			c->end == PROPOSE_UNCOVERED))
			rule_of_call(p, c);
	}
	rules_join(p);
	rules_name(p);
}
