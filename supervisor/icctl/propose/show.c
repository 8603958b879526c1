/* SPDX-License-Identifier: ISC */
/*
 * Shows a proposal: each new allow by server, tool and value, with the reason.
 * An agent chose the values, so that invisible characters are escaped.
 */
#include "icctl/propose/propose.h"

#include <string.h>

#include "common/json/json.h"
#include "common/plural.h"

#define SHOW_MAX ((size_t)256 << 20)

unsigned
propose_count(const struct propose *p, enum proto_status then)
{
	unsigned n = 0;

	for (size_t i = 0; i < p->nrules; i++)
		n += !p->rules[i].dropped && p->rules[i].then == then;
	return n;
}

/* The number of recorded calls that ended so. */
static unsigned
calls_that(const struct propose *p, enum propose_end end)
{
	unsigned n = 0;

	for (size_t i = 0; i < p->ncalls; i++)
		if (p->calls[i].end == end)
			n += p->calls[i].times;
	return n;
}

static void
put_values(struct buf *out, const struct propose_dim *d)
{
	const char *sep = "      ";

	for (unsigned r = 0; r < ARG_COUNT; r++) {
		if (!(d->roles & ARG_BIT(r)))
			continue;
		buf_printf(out, "%s%s", sep, arg_role_name((enum arg_role)r));
		sep = ", ";
	}
	buf_adds(out, d->n == 1 ? " " : " one of\n");
	for (unsigned i = 0; i < d->n; i++) {
		buf_adds(out, d->n == 1 ? "" : "        ");
		(void)json_write_string(out, d->values[i]);
		buf_adds(
		    out, d->within ? " and everything below it\n" : "\n");
	}
}

static void
put_rule(struct buf *out, const struct propose_rule *r)
{
	buf_printf(out, "  %s: ", r->name);
	buf_addspan(out, r->server);
	for (unsigned i = 0; i < r->ntools; i++) {
		buf_adds(out, i == 0 ? " " : ", ");
		buf_addspan(out, r->tools[i]);
	}
	buf_addc(out, '\n');
	for (unsigned i = 0; i < r->ndims; i++)
		put_values(out, &r->dims[i]);
	if (r->ndims == 0 && r->then == PROTO_ALLOW)
		buf_adds(out, "      WITH ANY ARGUMENTS: the tool names nothing "
			      "that a rule could limit\n");
	buf_printf(out, "      because %s %u time%s\n",
	    r->then == PROTO_ALLOW  ? "you approved it"
	    : r->then == PROTO_DENY ? "you denied it"
				    : "no rule covered it, and it was refused,",
	    r->times, plural(r->times));
}

static void
put_kind(struct buf *out, const struct propose *p, enum proto_status then,
    const char *title)
{
	if (propose_count(p, then) == 0)
		return;
	buf_printf(out, "\n%s\n", title);
	for (size_t i = 0; i < p->nrules; i++)
		if (!p->rules[i].dropped && p->rules[i].then == then)
			put_rule(out, &p->rules[i]);
}

static void
put_left_out(struct buf *out, const struct propose *p)
{
	const char *title = "\nNot proposed; these are decided as before:\n";
	const struct propose_call *c;

	for (size_t i = 0; i < p->ncalls; i++) {
		c = &p->calls[i];
		if (c->why_not == NULL || (c->end != PROPOSE_APPROVED &&
					      c->end != PROPOSE_DENIED))
			continue;
		buf_adds(out, title);
		title = "";
		buf_adds(out, "  ");
		buf_addspan(out, c->request.server);
		buf_adds(out, "__");
		buf_addspan(out, c->request.tool);
		buf_printf(out, ", which you %s: %s\n",
		    c->end == PROPOSE_APPROVED ? "approved" : "denied",
		    c->why_not);
	}
}

static int
show_flush(struct buf *text)
{
	struct buf visible;
	int r;

	buf_init(&visible, SHOW_MAX);
	policy_visible(&visible, buf_span(text));
	r = policy_flush(&visible);
	buf_free(&visible);
	return r;
}

void
propose_show(const struct propose *p)
{
	struct buf out;

	buf_init(&out, SHOW_MAX);
	buf_printf(&out,
	    "Recorded: %u call%s approved, %u denied, %u refused by no rule, "
	    "%u unanswered or refused by a rule.\n",
	    calls_that(p, PROPOSE_APPROVED),
	    plural(calls_that(p, PROPOSE_APPROVED)),
	    calls_that(p, PROPOSE_DENIED), calls_that(p, PROPOSE_UNCOVERED),
	    calls_that(p, PROPOSE_WITHHELD));
	put_kind(&out, p, PROTO_ALLOW, "ALLOWED from now on, without asking:");
	put_kind(&out, p, PROTO_DENY, "DENIED from now on, without asking:");
	put_kind(
	    &out, p, PROTO_ESCALATE, "ASKED about from now on, not denied:");
	put_left_out(&out, p);
	buf_printf(&out, "\nEverything else is decided as by %s.\n",
	    p->base_name);
	(void)show_flush(&out);
	buf_free(&out);
}

static void
put_json_rules(struct buf *out, const struct propose *p)
{
	const char *sep = "";

	buf_adds(out, "\"rules\":[");
	for (size_t i = 0; i < p->nrules; i++) {
		if (p->rules[i].dropped)
			continue;
		buf_printf(out, "%s{\"calls\":%u,\"rule\":", sep,
		    p->rules[i].times);
		propose_put_rule(out, &p->rules[i]);
		buf_addc(out, '}');
		sep = ",";
	}
	buf_adds(out, "],");
}

static void
put_json_left_out(struct buf *out, const struct propose *p)
{
	const struct propose_call *c;
	const char *sep = "";

	buf_adds(out, "\"notProposed\":[");
	for (size_t i = 0; i < p->ncalls; i++) {
		c = &p->calls[i];
		if (c->why_not == NULL || (c->end != PROPOSE_APPROVED &&
					      c->end != PROPOSE_DENIED))
			continue;
		buf_printf(out, "%s{\"approved\":%s,", sep,
		    c->end == PROPOSE_APPROVED ? "true" : "false");
		policy_put_member(out, "serverName", c->request.server);
		buf_addc(out, ',');
		policy_put_member(out, "toolName", c->request.tool);
		buf_adds(out, ",\"arguments\":");
		(void)json_write(out, c->request.args);
		buf_addc(out, ',');
		policy_put_member(out, "why", span_str(c->why_not));
		buf_addc(out, '}');
		sep = ",";
	}
	buf_adds(out, "]");
}

int
propose_show_json(const struct propose *p)
{
	struct buf out;
	int r;

	buf_init(&out, SHOW_MAX);
	buf_printf(&out,
	    "{\"approved\":%u,\"denied\":%u,\"uncovered\":%u,\"withheld\":%u,",
	    calls_that(p, PROPOSE_APPROVED), calls_that(p, PROPOSE_DENIED),
	    calls_that(p, PROPOSE_UNCOVERED), calls_that(p, PROPOSE_WITHHELD));
	policy_put_member(&out, "base", span_str(p->base_name));
	buf_addc(&out, ',');
	put_json_rules(&out, p);
	put_json_left_out(&out, p);
	buf_adds(&out, "}\n");
	r = show_flush(&out);
	buf_free(&out);
	return r;
}
