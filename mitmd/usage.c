/* SPDX-License-Identifier: ISC */
/*
 * The usage that answers report: the meter reads them as they pass, and its
 * counts go to auditd, at the end and at intervals before, so that a budget can
 * end a running answer. The agent then reads the reason in the form that the
 * provider itself uses for an error within a stream.
 */
#include "usage.h"

#include "body/event_stream.h"

#define USAGE_MS 250U /* interval between reports about one answer */

/*
 * Bedrock's paths name the model, "us.anthropic.claude-x"; answers of Converse
 * do not. The part before the vendor's name is a region.
 */
void
usage_named(struct exchange *x)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;
	struct span s = x->req.path, maker = SPAN("anthropic.");
	const uint8_t *at;

	x->model[0] = '\0';
	if (p->alphabet != PROVIDER_BEDROCK || !span_starts(s, SPAN("/model/")))
		return;
	s = span_of(s.p + 7, s.len - 7);
	if ((at = memchr(s.p, '/', s.len)) != NULL)
		s.len = (size_t)(at - s.p);
	if ((at = memmem(s.p, s.len, maker.p, maker.len)) != NULL) {
		at += maker.len;
		s = span_of(at, s.len - (size_t)(at - s.p));
	}
	if (span_copy(s, x->model, sizeof(x->model)) == -1)
		x->model[0] = '\0';
}

void
usage_begin(struct exchange *x, struct span headers)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;
	struct span name, value;
	enum meter_format format = METER_NONE;

	while (provider_unpack(&headers, &name, &value) == 1) {
		if (span_is(name, "content-type"))
			format = meter_format_of(value);
	}
	if (!p->routes[x->req.route].turn)
		format = METER_NONE;
	meter_begin(&x->meter, format);
	x->usage = x->before = (struct meter_usage){.seen = false};
	x->usage_at = 0;
	x->usage_stream = x->up.stream;
	x->usage_exchange = x->up.exchange;
}

static void
usage_tell(struct exchange *x, const struct meter_usage *u, bool last)
{
	struct msg_USAGE m = {
	    .provider = (uint16_t)x->a->provider,
	    .stream = x->usage_stream,
	    .exchange = x->usage_exchange,
	    .last = last,
	    .model = span_str(u->model[0] != '\0' ? u->model : x->model),
	    .in = x->before.in + u->in,
	    .out = x->before.out + u->out,
	    .cache_read = x->before.cache_read + u->cache_read,
	    .cache_write = x->before.cache_write + u->cache_write,
	    .reasoning = x->before.reasoning + u->reasoning,
	};

	worker_send(&mitmd_env.w, ROLE_AUDIT, 0, MSG_USAGE, &m, -1);
}

static bool
usage_same(const struct meter_usage *a, const struct meter_usage *b)
{
	return a->in == b->in && a->out == b->out &&
	       a->cache_read == b->cache_read &&
	       a->cache_write == b->cache_write;
}

void
usage_feed(struct exchange *x, struct span s)
{
	uint64_t now = loop_now(&mitmd_env.w.loop);
	struct meter_usage u;

	if (x->meter.format == METER_NONE)
		return;
	meter_feed(&x->meter, s);
	if (x->meter.have == 0 ||
	    (x->usage_at != 0 && now - x->usage_at < USAGE_MS))
		return;
	meter_read(&x->meter, &u);
	if (usage_same(&u, &x->usage))
		return;
	x->usage = u;
	x->usage_at = now;
	usage_tell(x, &u, false);
}

int
usage_rest(struct exchange *x)
{
	int r = 0;

	if (x->part.len != 0)
		r = x->front->body(x, buf_span(&x->part));
	buf_free(&x->part);
	return r;
}

int
usage_pass(struct exchange *x, struct span s)
{
	size_t part;
	int r = 0;

	if (x->meter.format != METER_AWS)
		return x->front->body(x, s);
	part = meter_aws_part(&x->meter);
	if (part == x->part.len + s.len && part <= MITMD_MAX_PART) {
		buf_addspan(&x->part, s);
		return buf_check(&x->part);
	}
	if (usage_rest(x) == -1)
		return -1;
	/* Too long to hold back, or the frames are lost. */
	if (part > s.len || part > MITMD_MAX_PART)
		return x->front->body(x, s);
	if (part != s.len)
		r = x->front->body(x, span_of(s.p, s.len - part));
	if (r == -1 || part == 0)
		return r;
	buf_add(&x->part, s.p + s.len - part, part);
	return buf_check(&x->part);
}

/* Returns true if another message can follow what the agent has received. */
static bool
usage_between(const struct exchange *x)
{
	/* With an announced length there is no room. */
	if (x->up.sized)
		return false;
	switch (x->meter.format) {
	case METER_SSE:
		return !x->meter.any;
	case METER_AWS:
		return meter_aws_part(&x->meter) == x->part.len;
	case METER_JSON:
	case METER_NONE:
		break;
	}
	return false;
}

/* SDKs treat a validationException as final, and may retry after others. */
static int
usage_last(
    struct exchange *x, struct buf *b, enum refusal no, const char *detail)
{
	struct buf text;
	int r;

	if (x->meter.format != METER_AWS) {
		buf_adds(b, "event: error\ndata: ");
		refuse_body(b, no, x->denied, detail, REFUSE_AS_JSON);
		buf_add(b, "\n", 1);
		return buf_check(b);
	}
	buf_init(&text, 8192);
	r = refuse_body(&text, no, x->denied, detail, REFUSE_AS_AWS);
	if (r == 0)
		r = event_stream_exception(
		    b, SPAN("validationException"), buf_span(&text));
	buf_free(&text);
	return r;
}

bool
usage_farewell(struct exchange *x, enum refusal no, const char *detail)
{
	struct buf b;
	bool said;

	if (!usage_between(x))
		return false;
	buf_init(&b, 8192);
	said = usage_last(x, &b, no, detail) == 0 &&
	       x->front->body(x, buf_span(&b)) == 0;
	buf_free(&b);
	if (!said)
		return false;
	x->denied = 0;
	upstream_close(x);
	x->front->end(x);
	return true;
}

/* Add the usage of an earlier turn: an exchange's counts never fall. */
static void
usage_add(struct meter_usage *sum, const struct meter_usage *u)
{
	sum->seen |= u->seen;
	sum->in += u->in;
	sum->out += u->out;
	sum->cache_read += u->cache_read;
	sum->cache_write += u->cache_write;
	sum->reasoning += u->reasoning;
}

void
usage_turn(struct exchange *x)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;
	struct meter_usage u;

	if (!p->routes[x->req.route].turn)
		return;
	if (x->meter.format != METER_NONE) {
		meter_read(&x->meter, &u);
		if (u.seen)
			usage_tell(x, &u, false);
		usage_add(&x->before, &u);
	}
	/* Each message is metered like the event that it would be over HTTP. */
	meter_begin(&x->meter, METER_SSE);
	x->usage = (struct meter_usage){.seen = false};
	x->usage_at = 0;
}

void
usage_end(struct exchange *x)
{
	struct meter_usage u;

	if (x->meter.format == METER_NONE)
		return;
	meter_read(&x->meter, &u);
	x->meter.format = METER_NONE;
	if (u.seen || x->before.seen)
		usage_tell(x, &u, true);
}
