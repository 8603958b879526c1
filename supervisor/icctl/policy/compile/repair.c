/* SPDX-License-Identifier: ISC */
/*
 * A patch of a server's rules. It may only touch rules that decided a failed
 * scenario or that the judge blamed, and add new ones; the result is checked
 * like any other proposal.
 */
#include "icctl/policy/compile/compile.h"

#include <stdio.h>
#include <string.h>

#include "common/json/json.h"
#include "common/log.h"

struct patch {
	struct compile *c;
	struct compile_server *server;
	const struct value *blamed;
	const struct value *result; /* the rules after the patch */
};

static bool
is_blamed(const struct value *blamed, struct span name)
{
	const struct value *v = blamed->child;

	while (v != NULL && !span_eq(v->text, name))
		v = v->next;
	return v != NULL;
}

/* Check one operation against the rules as they were. */
static int
check_operation(const struct patch *p, const struct value *op, const char *at,
    struct fault *fault)
{
	struct span kind = value_str(op, "op"), name = value_str(op, "name");
	struct span before = value_str(op, "before");
	const struct value *rule = value_get(op, "rule");
	char vis[200], place[100];

	if (name.p != NULL && rules_named(p->server->rules, name) == NULL)
		return fault_set(fault, "%s/name: there is no rule \"%s\"", at,
		    log_vis(name, vis, sizeof(vis)));
	if (before.p != NULL && rules_named(p->server->rules, before) == NULL)
		return fault_set(fault, "%s/before: there is no rule \"%s\"",
		    at, log_vis(before, vis, sizeof(vis)));
	if (name.p != NULL && !is_blamed(p->blamed, name))
		return fault_set(fault,
		    "%s/name: the rule \"%s\" decided no failed scenario and "
		    "stays as it is", at, log_vis(name, vis, sizeof(vis)));
	if (span_is(kind, "update") &&
	    !span_eq(value_str(rule, "name"), name))
		return fault_set(
		    fault, "%s/rule/name: must stay the same", at);
	if (rule == NULL)
		return 0;
	snprintf(place, sizeof(place), "%s/rule", at);
	return rules_check_one(
	    p->server, rule, p->server->lists, place, fault);
}

/* Returns the operation on this rule, or NULL. */
static const struct value *
operation_on(const struct value *ops, const char *kind, const char *member,
    struct span name)
{
	const struct value *v = ops->child;

	while (v != NULL && !(span_is(value_str(v, "op"), kind) &&
				span_eq(value_str(v, member), name)))
		v = v->next;
	return v;
}

static void
put_rule(struct buf *b, const struct value *rule, bool *more)
{
	buf_adds(b, *more ? "," : "");
	(void)json_write(b, rule);
	*more = true;
}

static void
put_added(
    struct buf *b, const struct value *ops, struct span before, bool *more)
{
	for (const struct value *v = ops->child; v != NULL; v = v->next)
		if (span_is(value_str(v, "op"), "add") &&
		    (before.p == NULL
			    ? value_str(v, "before").p == NULL
			    : span_eq(value_str(v, "before"), before)))
			put_rule(b, value_get(v, "rule"), more);
}

/* Compose the rules after the patch. */
static void
apply(struct patch *p, const struct value *ops)
{
	const struct value *v = p->server->rules->child, *op;
	bool more = false;
	struct buf b;

	buf_init(&b, (size_t)8 << 20);
	buf_addc(&b, '[');
	for (; v != NULL; v = v->next) {
		struct span name = value_str(v, "name");

		put_added(&b, ops, name, &more);
		if (operation_on(ops, "delete", "name", name) != NULL)
			continue;
		op = operation_on(ops, "update", "name", name);
		put_rule(&b, op != NULL ? value_get(op, "rule") : v, &more);
	}
	put_added(&b, ops, (struct span){0}, &more);
	buf_addc(&b, ']');
	p->result = pool_json(p->c, buf_span(&b));
	buf_free(&b);
}

static int
repair_check(void *arg, const struct value *reply, struct fault *fault)
{
	const struct value *ops = value_get(reply, "operations"), *v, *w;
	struct patch *p = arg;
	char at[64];
	unsigned i = 0;

	for (v = ops->child; v != NULL; v = v->next) {
		snprintf(at, sizeof(at), "/operations/%u", i++);
		if (check_operation(p, v, at, fault) == -1)
			return -1;
		for (w = ops->child; w != v; w = w->next)
			if (value_str(v, "name").p != NULL &&
			    span_eq(value_str(w, "name"), value_str(v, "name")))
				return fault_set(
				    fault, "%s: changes a rule twice", at);
	}
	apply(p, ops);
	return rules_check(p->c, p->server, p->result, p->server->lists, fault);
}

int
repair_ask(struct compile *c, struct compile_server *s, struct span failed,
    const struct value *blamed, struct fault *fault)
{
	struct patch p = {c, s, blamed, NULL};
	struct ask_part parts[5] = {{"constitution", {0}}, {"server", s->name},
	    {"tools", {0}}, {"rules", {0}}, {"failed test cases", failed}};
	const struct ask q = {"repair", parts, nitems(parts), repair_check, &p};
	struct buf text, tools, rules;
	int rv = -1;

	buf_init(&text, (size_t)1 << 20);
	buf_init(&tools, (size_t)1 << 20);
	buf_init(&rules, (size_t)8 << 20);
	quote_add(&text, span_str(c->constitution), COMPILE_MAX_TEXT);
	server_describe(s, &tools);
	(void)json_write(&rules, s->rules);
	parts[0].text = buf_span(&text);
	parts[2].text = buf_span(&tools);
	parts[3].text = buf_span(&rules);
	if (compile_ask(c, &q, NULL, fault) != NULL) {
		s->rules = p.result;
		rv = 0;
	}
	buf_free(&text);
	buf_free(&tools);
	buf_free(&rules);
	return rv;
}
