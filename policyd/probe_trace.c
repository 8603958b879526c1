/* SPDX-License-Identifier: ISC */
/*
 * Turns the trace of a decision into text while evaluation reports each step.
 * Text from the call is printed as ASCII with escapes.
 */
#include "probe.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/json/json.h"
#include "common/log.h"

#define TRACE_MAX (2U << 20)
#define TRACE_FULL (1U << 20) /* beyond this, only the end is written */

/* Open an object; what is added next are further members of it. */
__attribute__((format(printf, 3, 0))) static bool
open_step(struct probe *p, const char *step, const char *fmt, va_list ap)
{
	char text[3000];

	if (p->out.len > TRACE_FULL)
		return false;
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	buf_adds(&p->out, p->out.len == 1 ? "{\"step\":" : ",{\"step\":");
	(void)json_write_string(&p->out, span_str(step));
	buf_adds(&p->out, ",\"text\":");
	(void)json_write_string(&p->out, span_str(text));
	return true;
}

__attribute__((format(printf, 3, 4))) static void
tell(struct probe *p, const char *step, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (open_step(p, step, fmt, ap))
		buf_addc(&p->out, '}');
	va_end(ap);
}

static const char *
role_text(enum arg_role role)
{
	return role == ARG_COUNT ? "no role" : arg_role_name(role);
}

__attribute__((format(printf, 5, 6))) static void
tell_rule(struct probe *p, size_t index, enum arg_role role, bool matched,
    const char *fmt, ...)
{
	const struct rule *r = &p->env->engine.rules->rules[index];
	va_list ap;

	va_start(ap, fmt);
	if (open_step(p, "rule", fmt, ap)) {
		buf_adds(&p->out, ",\"rule\":");
		(void)json_write_string(&p->out, r->name);
		buf_printf(&p->out, ",\"index\":%zu,\"matched\":%s", index,
		    matched ? "true" : "false");
		if (role != ARG_COUNT)
			buf_printf(
			    &p->out, ",\"role\":\"%s\"", arg_role_name(role));
		buf_addc(&p->out, '}');
	}
	va_end(ap);
}

static const char *
status_text(enum proto_status s)
{
	static const char *const names[] = {
	    [PROTO_ALLOW] = "allow",
	    [PROTO_DENY] = "deny",
	    [PROTO_ESCALATE] = "escalate",
	};

	return names[s];
}

static struct span
value_text(const struct arg_value *v)
{
	if (v->has_path)
		return v->path.host;
	if (v->has_url && v->url.domain.full.len != 0)
		return v->url.domain.full;
	return v->has_url ? v->url.text : v->text;
}

/* Returns ", and as NAME" for a path to which links lead, or "". */
static const char *
named_text(const struct arg_value *v, char *text, size_t cap)
{
	char vis[700];

	text[0] = '\0';
	if (v->has_path && v->path.npassed != 0)
		snprintf(text, cap,
		    ", and by rules that deny or ask also as %s",
		    log_vis(v->path.named, vis, sizeof(vis)));
	return text;
}

/* Write the canonical form of each value with a role. */
static void
tell_values(struct probe *p)
{
	const struct work *k = p->work;
	const struct arg_value *v;
	char vis[700], arg[200], named[800];

	if (p->told)
		return;
	p->told = true;

	for (size_t i = 0; i < k->args.n; i++) {
		v = &k->args.values[i];
		if (!v->has_path && !v->has_url)
			continue;
		tell(p, "value", "%s: judged as %s%s%s",
		    log_vis(v->arg->name, arg, sizeof(arg)),
		    log_vis(value_text(v), vis, sizeof(vis)),
		    named_text(v, named, sizeof(named)),
		    !v->has_path ? ""
		    : eval_in_sandbox(&p->env->engine, &v->path)
			? " (in the workspace)"
		    : v->path.view.p == NULL
			? " (outside the workspace: a session also asks "
			  "whether the server's view holds it)"
			: "");
	}
}

static void
on_role(void *arg, enum arg_role role, bool resolved)
{
	struct probe *p = arg;

	tell_values(p);
	if (resolved)
		tell(p, "role",
		    "%s: all its paths are in the workspace: "
		    "allowed without a rule",
		    role_text(role));
	else
		tell(p, "role", "%s: rules are asked, in order",
		    role_text(role));
}

/* Write which value misses the rule, and which condition it misses. */
static void
tell_miss(
    struct probe *p, const struct request *r, size_t i, enum arg_role role)
{
	const struct engine *e = &p->env->engine;
	const struct rule *rule = &e->rules->rules[i];
	const struct arg_value *v;
	const char *what = eval_miss(e, r, i, role, &v);
	char vis[700], name[300], within[700];

	log_vis(rule->name, name, sizeof(name));
	if (what == NULL) {
		tell_rule(p, i, role, false,
		    "%s: not reached: earlier rules decided "
		    "about every path",
		    name);
		return;
	}
	p->near = p->near || (rule->then != PROTO_DENY && v != NULL);
	if (v == NULL) {
		tell_rule(p, i, role, false,
		    "%s: no: if.%s: the call has no "
		    "such argument",
		    name, what);
		return;
	}
	log_vis(value_text(v), vis, sizeof(vis));
	if (strcmp(what, "paths") == 0 &&
	    eval_within(e, &v->path, &e->places.list[e->sets[i].place]))
		tell_rule(p, i, role, false,
		    "%s: no: if.paths: a link leads to %s that \"links\" does "
		    "not list",
		    name, vis);
	else if (strcmp(what, "paths") == 0)
		tell_rule(p, i, role, false,
		    "%s: no: if.paths: %s is not "
		    "within %s; it would match (then %s) if it were",
		    name, vis, log_vis(rule->within, within, sizeof(within)),
		    status_text(rule->then));
	else
		tell_rule(p, i, role, false,
		    "%s: no: if.%s: \"%s\" is not "
		    "among the allowed values; it would match (then %s) if it "
		    "were",
		    name, what, vis, status_text(rule->then));
}

static void
on_rule(void *arg, const struct request *r, size_t i, enum arg_role role,
    enum eval_tried how)
{
	struct probe *p = arg;
	const struct rule *rule = &p->env->engine.rules->rules[i];
	char name[300];

	log_vis(rule->name, name, sizeof(name));
	switch (how) {
	case EVAL_IRRELEVANT:
		tell_rule(p, i, role, false,
		    "%s: no: its conditions name "
		    "other roles than %s",
		    name, role_text(role));
		break;
	case EVAL_MISSED:
		tell_miss(p, r, i, role);
		break;
	case EVAL_CAPPED:
		tell_rule(p, i, role, true,
		    "%s: may match: no later rule can allow the call; one "
		    "that denies it still does",
		    name);
		break;
	case EVAL_MATCHED:
		tell_rule(p, i, role, true, "%s: MATCHES: %s", name,
		    status_text(rule->then));
		break;
	}
}

static void
on_done(void *arg, enum arg_role role, const struct decision *d)
{
	struct probe *p = arg;
	char rule[300];

	tell(p, "role", "%s: %s by %s", role_text(role), status_text(d->status),
	    log_vis(d->rule, rule, sizeof(rule)));
}

void
probe_begin(struct probe *p, struct policyd_env *env)
{
	*p = (struct probe){.env = env};
	buf_init(&p->out, TRACE_MAX);
	buf_addc(&p->out, '[');
	p->trace = (struct eval_trace){
	    .arg = p, .role = on_role, .rule = on_rule, .done = on_done};
	env->engine.trace = &p->trace;
}

/* Write "path=read-path+write-path, ...". */
static void
tell_annotation(struct probe *p, const struct work *k)
{
	const struct annot_roles *roles;
	struct buf line;
	char name[120];

	buf_init(&line, 2000);
	for (unsigned i = 0; i < k->annot->nargs; i++) {
		roles = annot_arg_roles(&k->annot->args[i], k->tree);
		buf_printf(&line, "%s%s=", i == 0 ? "" : ", ",
		    log_vis(k->annot->args[i].name, name, sizeof(name)));
		for (unsigned r = 0; r < roles->n; r++)
			buf_printf(&line, "%s%s", r == 0 ? "" : "+",
			    arg_role_name((enum arg_role)roles->list[r]));
	}
	tell(p, "annotation", "the tool is annotated: %.*s%s", (int)line.len,
	    line.p == NULL ? "" : (const char *)line.p + line.off,
	    k->annot->nargs == 0 ? "it takes no arguments" : "");
	buf_free(&line);
}

void
probe_call(struct probe *p, const struct work *k, bool whole)
{
	const struct rules *rules = p->env->engine.rules;
	size_t n = 0, all = rules == NULL ? 0 : rules->n;

	p->work = k;
	if (k->srv != NULL && k->srv->trusted) {
		tell(p, "server", "the server is trusted: no rule is asked");
		return;
	}
	if (k->annot == NULL) {
		tell(p, "annotation",
		    "tool-annotations.json does not name "
		    "this tool of this server: no rule can judge it");
		return;
	}
	tell_annotation(p, k);
	if (whole)
		tell(p, "schema",
		    p->schema == NULL
			? "the annotations contain no inputSchema: a session "
			  "checks the arguments against the server's own"
			: "arguments are checked against the inputSchema of "
			  "the annotations");
	for (size_t i = 0; i < all; i++)
		n += rule_names(rules->rules[i].servers, k->server_name) &&
		     rule_names(rules->rules[i].tools, k->tool);
	tell(p, "rules", "%zu of %zu rules are about this server and tool", n,
	    all);
}

static void
tell_change(struct probe *p, const struct work *k)
{
	const struct decision *d = &k->d;

	if (d->status == PROTO_ALLOW)
		return;
	if (span_is(d->rule, "default-deny"))
		tell(p, "change",
		    "To change it: %s a rule must speak for "
		    "every value of every role above.",
		    p->near ? "a rule above needs a wider condition;"
			    : "no rule above comes near;");
	else if (span_is(d->rule, "structural-protected-path"))
		tell(p, "change",
		    "To change it: name another path; no rule "
		    "can allow what is protected.");
	else if (span_is(d->rule, "structural-domain-escalate"))
		tell(p, "change",
		    "To change it: add the domain to the "
		    "server's allowedDomains.");
	else if (span_is(d->rule, "missing-annotation") ||
		 span_is(d->rule, "structural-unknown-tool") ||
		 span_is(d->rule, "unknown-tool"))
		tell(p, "change",
		    "To change it: annotate the tool's "
		    "arguments (icctl mcp annotate SERVER), then write a "
		    "rule for it.");
	else if (span_starts(d->rule, SPAN("narrowed-")))
		tell(p, "change",
		    "To change it: take that text out of the settings; no "
		    "rule can allow it as it is.");
	else if (d->by != NULL && d->status == PROTO_ESCALATE)
		tell(p, "change",
		    "To change it: approve the call when it is "
		    "pending, or put an allow rule before this one.");
	else if (d->by != NULL)
		tell(p, "change",
		    "To change it: put a narrower rule before "
		    "this one.");
	else
		tell(p, "change",
		    "To change it: change the argument that the "
		    "reason names; no rule can allow it as it is.");
}

struct span
probe_end(struct probe *p, const struct work *k)
{
	char rule[300], reason[2100];

	p->env->engine.trace = NULL;
	p->out.max = PROTO_MAX_TREE;
	if (p->out.len > TRACE_FULL) {
		buf_adds(&p->out, ",{\"step\":\"cut\",\"text\":"
				  "\"more steps than are shown\"}");
	} else {
		tell_values(p);
		tell_change(p, k);
		tell(p, "decision", "%s by %s: %s", status_text(k->d.status),
		    log_vis(k->d.rule, rule, sizeof(rule)),
		    log_vis(k->d.reason, reason, sizeof(reason)));
	}
	buf_addc(&p->out, ']');
	return p->out.failed ? SPAN("[]") : buf_span(&p->out);
}
