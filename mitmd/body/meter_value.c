/* SPDX-License-Identifier: ISC */
/*
 * The meter's values: takes those that the scanner found in known places, and
 * adds them to what the answer has said. A count may be a number, a number
 * without a fraction such as 7.0, or a string of digits; anything else is
 * ignored. Counts are running totals, so of two the higher one is right: a
 * later event that repeats them as 0 takes nothing back.
 */
#include "body/meter_ctx.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

/* Returns the value as a string: a constant text, or what the answer says. */
static struct span
value_text(const struct meter_json *j)
{
	return span_of(j->text, j->len);
}

static bool
value_among(struct span s, const char *const *words)
{
	for (; *words != NULL; words++) {
		if (span_ieq(s, span_str(*words)))
			return true;
	}
	return false;
}

/* Returns the number, or -1 if the text is none that is finite. */
static double
value_number(struct span s)
{
	static const char digits[] = "0123456789.eE+-";
	char text[40], *end;
	double d;

	if (s.len == 0 || s.len >= sizeof(text) || s.p[0] < '0' || s.p[0] > '9')
		return -1;
	for (size_t i = 0; i < s.len; i++) {
		if (strchr(digits, s.p[i]) == NULL || s.p[i] == '\0')
			return -1;
		text[i] = (char)s.p[i];
	}
	text[s.len] = '\0';
	d = strtod(text, &end);
	return *end == '\0' && isfinite(d) ? d : -1;
}

static void
value_count(struct meter *m, unsigned which)
{
	struct meter_event *e = &m->event;
	double d = value_number(value_text(&m->json));
	uint64_t n;

	if (d < 0 || d > (double)METER_MAX_COUNT || d != floor(d))
		return;
	n = (uint64_t)d;
	if (e->list != 0 && n <= METER_MAX_COUNT - e->sum[which])
		e->sum[which] += n;
	else if (e->list == 0 && e->n[which] < n)
		e->n[which] = n;
	e->have |= 1U << which;
	e->counted = true;
	e->out |=
	    n != 0 && (which == METER_OUTPUT || which == METER_CANDIDATES ||
			  which == METER_THOUGHTS);
}

/* The cost, in 10^-9 USD and rounded up. */
static void
value_cost(struct meter *m)
{
	double d = value_number(value_text(&m->json)) * 1e9;
	uint64_t n;

	if (d <= 0 || d > (double)METER_MAX_COST)
		return;
	n = (uint64_t)ceil(d);
	if (m->found.cost < n)
		m->found.cost = n;
}

static void
value_tier(struct meter_found *f, struct span s)
{
	static const char *const words[METER_TIERS][8] = {
	    [METER_STANDARD] = {"standard", "default", "scale", "on_demand",
		"provisioned_throughput", NULL},
	    [METER_BATCH] = {"batch", NULL},
	    [METER_FLEX] = {"flex", "on_demand_flex", NULL},
	    [METER_PRIORITY] = {"priority", "fast", "on_demand_priority", NULL},
	};

	for (unsigned i = 0; i < METER_TIERS; i++) {
		if (value_among(s, words[i])) {
			f->tier = (enum meter_tier)i;
			f->tier_said = true;
		}
	}
}

/* Data that stays in one place costs more with some providers. */
static void
value_geo(struct meter_found *f, struct span s)
{
	static const char *const anywhere[] = {
	    "global", "not_available", "", NULL};

	f->regional |= !value_among(s, anywhere);
}

static void
value_string(struct meter *m, struct span s)
{
	static const char *const ends[] = {
	    "completed", "incomplete", "failed", "cancelled", NULL};
	static const char *const kinds[] = {"AUDIO", "1h", NULL};
	static const char *const fasts[] = {"fast", "optimized", NULL};
	struct meter_found *f = &m->found;

	switch (m->json.wanted) {
	case MC_MODEL:
		memcpy(f->model, s.p, s.len);
		f->model[s.len] = '\0';
		break;
	case MC_FINISH:
		m->event.finish |= s.len != 0;
		break;
	case MC_STATUS:
		m->event.finish |= value_among(s, ends);
		break;
	case MC_SPEED:
		f->fast |= value_among(s, fasts);
		f->fast_said = true;
		break;
	case MC_TIER:
		value_tier(f, s);
		break;
	case MC_GEO:
		value_geo(f, s);
		break;
	case MC_KIND:
		m->event.special = value_among(s, kinds);
		break;
	default:
		break;
	}
}

void
meter_value(struct meter *m, bool string)
{
	struct meter_json *j = &m->json;
	struct meter_found *f = &m->found;
	double d;

	if (j->wanted < MC_MODEL) {
		if (!string && j->wanted != MC_ALL)
			return;
		if (j->wanted == MC_ROOT ? j->depth == 0 : j->wanted < MC_ALL)
			return;
		f->deltas |= j->wanted == MC_DELTA;
		f->text += string ? j->bytes : j->len;
		f->since += string ? j->bytes : j->len;
		return;
	}
	if (j->len > METER_MAX_MODEL)
		return;
	if (j->wanted >= MC_COUNT)
		value_count(m, (unsigned)j->wanted - MC_COUNT);
	else if (j->wanted == MC_COST)
		value_cost(m);
	else if (j->wanted == MC_DONE)
		m->event.finish |= !string && span_is(value_text(j), "true");
	else if (string)
		value_string(m, value_text(j));
	else if (j->wanted == MC_ENTRY &&
		 (d = value_number(value_text(j))) > 0 &&
		 d <= (double)METER_MAX_COUNT)
		m->event.entry = (uint64_t)d;
}

/* An entry of a list of kinds is complete. */
void
meter_entry_end(struct meter *m, uint8_t ctx)
{
	struct meter_event *e = &m->event;
	unsigned which = ctx == MC_IN_DETAILS    ? METER_AUDIO_IN
			 : ctx == MC_OUT_DETAILS ? METER_AUDIO_OUT
			 : e->special            ? METER_WRITE_1H
						 : METER_WRITE_5M;

	if ((ctx == MC_TTL_KINDS || e->special) &&
	    e->entry <= METER_MAX_COUNT - e->n[which]) {
		e->n[which] += e->entry;
		e->have |= 1U << which;
	}
	e->entry = 0;
	e->special = false;
}

void
meter_usage_end(struct meter_found *f, struct meter_event *e)
{
	for (unsigned i = 0; i < METER_COUNTS; i++) {
		if (f->n[i] < e->n[i])
			f->n[i] = e->n[i];
		if (f->n[i] < e->sum[i])
			f->n[i] = e->sum[i];
	}
	f->have |= e->have;
	memset(e->n, 0, sizeof(e->n));
	memset(e->sum, 0, sizeof(e->sum));
	e->have = 0;
}

void
meter_text_end(struct meter *m)
{
	struct meter_found *f = &m->found;
	struct meter_event *e = &m->event;

	meter_usage_end(f, e);
	f->finished |= e->finish || m->format == METER_JSON;
	f->done |= f->finished && (e->counted || f->headed);
	/* The text of an event counts before the counts in it. */
	if (e->out)
		f->since = 0;
}
