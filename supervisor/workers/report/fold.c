/* SPDX-License-Identifier: ISC */
/*
 * Adds up what a log says of costs and calls, by quarters of an hour and by
 * models. A record of usage has tokens and no price: the states of the session
 * say what was counted as its cost then. What is more in a state than in the
 * one before is divided among the answers between them, by their tokens, so
 * that the sum is the session's own, to the last micro-dollar.
 */
#include "workers/report/parts.h"

#include <stdio.h>
#include <string.h>

#define FOLD_ROWS 256U

static struct {
	struct report_row rows[FOLD_ROWS];
	unsigned n;
} fold;

/* The events that are added up. */
static const enum report_event fold_events[] = {EVENT_start, EVENT_state,
    EVENT_usage, EVENT_call, EVENT_refusedCalls, EVENT_modelResponse};

static void
fold_flush(void)
{
	for (unsigned i = 0; i < fold.n; i++)
		report_put(REPORT_ROW,
		    span_of(&fold.rows[i], sizeof(fold.rows[i])), SPAN(""));
	fold.n = 0;
}

/* Returns the row of a slot and a model; the newest rows are looked at first.
 */
static struct report_row *
fold_row(int64_t slot, const char *model)
{
	struct report_row *r;

	for (unsigned i = fold.n; i-- > 0;) {
		r = &fold.rows[i];
		if (r->slot == slot && strcmp(r->model, model) == 0)
			return r;
	}
	if (fold.n == FOLD_ROWS)
		fold_flush();
	r = &fold.rows[fold.n++];
	memset(r, 0, sizeof(*r));
	r->slot = slot;
	(void)strlcpy(r->model, model, sizeof(r->model));
	return r;
}

/* Returns a number of the record, or of its detail; 0 if it is none. */
static uint64_t
number(const struct value *v, const char *key)
{
	const struct value *n = value_get(v, key);
	uint64_t out = 0;

	if (n == NULL)
		n = value_get(value_get(v, "detail"), key);
	if (n == NULL || n->type != VALUE_NUMBER ||
	    span_u64(n->text, INT64_MAX / 256, &out) == -1)
		return 0;
	return out;
}

/* Copy a text of `detail`; what cannot be copied leaves it empty. */
static void
text_of(const struct value *v, const char *key, char *dst, size_t cap)
{
	struct span s = value_str(value_get(v, "detail"), key);

	if (s.p == NULL || span_copy(s, dst, cap) == -1)
		dst[0] = '\0';
}

static int64_t
slot_of(const struct value *v)
{
	int64_t at = report_time(value_str(v, "time"));

	return at - at % REPORT_SLOT;
}

/* Remember tokens until a state has their cost. */
static void
pend(struct report_mark *m, int64_t slot, const char *model, uint64_t weight)
{
	struct report_pending *p;

	for (uint64_t i = 0; i < m->npending; i++) {
		p = &m->pending[i];
		if (p->slot == slot && strcmp(p->model, model) == 0) {
			p->weight += weight;
			return;
		}
	}
	/* More models in a second than that share the cost of the last. */
	if (m->npending == REPORT_PENDING) {
		m->pending[REPORT_PENDING - 1].weight += weight;
		return;
	}
	p = &m->pending[m->npending++];
	memset(p, 0, sizeof(*p));
	p->slot = slot;
	p->weight = weight;
	(void)strlcpy(p->model, model, sizeof(p->model));
}

static void
fold_usage(struct report_mark *m, const struct value *v)
{
	const uint64_t in = number(v, "in"), out = number(v, "out"),
		       got = number(v, "cacheRead"),
		       put = number(v, "cacheWrite");
	char model[REPORT_MODEL] = "";
	struct span name = value_str(v, "model");
	int64_t slot = slot_of(v);
	struct report_row *r;

	if (name.len >= sizeof(model))
		name.len = sizeof(model) - 1;
	if (name.p == NULL || name.len == 0 ||
	    span_copy(name, model, sizeof(model)) == -1)
		(void)strlcpy(model, "(no name)", sizeof(model));
	r = fold_row(slot, model);
	r->in += in;
	r->out += out;
	r->cache_read += got;
	r->cache_write += put;
	r->answers++;
	/* Most providers' prices have about these proportions. */
	pend(m, slot, model, 1 + 20 * in + 100 * out + 2 * got + 25 * put);
}

/* Divide `micro` among the pending tokens, and forget them. */
static void
settle(struct report_mark *m, uint64_t micro)
{
	double sum = 0;
	uint64_t given, left = micro;

	for (uint64_t i = 0; i < m->npending; i++)
		sum += (double)m->pending[i].weight;
	for (uint64_t i = 0; i < m->npending; i++) {
		struct report_pending *p = &m->pending[i];

		given =
		    i + 1 == m->npending
			? left
			: (uint64_t)((double)micro * (double)p->weight / sum);
		if (given > left)
			given = left;
		left -= given;
		fold_row(p->slot, p->model)->micro_usd += given;
	}
	m->settled += micro;
	m->recent = m->pending[m->npending - 1];
	m->npending = 0;
}

static void
fold_state(struct report_mark *m, const struct value *v)
{
	uint64_t total = number(v, "microUsd"),
		 open = number(v, "openMicroUsd"), done;

	m->total = total;
	m->tokens = number(v, "tokens");
	m->steps = number(v, "steps");
	m->ms = number(v, "ms");
	done = total > open ? total - open : 0;
	if (done <= m->settled)
		return;
	if (m->npending != 0) {
		settle(m, done - m->settled);
		return;
	}
	/* A state may come before the cost of the answer before it. */
	if (m->recent.model[0] == '\0') {
		m->recent.slot = slot_of(v);
		(void)strlcpy(
		    m->recent.model, "(no name)", sizeof(m->recent.model));
	}
	fold_row(m->recent.slot, m->recent.model)->micro_usd +=
	    done - m->settled;
	m->settled = done;
}

static void
fold_call(const struct value *v, enum report_event event)
{
	struct report_row *r = fold_row(slot_of(v), "");
	struct span status =
			value_str(value_get(v, "policyDecision"), "status"),
		    answer = value_str(v, "escalationResult");

	if (event == EVENT_refusedCalls) {
		r->denied += number(v, "count");
		return;
	}
	if (span_is(status, "allow"))
		r->allowed++;
	else if (span_is(status, "deny"))
		r->denied++;
	else
		r->held++;
	if (answer.p != NULL && span_is(answer, "approved"))
		r->approved++;
	else if (answer.p != NULL)
		r->refused++;
}

static void
fold_start(struct report_mark *m, const struct value *v)
{
	text_of(v, "agent", m->agent, sizeof(m->agent));
	text_of(v, "workspace", m->workspace, sizeof(m->workspace));
	text_of(v, "version", m->version, sizeof(m->version));
}

static void
fold_record(struct report_mark *m, const struct value *v)
{
	enum report_event event = report_find(value_str(v, "event"));
	int64_t at = report_time(value_str(v, "time"));
	uint64_t status;

	if (m->first == 0)
		m->first = at;
	m->last = at;
	if (event == EVENT_start) {
		fold_start(m, v);
	} else if (event == EVENT_state) {
		fold_state(m, v);
	} else if (event == EVENT_usage) {
		fold_usage(m, v);
	} else if (event == EVENT_call || event == EVENT_refusedCalls) {
		fold_call(v, event);
	} else if (event == EVENT_modelResponse) {
		status = number(v, "status");
		if (status == 0 || status >= 400 ||
		    value_get(v, "error") != NULL)
			fold_row(slot_of(v), "")->failed++;
	}
}

/* Returns false if the line cannot be a record that is added up. */
static bool
fold_wanted(struct span line)
{
	static const char key[] = "\"event\":\"";
	struct span rest = line, name;
	const uint8_t *at, *end;

	while ((at = span_find(rest, span_str(key))) != NULL) {
		at += sizeof(key) - 1;
		rest = span_of(at, (size_t)(line.p + line.len - at));
		if ((end = memchr(rest.p, '"', rest.len)) == NULL)
			return false;
		name = span_of(at, (size_t)(end - at));
		for (size_t i = 0; i < nitems(fold_events); i++)
			if (span_is(name, report_names(fold_events[i])->name))
				return true;
	}
	return false;
}

/* Check the chain from the mark on. Returns the bytes that are good. */
static size_t
fold_verify(
    struct span rest, const struct report_how *how, struct report_end *e)
{
	struct auditplace at = {e->mark.log, e->mark.format};
	struct auditscan s;

	memset(&s, 0, sizeof(s));
	auditscan_file(rest, how->last, 0, &at, &s);
	e->records += s.records;
	e->closed = s.closed;
	e->cut = s.cut;
	e->check = (uint32_t)s.check;
	e->line = s.line;
	if (s.check != AUDITLOG_GOOD && !s.tail)
		return rest.len;
	e->check = AUDITLOG_GOOD;
	e->line = 0;
	e->mark.log = at.log;
	e->mark.format = at.format;
	e->mark.offset += s.whole;
	return s.whole;
}

void
report_fold(struct span all, const struct report_how *how,
    struct value_pool *pool, struct report_end *e)
{
	struct span rest, line;
	const struct value *v;
	uint64_t n = 0;

	if (e->mark.offset > all.len)
		e->mark.offset = all.len;
	rest =
	    span_of(all.p + e->mark.offset, all.len - (size_t)e->mark.offset);
	if (how->verify && rest.len != 0)
		rest.len = fold_verify(rest, how, e);
	while (span_line(&rest, &line)) {
		n++;
		if (!fold_wanted(line) ||
		    (v = report_parse(line, n, pool, e)) == NULL)
			continue;
		fold_record(&e->mark, v);
		value_pool_reset(pool);
	}
	fold_flush();
}
