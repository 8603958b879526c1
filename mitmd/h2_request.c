/* SPDX-License-Identifier: ISC */
/*
 * The callbacks of libnghttp2 for an agent's input: header blocks, which are
 * checked like those of HTTP/1.1, bodies, and the ends of streams.
 */
#include "h2.h"

#include "common/log.h"

static struct span
request2_text(struct span s)
{
	return s.p != NULL ? s : SPAN("");
}

/* Refuse the request; its stream serves only the answer from here on. */
static void
request2_refuse(
    struct exchange *x, const struct http1_head *h, enum refusal no, bool known)
{
	struct span none = SPAN("");

	x->denied = mitmd_denied(x->a, no, deny_status(x, no),
	    h != NULL ? request2_text(h->method) : none,
	    h != NULL ? request2_text(h->target) : none, x->req.why);
	deny_request(x, no, known);
}

static struct exchange *
request2_exchange(struct h2 *h, int32_t stream)
{
	struct agent *a = h->a;
	struct exchange *x;

	if ((x = TAILQ_FIRST(&a->parked)) != NULL) {
		TAILQ_REMOVE(&a->parked, x, entry);
		x->parked = false;
		TAILQ_INSERT_TAIL(&a->exchanges, x, entry);
	} else if ((x = request_new(a, &front_http2)) == NULL) {
		return NULL;
	}
	x->id = stream;
	x->ended = x->malformed = false;
	x->owed = x->dropped = 0;
	buf_init(&x->answer, MITMD_MAX_QUEUE);
	nghttp2_session_set_stream_user_data(h->session, stream, x);
	return x;
}

static void
request2_begin(struct exchange *x, const struct request *r)
{
	static const nghttp2_nv go_on = {(uint8_t *)(uintptr_t) ":status",
	    (uint8_t *)(uintptr_t) "100", 7, 3, NGHTTP2_NV_FLAG_NONE};

	if (r->expect)
		(void)nghttp2_submit_headers(x->a->h2->session,
		    NGHTTP2_FLAG_NONE, x->id, NULL, &go_on, 1, NULL);
	request_begin(x, r);
}

static void
request2_head(struct h2 *h, int32_t stream, bool ends)
{
	static struct http1_head head;
	struct exchange *x;
	struct request r;
	enum refusal no;
	bool known;

	if ((x = request2_exchange(h, stream)) == NULL) {
		(void)nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE,
		    stream, NGHTTP2_REFUSED_STREAM);
		return;
	}
	x->whole = ends;
	if (h2_head_end(&h->head, ends, &head) == HTTP1_BAD) {
		x->req.why = head.reason;
		request2_refuse(x, &head,
		    head.large ? REFUSE_HEADERS : REFUSE_MALFORMED, false);
		return;
	}
	no = check_request(h->a, &head, &x->body, &r, &known);
	x->req = r;
	x->left = r.sized ? r.length : 0;
	if (no != REFUSE_NONE)
		request2_refuse(x, &head, no, known);
	else
		request2_begin(x, &r);
}

static bool
request2_over(const struct exchange *x)
{
	return x == NULL || x->gone || x->state == EXCHANGE_ANSWER;
}

/* The body is invalid: answer the request now, or cut its answer. */
static void
request2_bad_body(struct exchange *x, enum refusal no, const char *why)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;

	x->denied = mitmd_denied(x->a, no, 0, p->routes[x->req.route].method,
	    p->routes[x->req.route].path, why);
	if (x->state == EXCHANGE_ON && x->up.answered) {
		x->front->cut(x, false);
		return;
	}
	x->req.why = why;
	exchange_abandon(x);
	deny_request(x, no, false);
}

static void
request2_body_end(struct exchange *x)
{
	if (request2_over(x)) {
		if (x != NULL)
			x->whole = true;
		return;
	}
	if (x->req.sized && x->left != 0)
		request2_bad_body(x, REFUSE_MALFORMED,
		    "the body is shorter than its Content-Length");
	else
		request_body_end(x);
}

static int
on_begin_headers(
    nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct h2 *h = user;

	h2_head_begin(&h->head);
	return 0;
}

static int
on_header(nghttp2_session *session, const nghttp2_frame *frame,
    const uint8_t *name, size_t namelen, const uint8_t *value, size_t valuelen,
    uint8_t flags, void *user)
{
	struct h2 *h = user;

	/* RFC 9113 section 8.2.2: Firefox sends it always. It is not passed on. */
	if (span_is(span_of(name, namelen), "te") &&
	    span_is(span_of(value, valuelen), "trailers"))
		return 0;
	h2_head_field(
	    &h->head, span_of(name, namelen), span_of(value, valuelen));
	return 0;
}

static int
on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct h2 *h = user;
	int32_t stream = frame->hd.stream_id;
	bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
	struct exchange *x;

	if (h->a->dead || h->over)
		return 0;
	if (frame->hd.type == NGHTTP2_HEADERS &&
	    frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
		request2_head(h, stream, ends);
		return 0;
	}
	x = h2_exchange(h, stream);
	if (frame->hd.type == NGHTTP2_HEADERS && !request2_over(x)) {
		x->whole = ends;
		request2_bad_body(x, REFUSE_MALFORMED, "trailers");
	} else if ((frame->hd.type == NGHTTP2_DATA ||
		       frame->hd.type == NGHTTP2_HEADERS) &&
		   ends) {
		request2_body_end(x);
	}
	return 0;
}

static int
on_data(nghttp2_session *session, uint8_t flags, int32_t stream,
    const uint8_t *p, size_t len, void *user)
{
	struct h2 *h = user;
	struct exchange *x = h2_exchange(h, stream);
	enum refusal no;

	if (h->a->dead)
		return 0;
	if (request2_over(x) || x->a->penalized == x) {
		(void)nghttp2_session_consume(session, stream, len);
		if (x != NULL && !x->gone)
			answer2_drop(x, len);
		return 0;
	}
	x->owed += len;
	if (x->req.sized && len > x->left) {
		request2_bad_body(x, REFUSE_MALFORMED,
		    "the body is longer than its Content-Length");
		return 0;
	}
	x->left -= x->req.sized ? len : 0;
	no = request_body(x, span_of(p, len));
	if (no != REFUSE_NONE)
		request2_bad_body(x, no, NULL);
	else if (!x->gone)
		answer2_consume(x);
	return 0;
}

static int
on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *user)
{
	struct h2 *h = user;
	struct exchange *x = h2_exchange(h, stream);

	if (h->a->dead || x == NULL)
		return 0;
	nghttp2_session_set_stream_user_data(session, stream, NULL);
	answer2_closed(x);
	return 0;
}

static int
on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
	struct h2 *h = user;
	struct exchange *x;

	if (frame->hd.type != NGHTTP2_DATA)
		return 0;
	h2_scan_sent(&h->scan, frame->hd.length);
	h->a->taken = loop_now(&mitmd_env.w.loop);
	if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 && !h->a->dead &&
	    (x = h2_exchange(h, frame->hd.stream_id)) != NULL)
		answer2_drop(x, 0);
	return 0;
}

nghttp2_session_callbacks *
h2_callbacks(void)
{
	static nghttp2_session_callbacks *cbs;

	if (cbs != NULL || nghttp2_session_callbacks_new(&cbs) != 0)
		return cbs;
	nghttp2_session_callbacks_set_on_begin_headers_callback(
	    cbs, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(cbs, on_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(cbs, on_frame);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cbs, on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(cbs, on_close);
	nghttp2_session_callbacks_set_on_frame_send_callback(cbs, on_sent);
	return cbs;
}
