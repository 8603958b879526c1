/* SPDX-License-Identifier: ISC */
/*
 * Reads one answer. Stores its head until it is complete, and nothing of its
 * body. The raw head is searched for the credential before any of it is used,
 * and the body before it is framed.
 */
#include "keyd/answer.h"

#include <time.h>

#include "common/ipc/stream.h"
#include "keyd/retry.h"

static const char *const reply_texts[] = {
#define KEYD_FAIL_TEXT(name, text) [KEYD_FAIL_##name] = text,
    KEYD_FAILS(KEYD_FAIL_TEXT)
#undef KEYD_FAIL_TEXT
};

const char *
keyd_fail_text(enum keyd_fail fail)
{
	return (unsigned)fail < KEYD_FAIL_COUNT ? reply_texts[fail] : "";
}

void
reply_init(struct reply *r, uint32_t exchange, bool nobody)
{
	*r = (struct reply){.exchange = exchange, .nobody = nobody};
	buf_init(&r->head, HTTP1_MAX_HEAD + 1);
}

void
reply_free(struct reply *r)
{
	buf_free(&r->head);
	/* These may hold the beginning of a key. */
	explicit_bzero(&r->scrub, sizeof(r->scrub));
	explicit_bzero(&r->ws.scrub, sizeof(r->ws.scrub));
}

static void
reply_lower(struct span s, uint8_t *dst)
{
	for (size_t i = 0; i < s.len; i++) {
		dst[i] = s.p[i];
		if (s.p[i] >= 'A' && s.p[i] <= 'Z')
			dst[i] = (uint8_t)(s.p[i] + ('a' - 'A'));
	}
}

/*
 * Keep the header of reply->take. Returns false if there are two, or one that
 * nobody could send back.
 */
static bool
reply_keep(struct reply_take *t, const struct http1_head *h)
{
	struct span v = SPAN("");
	unsigned n = 0;

	for (unsigned i = 0; i < h->nheaders; i++) {
		if (!span_ieq(h->headers[i].name, span_str(t->name)))
			continue;
		v = h->headers[i].value;
		n++;
	}
	for (size_t i = 0; i < v.len; i++)
		if (v.p[i] <= 0x20 || v.p[i] > 0x7e)
			return false;
	return n <= 1 && (t->redirect || v.len <= REPLY_MAX_KEPT) &&
	       span_copy(v, t->value, sizeof(t->value)) == 0;
}

/* Keep Last-Modified of an answer that is held, if there is exactly one. */
static void
reply_hold_head(struct reply_hold *hold, const struct http1_head *h)
{
	unsigned n = 0;

	hold->modified[0] = '\0';
	for (unsigned i = 0; i < h->nheaders; i++) {
		if (!span_ieq(h->headers[i].name, SPAN("last-modified")))
			continue;
		if (n++ != 0 || span_copy(h->headers[i].value, hold->modified,
				    sizeof(hold->modified)) == -1)
			hold->modified[0] = '\0';
	}
}

/* Append the headers on the list, as far as there is room. */
static void
reply_pack_headers(
    const struct provider *p, const struct http1_head *h, struct buf *b)
{
	uint8_t name[PROVIDER_MAX_NAME];
	struct span n, v;

	for (unsigned i = 0; i < h->nheaders; i++) {
		n = h->headers[i].name;
		v = h->headers[i].value;
		if (n.len > sizeof(name))
			continue;
		reply_lower(n, name);
		n.p = name;
		if (!provider_name_ok(n) || !provider_listed(&p->response, n) ||
		    !provider_value_ok(v))
			continue;
		if (provider_pack(b, n, v) == -1)
			break;
	}
}

/*
 * Append the HEAD frame: status, framing, length, and the headers on the list.
 * Returns 0, or -1 after reply_fail().
 */
static int
reply_put_head(struct reply *r, const struct provider *p,
    const struct http1_head *h, struct buf *out)
{
	uint8_t fixed[11] = {0};
	struct buf b;
	int ret = -1;

	if (r->hold != NULL) {
		reply_hold_head(r->hold, h);
		if (r->hold->heads != NULL) {
			buf_reset(r->hold->heads, STREAM_MAX_FRAME);
			reply_pack_headers(p, h, r->hold->heads);
		}
		return 0;
	}
	buf_init(&b, STREAM_MAX_FRAME);
	fixed[0] = (uint8_t)r->status;
	fixed[1] = (uint8_t)(r->status >> 8);
	fixed[2] = r->framing == HTTP1_NONE     ? 0
		   : r->framing == HTTP1_LENGTH ? 1
						: 2;
	for (unsigned i = 0; i < 8 && r->framing == HTTP1_LENGTH; i++)
		fixed[3 + i] = (uint8_t)(r->body.length >> (8 * i));
	buf_add(&b, fixed, sizeof(fixed));
	reply_pack_headers(p, h, &b);
	if (b.failed)
		(void)reply_fail(r, KEYD_FAIL_INTERNAL,
		    reply_full(&b, "the frame of the answer's head"));
	else if (reply_frame(out, r->exchange, STREAM_HEAD, buf_span(&b)) == -1)
		(void)reply_fail_full(r, out);
	else
		ret = 0;
	buf_free(&b);
	return ret;
}

/* Returns true if the answer has a coding other than the requested identity. */
static bool
reply_is_coded(const struct http1_head *h)
{
	for (unsigned i = 0; i < h->nheaders; i++) {
		if (span_ieq(h->headers[i].name, SPAN("content-encoding")) &&
		    !span_ieq(h->headers[i].value, SPAN("identity")))
			return true;
	}
	return false;
}

static bool
reply_says_close(const struct http1_head *h)
{
	for (unsigned i = 0; i < h->nheaders; i++) {
		if (span_ieq(h->headers[i].name, SPAN("connection")) &&
		    !span_ieq(h->headers[i].value, SPAN("keep-alive")))
			return true;
	}
	return false;
}

/*
 * AWS answers 403 to an expired session token, and to much else; a header tells
 * them apart: ExpiredTokenException, ExpiredToken.
 */
static bool
reply_is_unauthorized(const struct provider *p, const struct http1_head *h)
{
	if (h->status != 403 || p->sigv4.service.len == 0)
		return h->status == 401;
	for (unsigned i = 0; i < h->nheaders; i++) {
		if (span_ieq(h->headers[i].name, SPAN("x-amzn-errortype")) &&
		    span_starts(h->headers[i].value, SPAN("ExpiredToken")))
			return true;
	}
	return false;
}

/* Process a 101: WebSocket frames follow, not a body. */
static enum reply_result
reply_take_switch(struct reply *r, const struct provider *p,
    const struct http1_head *h, struct buf *out)
{
	const char *bad = "switches protocols unasked";

	if (!r->ws.wanted || (bad = reply_ws_switch(r, h)) != NULL)
		return reply_fail(r, KEYD_FAIL_MALFORMED, bad);
	r->status = h->status;
	r->framing = HTTP1_CLOSE;
	if (reply_put_head(r, p, h, out) == -1)
		return REPLY_FAIL;
	r->headed = true;
	return REPLY_DONE;
}

/* Process a complete head: drop a 1xx, turn a final one into the HEAD frame. */
static enum reply_result
reply_take_head(struct reply *r, const struct provider *p,
    const struct http1_head *h, struct buf *out)
{
	if (h->status < 200) {
		if (h->status == 101)
			return reply_take_switch(r, p, h, out);
		if (++r->interim > HTTP1_MAX_INTERIM)
			return reply_fail(r, KEYD_FAIL_INTERIM, "1xx");
		return REPLY_MORE;
	}
	if (r->unauthorized != KEYD_FAIL_NONE && reply_is_unauthorized(p, h))
		return reply_fail(r, r->unauthorized,
		    h->status == 401 ? "401" : "403 ExpiredToken");
	if ((h->status == 307 || h->status == 308) && r->moved != NULL &&
	    r->moved(h))
		return reply_fail(r, KEYD_FAIL_MOVED, "3xx");
	/* A 304 answers the agent's own If-None-Match and redirects nowhere. */
	if (h->status >= 300 && h->status < 400 && h->status != 304 &&
	    (r->stay || !provider_listed(&p->response, SPAN("location")))) {
		r->status = h->status;
		return r->take != NULL && r->take->redirect &&
			       reply_keep(r->take, h)
			   ? reply_fail(r, KEYD_FAIL_FOLLOW, "")
			   : reply_fail(r, KEYD_FAIL_REDIRECT, "3xx");
	}
	if (reply_is_coded(h))
		return reply_fail(r, KEYD_FAIL_CODED, "content-encoding");
	if (http1_response_body(h, r->nobody, &r->body) != HTTP1_OK)
		return reply_fail(r, KEYD_FAIL_MALFORMED, r->body.reason);
	if (r->max != 0 && r->body.framing == HTTP1_LENGTH &&
	    r->body.length > r->max)
		return reply_fail(r, KEYD_FAIL_REPLY, "announced as too large");
	r->status = h->status;
	r->retry = h->status == 429 ? retry_seconds(h, time(NULL)) : 0;
	if (h->status == 403 && r->forbidden != NULL)
		r->forbidden(h);
	r->http10 = h->http10;
	r->close = reply_says_close(h);
	r->framing = r->body.framing;
	if (r->take != NULL && !r->take->redirect && !reply_keep(r->take, h))
		return reply_fail(r, KEYD_FAIL_MALFORMED, r->take->name);
	if (reply_put_head(r, p, h, out) == -1)
		return REPLY_FAIL;
	r->headed = true;
	return REPLY_DONE;
}

/*
 * Collect the head. Returns REPLY_DONE when the HEAD frame is written and `in`
 * is at the body.
 */
static enum reply_result
reply_feed_head(struct reply *r, const struct provider *p,
    const struct scrub *s, struct span *in, struct buf *out)
{
	static struct http1_head h;
	enum reply_result result;
	size_t n;

	for (;;) {
		n = HTTP1_MAX_HEAD + 1 - r->head.len;
		if (n > in->len)
			n = in->len;
		if (n != 0)
			buf_add(&r->head, in->p, n);
		if (r->head.failed)
			return reply_fail(r, KEYD_FAIL_INTERNAL,
			    reply_full(&r->head, "the answer's head"));
		*in = span_of(in->p + n, in->len - n);
		switch (http1_response_more(buf_span(&r->head), &r->seen, &h)) {
		case HTTP1_MORE:
			if (in->len == 0)
				return REPLY_MORE;
			if (n == 0)
				return reply_fail(
				    r, KEYD_FAIL_MALFORMED, "head too large");
			continue;
		case HTTP1_BAD:
			return reply_fail(r, KEYD_FAIL_MALFORMED, h.reason);
		case HTTP1_OK:
			break;
		}
		if (scrub_find(s, span_of(buf_span(&r->head).p, h.size)))
			return reply_fail(r, KEYD_FAIL_REFLECTED, "head");
		result = reply_take_head(r, p, &h, out);
		/* The bytes after the head are still in the buffer of `in`. */
		n = r->head.len - h.size;
		if (result == REPLY_DONE) {
			*in = span_of(in->p - n, in->len + n);
			buf_free(&r->head);
		} else if (result == REPLY_MORE) {
			buf_drain(&r->head, h.size);
			r->seen = 0;
			continue;
		}
		return result;
	}
}

static enum reply_result
reply_end(struct reply *r, struct buf *out)
{
	struct span held;

	held = scrub_end(&r->scrub);
	r->done = true;
	if (reply_put_body(r, held, out) == -1 ||
	    reply_slot_end(r, out) == -1 ||
	    (r->hold == NULL && reply_frame(out, r->exchange, STREAM_END,
				    span_of(NULL, 0)) == -1))
		return reply_fail_full(r, out);
	return REPLY_DONE;
}

/*
 * Search a piece of the body for the credential, unless nothing of it is passed
 * on. Returns true if it has it; else, two parts that may be used.
 */
static bool
reply_search(struct reply *r, const struct scrub *s, struct span data,
    struct span *before, struct span *pass)
{
	if (r->hold == NULL || !r->hold->unsearched)
		return scrub_feed(s, &r->scrub, data, before, pass);
	*before = span_of(NULL, 0);
	*pass = data;
	return false;
}

static enum reply_result
reply_feed_body(
    struct reply *r, const struct scrub *s, struct span in, struct buf *out)
{
	struct span data, before, pass;
	enum http1_result result;
	size_t used;

	while (!r->body.done) {
		result = http1_body_next(&r->body, in, &data, &used);
		if (result == HTTP1_BAD)
			return reply_fail(
			    r, KEYD_FAIL_MALFORMED, r->body.reason);
		if (reply_search(r, s, data, &before, &pass))
			return reply_fail(r, KEYD_FAIL_REFLECTED, "body");
		r->received += data.len;
		if (r->max != 0 && r->received > r->max)
			return reply_fail(r, KEYD_FAIL_REPLY, "too large");
		if (r->hold != NULL &&
		    data.len > r->hold->max - *r->hold->total)
			return reply_fail(
			    r, KEYD_FAIL_BUSY, "too much is held at once");
		if (reply_put_body(r, before, out) == -1 ||
		    reply_put_body(r, pass, out) == -1)
			return reply_fail_full(r, out);
		in = span_of(in.p + used, in.len - used);
		if (result == HTTP1_MORE)
			return REPLY_MORE;
	}
	r->trailing = in.len != 0;
	return reply_end(r, out);
}

enum reply_result
reply_feed(struct reply *r, const struct provider *p, const struct scrub *s,
    struct span in, struct buf *out)
{
	enum reply_result result;

	if (r->done) {
		r->trailing |= in.len != 0;
		return REPLY_DONE;
	}
	if (!r->headed) {
		result = reply_feed_head(r, p, s, &in, out);
		if (result != REPLY_DONE)
			return result;
	}
	return r->ws.up ? reply_ws_feed(r, s, in, out)
			: reply_feed_body(r, s, in, out);
}

enum reply_result
reply_eof(struct reply *r, bool clean, struct buf *out)
{
	if (r->done)
		return REPLY_DONE;
	if (!r->headed)
		return reply_fail(r,
		    r->head.len == 0 ? KEYD_FAIL_SILENT : KEYD_FAIL_CUT,
		    "closed before the answer's head was complete");
	if (r->ws.up ? !r->ws.parser.closed
		     : !clean || http1_body_eof(&r->body) != HTTP1_OK)
		return reply_fail(r, KEYD_FAIL_CUT, "closed within the body");
	return reply_end(r, out);
}

bool
keyd_reuse_ok(const struct keyd_reuse *u)
{
	/*
	 * A provider that did not read the body would take its bytes, which an
	 * agent wrote, for the beginning of the next request.
	 */
	return u->allowed && u->sent_whole && u->reads && u->status >= 200 &&
	       u->status < 300 && u->done && u->framing != HTTP1_CLOSE &&
	       !u->http10 && !u->close && !u->trailing;
}
