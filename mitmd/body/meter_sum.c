/* SPDX-License-Identifier: ISC */
/*
 * Reduces the meter's counts to one form, and estimates those that are missing
 * from the bytes that passed.
 */
#include "body/meter.h"

#define SUM_MAX (4 * METER_MAX_COUNT)

static uint64_t
sum_more(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t
sum_less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Returns the input without the tokens that were read from or written to the
 * cache. OpenAI's form counts those in it, Anthropic's does not, and gateways
 * mix both and send both names; where the names do not tell, the total does.
 */
static uint64_t
sum_uncached(const uint64_t *c, uint64_t cached, uint64_t out)
{
	bool inside = c[METER_CACHED] != 0 || c[METER_WRITTEN] != 0;
	uint64_t all = c[METER_PROMPT] != 0 ? c[METER_PROMPT] : c[METER_INPUT];

	if (cached == 0)
		return sum_more(c[METER_PROMPT], c[METER_INPUT]);
	if (!inside && c[METER_INPUT] != 0)
		return c[METER_INPUT];
	if (all < cached)
		return all;
	if (!inside && c[METER_TOTAL] == all + cached + out)
		return all;
	return all - cached;
}

static void
sum_input(const struct meter_found *f, struct meter_usage *u)
{
	const uint64_t *c = f->n;

	u->cache_read = sum_more(c[METER_CACHED], c[METER_READ]);
	u->cache_write_1h = c[METER_WRITE_1H];
	u->cache_write = sum_more(sum_more(c[METER_WRITTEN], c[METER_WRITE]),
	    c[METER_WRITE_5M] + c[METER_WRITE_1H]);
	u->in = sum_uncached(c, u->cache_read + u->cache_write, u->out) +
		c[METER_TOOL_PROMPT];
	u->audio_in = sum_less(c[METER_AUDIO_IN], u->in);
}

static void
sum_output(const struct meter_found *f, struct meter_usage *u)
{
	const uint64_t *c = f->n;

	u->out =
	    sum_more(c[METER_OUTPUT], c[METER_CANDIDATES] + c[METER_THOUGHTS]);
	u->reasoning = sum_more(c[METER_REASONING], c[METER_THOUGHTS]);
	/* More than the whole output: it is not in it. */
	if (u->reasoning > u->out)
		u->out += u->reasoning;
	u->audio_out = sum_less(c[METER_AUDIO_OUT], u->out);
}

/*
 * Some servers leave the reasoning out of the output, and their total gives it
 * away.
 */
static void
sum_rest(const struct meter_found *f, struct meter_usage *u)
{
	uint64_t known = u->in + u->cache_read + u->cache_write + u->out;

	if (f->n[METER_TOTAL] > known)
		u->out += f->n[METER_TOTAL] - known;
}

static void
sum_clamp(struct meter_usage *u)
{
	uint64_t *n[] = {
	    &u->in, &u->out, &u->cache_read, &u->cache_write, &u->reasoning};

	for (size_t i = 0; i < nitems(n); i++)
		*n[i] = sum_less(*n[i], SUM_MAX);
	u->reasoning = sum_less(u->reasoning, u->out);
	u->cache_write_1h = sum_less(u->cache_write_1h, u->cache_write);
}

void
meter_read(const struct meter *m, struct meter_usage *u)
{
	struct meter_event e = m->event;
	struct meter_found f = m->found;

	/* The answer may have been cut in an object of counts. */
	meter_usage_end(&f, &e);
	*u = (struct meter_usage){.seen = f.have != 0,
	    .searches = f.n[METER_SEARCHES],
	    .cost = f.cost,
	    .tier = f.tier,
	    .fast = f.fast,
	    .regional = f.regional};
	sum_output(&f, u);
	sum_input(&f, u);
	sum_rest(&f, u);
	sum_clamp(u);
	memcpy(u->model, f.model, sizeof(u->model));
}

uint64_t
meter_input(uint64_t bytes)
{
	return bytes / METER_TOKEN + METER_TEMPLATE;
}

static uint64_t
sum_tokens(uint64_t bytes)
{
	return bytes / METER_TOKEN + (bytes % METER_TOKEN != 0);
}

/* Returns an estimate of the output that the answer did not count. */
static uint64_t
sum_unsaid(const struct meter *m, const struct meter_usage *u)
{
	if (u->out != 0)
		return sum_tokens(m->found.since);
	if (m->found.text != 0)
		return sum_tokens(m->found.text);
	/* A form of answer that we do not know: most of it is no text. */
	return sum_tokens(m->raw / 8);
}

void
meter_end(
    const struct meter *m, uint64_t sent, bool complete, struct meter_usage *u)
{
	bool none;
	uint64_t more = 0;

	meter_read(m, u);
	none = u->in + u->cache_read + u->cache_write == 0;
	if (none)
		u->in = meter_input(sent);
	/* An embedding has input alone. */
	if (u->seen && !none && complete && m->found.text == 0)
		return;
	if (!m->found.done || (u->out == 0 && m->found.text != 0))
		more = sum_unsaid(m, u);
	if (complete && !none && more == 0)
		return;
	u->out = sum_less(u->out + more, SUM_MAX);
	if (none || more != 0 || !m->found.done)
		u->said = complete && none ? METER_SILENT : METER_ENDED;
}
