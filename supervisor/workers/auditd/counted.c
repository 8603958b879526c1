/* SPDX-License-Identifier: ISC */
/*
 * Refused calls, and requests that nobody could be asked about. In each minute
 * the first 20 of a kind are records of their own, written before the agent is
 * answered. Later ones are only counted: one line a second for each kind says
 * how many there were, and when the first and the last one came. So an agent
 * cannot fill the disk with refusals, and nothing that was released, or waited
 * for a person, comes here.
 *
 * Server, tool, rule and reason make a kind. An agent can invent tools, and
 * with them kinds: when the table is full of kinds of the last minute, others
 * are counted by their rule alone, and then all together.
 */
#include "workers/auditd/auditd.h"

#include "common/log.h"

/*
 * In a minute a kind has this many records, and all kinds have this many bytes
 * of arguments in records.
 */
#define COUNTED_WHOLE 20U
#define COUNTED_BYTES (16U << 20)
#define COUNTED_MINUTE 60000U /* ms */
#define COUNTED_MS 1000U      /* between two lines about a kind */
#define COUNTED_KINDS 64U
#define COUNTED_RULES 16U /* rows for other kinds; the last has all rules */

struct counted_kind {
	bool request; /* a request of the model path, not a call */
	uint8_t status;
	struct span server, tool, rule, reason;
};

struct counted_row {
	bool used, request;
	bool others; /* counts several kinds; the names are those of the last */
	uint8_t status;
	uint64_t since; /* loop ms: when its minute began */
	unsigned whole; /* refusals of that minute with their own record */
	uint64_t count; /* refusals without one, not written yet */
	uint64_t first, last; /* wall-clock us of those */
	char server[65], tool[257], rule[257], reason[2049];
};

static struct {
	struct counted_row kinds[COUNTED_KINDS], rules[COUNTED_RULES];
	struct loop_timer timer;
	bool waiting;   /* a row has a count that is not written */
	uint64_t since; /* loop ms: when the minute of `bytes` began */
	size_t bytes;
} counted_env;

static void
row_write(struct counted_row *r)
{
	struct auditlog_line l;

	auditd_line(&l, r->request ? "refusedRequests" : "refusedCalls");
	auditlog_u64(&l, "count", r->count);
	auditlog_time(&l, "first", r->first);
	auditlog_time(&l, "last", r->last);
	if (r->others)
		auditlog_bool(&l, "others", true);
	auditd_decision(&l, r->status, span_str(r->rule), span_str(r->reason));
	auditlog_str(&l, "serverName", span_str(r->server));
	auditlog_str(&l, "toolName", span_str(r->tool));
	auditd_line_end(&l);
	r->count = 0;
}

void
auditd_counted_flush(void)
{
	loop_timer_clear(&auditd_env.w.loop, &counted_env.timer);
	if (!counted_env.waiting)
		return;
	for (size_t i = 0; i < COUNTED_KINDS; i++)
		if (counted_env.kinds[i].count != 0)
			row_write(&counted_env.kinds[i]);
	for (size_t i = 0; i < COUNTED_RULES; i++)
		if (counted_env.rules[i].count != 0)
			row_write(&counted_env.rules[i]);
	counted_env.waiting = false;
}

static void
counted_due(struct loop_timer *t)
{
	auditd_counted_flush();
}

/* Fill in the names of a row. The protocol's limits are those of its fields. */
static void
row_name(struct counted_row *r, const struct counted_kind *k)
{
	r->used = true;
	r->request = k->request;
	r->status = k->status;
	if (span_copy(k->server, r->server, sizeof(r->server)) == -1 ||
	    span_copy(k->tool, r->tool, sizeof(r->tool)) == -1 ||
	    span_copy(k->rule, r->rule, sizeof(r->rule)) == -1 ||
	    span_copy(k->reason, r->reason, sizeof(r->reason)) == -1)
		fatalx("a refusal with a longer name than the protocol has");
}

static bool
row_is(const struct counted_row *r, const struct counted_kind *k)
{
	return r->used && r->request == k->request && r->status == k->status &&
	       span_is(k->tool, r->tool) && span_is(k->server, r->server) &&
	       span_is(k->rule, r->rule) && span_is(k->reason, r->reason);
}

static bool
row_is_over(const struct counted_row *r, uint64_t now)
{
	return !r->used || (now - r->since >= COUNTED_MINUTE && r->count == 0);
}

/*
 * Returns the row for a kind that has no row of its own: that of its rule, or
 * the last one, which takes all further rules.
 */
static struct counted_row *
row_others(const struct counted_kind *k, uint64_t now)
{
	struct counted_row *r, *free = NULL;

	for (size_t i = 0; i < COUNTED_RULES - 1; i++) {
		r = &counted_env.rules[i];
		if (r->used && r->request == k->request &&
		    span_is(k->rule, r->rule))
			goto found;
		if (free == NULL && row_is_over(r, now))
			free = r;
	}
	r = free != NULL ? free : &counted_env.rules[COUNTED_RULES - 1];
	if (free != NULL)
		*r = (struct counted_row){.since = now};
found:
	/* A line is about requests or about calls. */
	if (r->count != 0 && r->request != k->request)
		row_write(r);
	r->others = true;
	row_name(r, k);
	return r;
}

static struct counted_row *
row_find(const struct counted_kind *k, uint64_t now)
{
	struct counted_row *r, *free = NULL;

	for (size_t i = 0; i < COUNTED_KINDS; i++) {
		r = &counted_env.kinds[i];
		if (row_is(r, k))
			return r;
		if (free == NULL && row_is_over(r, now))
			free = r;
	}
	if (free == NULL)
		return row_others(k, now);
	*free = (struct counted_row){.since = now};
	row_name(free, k);
	return free;
}

/* Returns true if a record of `bytes` more fits into this minute. */
static bool
bytes_take(size_t bytes, uint64_t now)
{
	if (now - counted_env.since >= COUNTED_MINUTE) {
		counted_env.since = now;
		counted_env.bytes = 0;
	}
	if (bytes > COUNTED_BYTES - counted_env.bytes)
		return false;
	counted_env.bytes += bytes;
	return true;
}

/* `bytes`: the length of its arguments in a record of its own. */
static bool
counted_take(const struct counted_kind *k, size_t bytes)
{
	uint64_t now = loop_now(&auditd_env.w.loop);
	struct counted_row *r = row_find(k, now);

	if (now - r->since >= COUNTED_MINUTE) {
		r->since = now;
		r->whole = 0;
	}
	if (r->whole < COUNTED_WHOLE && bytes_take(bytes, now)) {
		r->whole++;
		return false;
	}
	r->last = clock_wall_us();
	if (r->count++ == 0)
		r->first = r->last;
	counted_env.waiting = true;
	if (counted_env.timer.at == 0)
		loop_timer_set(&auditd_env.w.loop, &counted_env.timer,
		    COUNTED_MS, counted_due, NULL);
	return true;
}

bool
auditd_counted_call(const struct msg_RELEASE *m)
{
	const struct counted_kind k = {.status = m->status,
	    .server = m->server_name,
	    .tool = m->tool,
	    .rule = m->rule,
	    .reason = m->reason};

	/* Calls that were allowed, or waited for a person, are never merged. */
	if (m->forward != 0 || m->status == PROTO_ALLOW ||
	    m->hold != PROTO_HOLD_NONE)
		return false;
	return counted_take(&k, m->log_len != 0 ? m->log_len : m->args_len);
}

bool
auditd_counted_request(const struct msg_REQUEST_UNAPPROVED *m)
{
	const struct counted_kind k = {.request = true,
	    .status = PROTO_ESCALATE,
	    .server = m->name,
	    .tool = m->tool,
	    .rule = SPAN("ask-route"),
	    .reason = SPAN("headless")};

	return m->hold == PROTO_HOLD_NONE &&
	       m->reason != PROTO_REFUSED_LARGE &&
	       counted_take(&k, m->preview.len);
}
