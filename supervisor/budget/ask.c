/* SPDX-License-Identifier: ISC */
/*
 * Asks the person whether a limit is to be raised, before it is reached: a
 * pending entry like that of a call. auditd records the question before it is
 * shown, and the answer before it counts.
 */
#include "budget/priv.h"

#include <stdio.h>
#include <string.h>

#include "common/json/json.h"
#include "common/sha256.h"
#include "core/sup.h"
#include "hub/approvals.h"

#define ASK_TEXT 4096U
#define ASK_NUMBER 96U

static void
ask_number(char dst[ASK_NUMBER], enum budget_key key, double n)
{
	(void)snprintf(dst, ASK_NUMBER, "%.15g %s", n, budget_unit(key, n));
}

/* Compose the arguments, and the digest of what is asked. */
static int
ask_compose(struct buf *args, enum budget_key key, struct budget_ask *q)
{
	const struct budget_env *b = &budget_env;
	char now[ASK_NUMBER], then[ASK_NUMBER], used[ASK_NUMBER];
	struct buf text;
	int rv;

	ask_number(now, key, b->limits.max[key]);
	ask_number(then, key, q->to);
	ask_number(used, key, budget_shown(key));
	buf_adds(args, "{\"limit\":");
	(void)json_write_string(args, span_str(now));
	buf_adds(args, ",\"raisedTo\":");
	(void)json_write_string(args, span_str(then));
	buf_adds(args, ",\"used\":");
	(void)json_write_string(args, span_str(used));
	buf_addc(args, '}');
	buf_init(&text, ASK_TEXT);
	buf_printf(&text, "[\"budget\",\"%s\",", budget_name(key));
	buf_addspan(&text, buf_span(args));
	buf_addc(&text, ']');
	rv = buf_check(&text);
	if (rv == 0)
		sha256_span(buf_span(&text), q->digest);
	q->nargs = (uint32_t)args->len;
	/* The new limit is a resource, so that it is shown first. */
	buf_adds(args, "{\"asks\":[],\"resources\":[{\"argument\":"
		       "\"raisedTo\",\"role\":\"new limit\",\"value\":");
	(void)json_write_string(args, span_str(then));
	buf_adds(args, "}]}");
	if (args->failed)
		rv = -1;
	buf_free(&text);
	return rv;
}

/* Send the question to auditd, which records it and returns it. */
static int
ask_send(enum budget_key key, struct budget_ask *q)
{
	const char *of = budget_is_turn(key) ? "turn" : "session";
	const struct budget_env *b = &budget_env;
	char effect[300], reason[200], rule[64];
	struct buf args;
	struct msg_HOLD m = {.id = q->id,
	    .digest = span_of(q->digest, sizeof(q->digest)),
	    .server = PROTO_NO_SERVER,
	    .server_name = SPAN("budget"),
	    .tool = span_str(budget_name(key)),
	    .session = SPAN("")};
	int rv;

	buf_init(&args, ASK_TEXT);
	if ((rv = ask_compose(&args, key, q)) == 0) {
		snprintf(effect, sizeof(effect),
		    "Raises the %s's limit from %.15g to %.15g %s; %.15g "
		    "are used",
		    of, b->limits.max[key], q->to, budget_unit(key, q->to),
		    budget_shown(key));
		snprintf(reason, sizeof(reason),
		    "The %s has used %.0f %% of %s", of,
		    100 * budget_used(key) / b->limits.max[key],
		    budget_name(key));
		snprintf(
		    rule, sizeof(rule), "resourceBudget.%s", budget_name(key));
		m.effect = span_str(effect);
		m.reason = span_str(reason);
		m.rule = span_str(rule);
		m.args = q->nargs;
		m.preview = buf_span(&args);
		child_send(ROLE_AUDIT, 0, MSG_HOLD, &m, -1);
	}
	buf_free(&args);
	return rv;
}

bool
budget_ask(enum budget_key key)
{
	struct budget_env *b = &budget_env;
	struct budget_ask *q = &b->asks[key];

	if (q->done)
		return q->id != 0;
	q->to = b->limits.max[key] + b->step[key];
	if (!sup.opt.ask || !b->started || b->step[key] <= 0 ||
	    !budget_value_ok(key, q->to))
		return false;
	q->id = PROTO_BUDGET_ID | ++b->nasks << 8 | (uint64_t)key;
	if (ask_send(key, q) == -1) {
		q->id = 0;
		return false;
	}
	q->done = true;
	return true;
}

bool
budget_asks(uint64_t id)
{
	for (unsigned i = 0; i < BUDGET_KEYS; i++)
		if (budget_env.asks[i].id == id)
			return true;
	return false;
}

void
budget_ask_again(enum budget_key key)
{
	struct budget_ask *q = &budget_env.asks[key];
	uint64_t id = q->id;

	*q = (struct budget_ask){.id = 0};
	/* It may not have been shown yet; then it never is. */
	if (id != 0)
		(void)approvals_end(id, PROTO_HOLD_CANCELLED, false);
}

bool
budget_ask_end(const struct msg_VERDICT_GO *m, enum budget_key *key)
{
	struct budget_ask *q;

	for (unsigned i = 0; i < BUDGET_KEYS; i++) {
		q = &budget_env.asks[i];
		if (q->id == 0 || q->id != m->id || m->session.len != 0 ||
		    !span_eq(m->digest, span_of(q->digest, sizeof(q->digest))))
			continue;
		q->id = 0;
		*key = (enum budget_key)i;
		return true;
	}
	return false;
}
