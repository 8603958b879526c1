/* SPDX-License-Identifier: ISC */
/*
 * Answers over HTTP/2. Bytes from keyd wait in the exchange until the agent's
 * window admits them. A stream that ends leaves its exchange, with the stream
 * to keyd, to the next request of the connection.
 */
#include "h2.h"

#include <stdio.h>
#include <stdlib.h>

#include "body.h"
#include "usage.h"

#define ANSWER2_MAX_FIELDS (PROVIDER_MAX_HEADERS + 4)

/* Called by the library for the next bytes of a body. */
static ssize_t
answer2_read(nghttp2_session *session, int32_t stream, uint8_t *dst, size_t cap,
    uint32_t *flags, nghttp2_data_source *source, void *user)
{
	struct exchange *x = source->ptr;
	struct h2 *h = user;
	size_t n = x->answer.len < cap ? x->answer.len : cap;

	if (x->gone || x->id != stream)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	/* h2_turn_next() resumes it. */
	if (h->turn != stream)
		return NGHTTP2_ERR_DEFERRED;
	h->turn = 0;
	if (n == 0 && !x->ended) {
		h2_turn_drop(x);
		return NGHTTP2_ERR_DEFERRED;
	}
	if (n != 0)
		memcpy(dst, buf_span(&x->answer).p, n);
	buf_drain(&x->answer, n);
	x->progress = loop_now(&mitmd_env.w.loop);
	if (x->ended && x->answer.len == 0)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	h2_turn_taken(x);
	return (ssize_t)n;
}

static nghttp2_nv
answer2_nv(struct span name, struct span value)
{
	return (nghttp2_nv){(uint8_t *)(uintptr_t)name.p,
	    (uint8_t *)(uintptr_t)value.p, name.len, value.len,
	    NGHTTP2_NV_FLAG_NONE};
}

static int
answer2_submit(struct exchange *x, const nghttp2_nv *nv, size_t n)
{
	nghttp2_data_provider body = {
	    .source.ptr = x, .read_callback = answer2_read};

	/*
	 * The stream may have been closed meanwhile: that is not an error of
	 * the connection.
	 */
	switch (
	    nghttp2_submit_response(x->a->h2->session, x->id, nv, n, &body)) {
	case NGHTTP2_ERR_NOMEM:
		return -1;
	default:
		return 0;
	}
}

static int
answer2_head(struct exchange *x, unsigned status, struct span headers,
    bool sized, uint64_t length)
{
	bool bodyless = status == 204 || status == 304 || x->req.head;
	nghttp2_nv nv[ANSWER2_MAX_FIELDS];
	char code[8], size[24];
	struct span name, value;
	size_t n = 0;

	snprintf(code, sizeof(code), "%03u", status);
	nv[n++] = answer2_nv(SPAN(":status"), span_str(code));
	while (provider_unpack(&headers, &name, &value) == 1)
		nv[n++] = answer2_nv(name, value);
	if (sized && !bodyless) {
		snprintf(size, sizeof(size), "%ju", (uintmax_t)length);
		nv[n++] = answer2_nv(SPAN("content-length"), span_str(size));
	}
	return answer2_submit(x, nv, n);
}

static int
answer2_body(struct exchange *x, struct span s)
{
	buf_addspan(&x->answer, s);
	return buf_check(&x->answer);
}

static int
answer2_flush(struct exchange *x)
{
	struct agent *a = x->a;

	h2_turn_add(x);
	h2_send(a);
	return 0;
}

/* The answer is complete; the agent may not have taken all of it yet. */
static void
answer2_end(struct exchange *x)
{
	x->ended = true;
	exchange_enter(x, EXCHANGE_ANSWER, MITMD_STALL_MS);
	(void)answer2_flush(x);
}

static void
answer2_refuse(
    struct exchange *x, enum refusal no, const char *detail, bool known)
{
	enum refuse_form form = deny_form(x);
	unsigned status = deny_status(x, no);
	char code[8], size[24], more[4096];
	nghttp2_nv nv[6];
	size_t n = 0;

	x->malformed = no == REFUSE_MALFORMED;
	status = status != 0 ? status : refuse_text(no)->status;
	detail = deny_detail(x, no, detail, more, sizeof(more));
	buf_reset(&x->answer, 0);
	refuse_body(&x->answer, no, exchange_denied_id(x), detail, form);
	snprintf(code, sizeof(code), "%03u", status);
	snprintf(size, sizeof(size), "%zu", x->answer.len);
	nv[n++] = answer2_nv(SPAN(":status"), span_str(code));
	nv[n++] = answer2_nv(SPAN("content-type"), span_str(refuse_type(form)));
	nv[n++] = answer2_nv(SPAN("content-length"), span_str(size));
	if (form == REFUSE_AS_AWS)
		nv[n++] = answer2_nv(SPAN("x-amzn-errortype"),
		    span_str(refuse_aws_type(status)));
	if (!refuse_retries(status))
		nv[n++] = answer2_nv(SPAN("x-should-retry"), SPAN("false"));
	if (status == 429)
		nv[n++] = answer2_nv(
		    SPAN("retry-after"), SPAN(REFUSE_RETRY_AFTER));
	if (answer2_submit(x, nv, n) == -1)
		agent_close(x->a);
	else
		answer2_end(x);
}

void
answer2_drop(struct exchange *x, size_t len)
{
	x->dropped += len;
	/* RFC 9113, 8.1.1, permits an answer before the reset. */
	if (x->malformed && !x->whole && x->ended && x->answer.len == 0) {
		(void)nghttp2_submit_rst_stream(x->a->h2->session,
		    NGHTTP2_FLAG_NONE, x->id, NGHTTP2_PROTOCOL_ERROR);
		return;
	}
	if (x->whole || (!x->req.sized && x->dropped <= MITMD_MAX_DISCARD) ||
	    (x->req.sized && x->left <= MITMD_MAX_DISCARD &&
		x->dropped <= x->left))
		return;
	(void)nghttp2_submit_rst_stream(
	    x->a->h2->session, NGHTTP2_FLAG_NONE, x->id, NGHTTP2_NO_ERROR);
}

static void
answer2_cut(struct exchange *x, bool now)
{
	struct agent *a = x->a;

	buf_reset(&x->answer, 0);
	exchange_abandon(x);
	exchange_enter(x, EXCHANGE_ANSWER, MITMD_STALL_MS);
	(void)nghttp2_submit_rst_stream(a->h2->session, NGHTTP2_FLAG_NONE,
	    x->id, now ? NGHTTP2_CANCEL : NGHTTP2_INTERNAL_ERROR);
	h2_send(a);
}

static size_t
answer2_waiting(const struct exchange *x)
{
	return x->answer.len;
}

void
answer2_consume(struct exchange *x)
{
	if (x->owed == 0 || x->up.out.len >= H2_STREAM_WINDOW / 2 ||
	    (x->holding && !body_room(x)))
		return;
	(void)nghttp2_session_consume(x->a->h2->session, x->id, x->owed);
	x->owed = 0;
}

static void
answer2_drained(struct exchange *x)
{
	answer2_consume(x);
	h2_send(x->a);
}

void
answer2_closed(struct exchange *x)
{
	struct agent *a = x->a;
	bool whole = x->ended && x->answer.len == 0;

	h2_turn_drop(x);
	if (a->h2->turn == x->id)
		a->h2->turn = 0;
	if (x->owed != 0)
		(void)nghttp2_session_consume_connection(
		    a->h2->session, x->owed);
	x->owed = 0;
	buf_free(&x->answer);
	if (a->penalized == x)
		a->penalized = NULL;
	if (!whole)
		exchange_abandon(x);
	exchange_end(x);
	if (x->up.fd == -1) {
		exchange_free(x);
		return;
	}
	TAILQ_REMOVE(&a->exchanges, x, entry);
	x->parked = true;
	TAILQ_INSERT_HEAD(&a->parked, x, entry);
}

const struct front front_http2 = {
    .head = answer2_head,
    .body = answer2_body,
    .flush = answer2_flush,
    .end = answer2_end,
    .refuse = answer2_refuse,
    .cut = answer2_cut,
    .farewell = usage_farewell,
    .waiting = answer2_waiting,
    .drained = answer2_drained,
    .window = H2_ANSWER,
};
