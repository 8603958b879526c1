/* SPDX-License-Identifier: ISC */
/*
 * The request to the model: a stream from keyd, REQUEST to auditd, which
 * records it and lets keyd begin, the body on the stream, and the answer back
 * on it. The answer comes from the provider and is read as frames with limits;
 * whatever goes wrong, the opinion is that there is none.
 */
#include "approver/approver.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXCHANGE_NUMBER 1U /* each stream serves one request */

static struct exchange *const x = &approver_env.x;

void
exchange_init(void)
{
	x->fd = -1;
	x->io.fd = -1;
	buf_init(&x->out, STREAM_HEADER + PROTO_MAX_OPINION);
	buf_init(&x->in, STREAM_MAX_FRAME);
	buf_init(&x->answer, OPINION_MAX_ANSWER);
}

static void
exchange_drop(void)
{
	loop_timer_clear(&approver_env.w.loop, &x->timer);
	loop_del(&approver_env.w.loop, &x->io);
	if (x->fd != -1)
		close(x->fd);
	x->fd = -1;
	x->stream = 0;
	x->status = 0;
	x->whole = x->unsent = false;
	x->fhave = 0;
	x->frame = (struct stream_frame){.len = 0};
	buf_reset(&x->out, 0);
	buf_reset(&x->in, 0);
	buf_reset(&x->answer, 0);
}

/*
 * Report what the answer cost, as mitmd does for the agent's requests. Counts
 * that it does not have are estimated.
 */
static void
exchange_usage(void)
{
	struct meter_usage u;
	struct msg_USAGE m;
	bool sent = x->fd != -1 && x->out.len == 0 && !x->unsent;

	if (!sent || (x->status >= 300 && !meter_seen(&x->meter)))
		return;
	meter_end(&x->meter, x->length, x->whole, &u);
	m = (struct msg_USAGE){.provider = (uint16_t)approver_env.index,
	    .stream = x->stream,
	    .exchange = EXCHANGE_NUMBER,
	    .last = 1,
	    .said = (uint8_t)u.said,
	    .tier = (uint8_t)u.tier,
	    .fast = u.fast,
	    .regional = u.regional,
	    .model =
		span_str(u.model[0] != '\0' ? u.model : approver_env.model),
	    .in = u.in,
	    .out = u.out,
	    .cache_read = u.cache_read,
	    .cache_write = u.cache_write,
	    .reasoning = u.reasoning,
	    .cache_write_1h = u.cache_write_1h,
	    .audio_in = u.audio_in,
	    .audio_out = u.audio_out,
	    .searches = u.searches,
	    .cost = approver_env.provider->stated_cost ? u.cost : 0};
	worker_send(&approver_env.w, ROLE_AUDIT, 0, MSG_USAGE, &m, -1);
}

static void
exchange_end(const struct opinion *o)
{
	struct msg_OPINION m = {.id = x->call,
	    .digest = span_of(x->digest, sizeof(x->digest)),
	    .decision = (uint8_t)o->decision,
	    .reasoning = span_str(o->reasoning)};

	exchange_usage();
	worker_send(&approver_env.w, ROLE_AUDIT, 0, MSG_OPINION, &m, -1);
	exchange_drop();
}

static void __attribute__((format(printf, 1, 2)))
exchange_fail(const char *fmt, ...)
{
	struct opinion o = {.decision = PROTO_OPINION_FAILED};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(o.reasoning, sizeof(o.reasoning), fmt, ap);
	va_end(ap);
	exchange_end(&o);
}

static void
exchange_late(struct loop_timer *t)
{
	exchange_fail(
	    "the model did not answer within %u s", APPROVER_MS / 1000);
}

static int
exchange_body(const struct msg_CONSIDER *m)
{
	struct stream_frame f = {EXCHANGE_NUMBER, STREAM_BODY, 0};
	uint8_t head[STREAM_HEADER];
	struct buf body;
	int r;

	buf_init(&body, PROTO_MAX_OPINION);
	r = question_body(&body,
	    approver_env.provider->routes[approver_env.route].dialect,
	    span_str(approver_env.model), m);
	f.len = x->length = (uint32_t)body.len;
	stream_pack(head, &f);
	buf_add(&x->out, head, sizeof(head));
	buf_addspan(&x->out, buf_span(&body));
	buf_free(&body);
	return r == 0 ? buf_check(&x->out) : -1;
}

void
exchange_begin(const struct msg_CONSIDER *m)
{
	const struct provider *p = approver_env.provider;
	struct msg_STREAM_OPEN open = {
	    .digest = span_of(p->digest, sizeof(p->digest))};

	/* Every call that was considered gets one opinion in the log. */
	if (x->stream != 0)
		exchange_fail("the next call is considered");
	exchange_drop();
	meter_begin(&x->meter, METER_NONE);
	x->call = m->id;
	memcpy(x->digest, m->digest.p, sizeof(x->digest));
	if (++approver_env.last == PROTO_APPROVER_STREAM)
		approver_env.last = 1;
	open.stream = x->stream = approver_env.last | PROTO_APPROVER_STREAM;
	if (exchange_body(m) == -1) {
		exchange_fail("the question is too long");
		return;
	}
	loop_timer_set(
	    &approver_env.w.loop, &x->timer, APPROVER_MS, exchange_late, NULL);
	worker_send(&approver_env.w, ROLE_KEY, approver_env.index,
	    MSG_STREAM_OPEN, &open, -1);
}

/* Pack those of our headers that the provider's routes take. */
static int
exchange_headers(struct buf *b)
{
	static const struct {
		struct span name, value;
	} rows[] = {
	    {SPAN("accept"), SPAN("application/json")},
	    {SPAN("anthropic-version"), SPAN("2023-06-01")},
	    {SPAN("content-type"), SPAN("application/json")},
	};
	const struct provider *p = approver_env.provider;
	bool anthropic =
	    p->routes[approver_env.route].dialect == FILTER_ANTHROPIC;

	if (p->nkinds != 0 &&
	    provider_pack(b, SPAN(PROVIDER_CREDENTIAL), SPAN("0")) == -1)
		return -1;
	for (size_t i = 0; i < nitems(rows); i++) {
		if (!provider_listed(&p->request, rows[i].name) ||
		    (!anthropic && span_is(rows[i].name, "anthropic-version")))
			continue;
		if (provider_pack(b, rows[i].name, rows[i].value) == -1)
			return -1;
	}
	return 0;
}

static void
exchange_request(void)
{
	struct msg_REQUEST m = {
	    .provider = (uint16_t)approver_env.index,
	    .stream = x->stream,
	    .exchange = EXCHANGE_NUMBER,
	    .route = (uint16_t)approver_env.route,
	    .path = span_str(approver_env.path),
	    .length = x->length,
	};
	struct buf b;

	buf_init(&b, 4096);
	if (exchange_headers(&b) == 0) {
		m.headers = buf_span(&b);
		worker_send(
		    &approver_env.w, ROLE_AUDIT, 0, MSG_REQUEST, &m, -1);
	}
	buf_free(&b);
}

/* Send the rest of the body. Returns -1 if the exchange is over. */
static int
exchange_write(void)
{
	struct span s;
	ssize_t n;

	while (x->out.len != 0) {
		s = buf_span(&x->out);
		if ((n = write(x->fd, s.p, s.len)) == -1) {
			if (errno == EINTR)
				continue;
			/* keyd may have sent the reason already: read on. */
			if (errno != EAGAIN)
				buf_reset(&x->out, 0);
			break;
		}
		buf_drain(&x->out, (size_t)n);
	}
	return loop_mod(&approver_env.w.loop, &x->io,
	    EPOLLIN | (x->out.len != 0 ? EPOLLOUT : 0));
}

static void
take_head(struct span s)
{
	struct span name, value;

	if (s.len < 11 || x->status != 0) {
		exchange_fail("keyd sent a malformed head");
		return;
	}
	x->status = (unsigned)(s.p[0] | s.p[1] << 8);
	s = span_of(s.p + 11, s.len - 11);
	while (provider_unpack(&s, &name, &value) == 1)
		if (span_is(name, "content-type"))
			meter_begin(&x->meter, meter_format_of(value));
	if (x->status != 200)
		exchange_fail("the provider answered %u", x->status);
}

static void
take_end(void)
{
	struct opinion o;

	x->whole = true;
	if (x->status == 0) {
		exchange_fail("the provider did not answer");
		return;
	}
	opinion_read(&o,
	    approver_env.provider->routes[approver_env.route].dialect,
	    buf_span(&x->answer));
	exchange_end(&o);
}

/* A complete frame. The exchange may be over afterwards. */
static void
take_frame(void)
{
	struct span s = buf_span(&x->in);

	switch (x->frame.type) {
	case STREAM_HEAD:
		take_head(s);
		break;
	case STREAM_BODY:
		meter_feed(&x->meter, s);
		buf_addspan(&x->answer, s);
		if (x->answer.failed || x->status == 0)
			exchange_fail("the provider's answer is too long");
		break;
	case STREAM_END:
		take_end();
		break;
	case STREAM_FAIL:
		/* A constant text of keyd: "403 ...". */
		x->unsent = s.len == 0 || s.p[0] == STREAM_UNSENT;
		if (s.len != 0)
			s = span_of(s.p + 1, s.len - 1);
		exchange_fail("the request failed: %.*s",
		    (int)(s.len < 200 ? s.len : 200), (const char *)s.p);
		break;
	case STREAM_AT: /* both are refused with their headers */
	case STREAM_FOLLOW:
		break;
	}
	x->fhave = 0;
	buf_reset(&x->in, 0);
}

static void
take(struct span in)
{
	uint32_t stream = x->stream;
	char why[128];
	size_t n;

	while (in.len != 0 && x->stream == stream) {
		if (x->fhave < STREAM_HEADER) {
			n = STREAM_HEADER - x->fhave;
			n = n < in.len ? n : in.len;
			memcpy(x->fhead + x->fhave, in.p, n);
			x->fhave += n;
			in = span_of(in.p + n, in.len - n);
			if (x->fhave < STREAM_HEADER)
				return;
			if (stream_unpack(x->fhead, &x->frame) == -1 ||
			    x->frame.exchange != EXCHANGE_NUMBER ||
			    x->frame.type == STREAM_AT ||
			    x->frame.type == STREAM_FOLLOW) {
				exchange_fail("keyd sent a malformed frame");
				return;
			}
		}
		n = x->frame.len - x->in.len;
		n = n < in.len ? n : in.len;
		buf_add(&x->in, in.p, n);
		in = span_of(in.p + n, in.len - n);
		if (x->in.failed)
			exchange_fail(
			    "%s", buf_why(&x->in, "the queue of the answer",
				      why, sizeof(why)));
		else if (x->in.len == x->frame.len)
			take_frame();
	}
}

static void
exchange_ready(struct loop_io *io, uint32_t events)
{
	static uint8_t in[STREAM_HEADER + STREAM_MAX_FRAME];
	ssize_t n;

	if ((events & EPOLLOUT) != 0 && exchange_write() == -1) {
		exchange_fail("epoll_ctl: %s", strerror(errno));
		return;
	}
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0)
		return;
	do {
		n = read(x->fd, in, sizeof(in));
	} while (n == -1 && errno == EINTR);
	if (n == -1 && errno == EAGAIN)
		return;
	if (n <= 0)
		exchange_fail("the stream to the provider has closed");
	else
		take(span_of(in, (size_t)n));
}

void
exchange_stream(uint32_t stream, int fd)
{
	/* An earlier call's stream, which was given up meanwhile. */
	if (stream != x->stream || x->fd != -1) {
		close(fd);
		return;
	}
	if (loop_add(&approver_env.w.loop, &x->io, fd, EPOLLIN, exchange_ready,
		NULL) == -1) {
		close(fd);
		exchange_fail("epoll_ctl: %s", strerror(errno));
		return;
	}
	x->fd = fd;
	exchange_request();
	if (exchange_write() == -1)
		exchange_fail("epoll_ctl: %s", strerror(errno));
}

void
exchange_refused(uint32_t stream, enum proto_refused reason)
{
	if (stream != x->stream || stream == 0)
		return;
	x->unsent = true;
	exchange_fail("%s", reason == PROTO_REFUSED_AUDIT
				? "the audit log cannot be written"
				: "the provider is gone");
}
