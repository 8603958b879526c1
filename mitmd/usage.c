/* SPDX-License-Identifier: ISC */
/*
 * The usage that answers report: the meter reads them as they pass, and its
 * counts go to auditd, at the end and at intervals before, so that a budget can
 * end a running answer. The agent then reads the reason in the form that the
 * provider itself uses for an error within a stream.
 */
#include "usage.h"

#include "body/event_stream.h"

_Static_assert(
    METER_TOKEN == PROTO_TOKEN_BYTES && METER_TEMPLATE == PROTO_TEMPLATE_TOKENS,
    "keyd estimates as the meter does");
_Static_assert((int)PROTO_SAID_SILENT == (int)METER_SILENT &&
		   (int)PROTO_SAID_ENDED == (int)METER_ENDED &&
		   (int)PROTO_TIER_PRIORITY == (int)METER_PRIORITY &&
		   (int)PROTO_TIER_FLEX == (int)METER_FLEX &&
		   (int)PROTO_TIER_BATCH == (int)METER_BATCH,
    "USAGE has the meter's words");

#define USAGE_MS 250U /* interval between reports about one answer */

static const struct provider_route *
usage_route(const struct exchange *x)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;

	return &p->routes[x->req.route];
}

/* Begin to meter the answer to a request or a message. */
static void
usage_open(struct exchange *x, enum meter_format format)
{
	meter_begin(&x->meter, format);
	x->usage = (struct meter_usage){.seen = false};
	x->usage_at = 0;
	x->usage_stream = x->up.stream;
	x->usage_exchange = x->up.exchange;
	x->metered = true;
}

void
usage_sent(struct exchange *x)
{
	asked_path(x);
	x->usage_message = 0;
	x->metered = false;
	meter_begin(&x->meter, METER_NONE);
	/* A WebSocket's turns are its messages. */
	if (usage_route(x)->turn && !x->req.websocket)
		usage_open(x, METER_NONE);
}

void
usage_begin(struct exchange *x, struct span headers)
{
	struct span rest = headers, name, value;
	enum meter_format format = METER_SSE;

	if (!x->metered)
		return;
	while (provider_unpack(&rest, &name, &value) == 1) {
		if (span_is(name, "content-type"))
			format = meter_format_of(value);
	}
	meter_begin(&x->meter, format);
	while (provider_unpack(&headers, &name, &value) == 1)
		meter_header(&x->meter, name, value);
}

static void
usage_tell(struct exchange *x, const struct meter_usage *u, bool last)
{
	const struct meter_usage *a = &x->asked;
	const struct meter_found *f = &x->meter.found;
	const struct provider *p = mitmd_env.providers[x->a->provider].p;
	struct msg_USAGE m = {
	    .provider = (uint16_t)x->a->provider,
	    .stream = x->usage_stream,
	    .exchange = x->usage_exchange,
	    .message = x->usage_message,
	    .last = last,
	    .said = (uint8_t)u->said,
	    .tier = (uint8_t)(f->tier_said ? u->tier : a->tier),
	    .fast = f->fast_said ? u->fast : a->fast,
	    .regional = u->regional || a->regional,
	    .model = span_str(u->model[0] != '\0' ? u->model : a->model),
	    .in = u->in,
	    .out = u->out,
	    .cache_read = u->cache_read,
	    .cache_write = u->cache_write,
	    .reasoning = u->reasoning,
	    .cache_write_1h = u->cache_write_1h,
	    .audio_in = u->audio_in,
	    .audio_out = u->audio_out,
	    .searches = u->searches,
	    .cost = p->stated_cost ? u->cost : 0,
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
	/* The other messages of a WebSocket have no end that is seen. */
	if (x->usage_message != 0 && meter_done(&x->meter)) {
		usage_end(x, true);
		return;
	}
	if (!meter_seen(&x->meter) ||
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

void
usage_turn(struct exchange *x)
{
	if (!usage_route(x)->turn)
		return;
	usage_end(x, false);
	x->usage_message++;
	/* Each message is metered like the event that it would be over HTTP. */
	usage_open(x, METER_SSE);
	x->up.passed = x->held.size;
}

/* Returns true if the provider may have begun to answer the request. */
static bool
usage_reached(const struct exchange *x)
{
	if (x->usage_message != 0)
		return true;
	if (x->up.status != 0)
		return x->up.status < 300;
	return x->whole && x->up.passed == x->req.length;
}

void
usage_end(struct exchange *x, bool complete)
{
	struct meter_usage u;

	if (!x->metered)
		return;
	x->metered = false;
	if (usage_reached(x)) {
		meter_end(&x->meter, x->up.passed, complete, &u);
		usage_tell(x, &u, true);
	} else if (meter_seen(&x->meter)) {
		meter_read(&x->meter, &u);
		usage_tell(x, &u, true);
	}
	x->meter.format = METER_NONE;
}

void
usage_drop(struct exchange *x)
{
	x->metered = false;
}
