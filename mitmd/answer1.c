/* SPDX-License-Identifier: ISC */
/*
 * Answers over HTTP/1.1, from keyd or from mitmd. If a refused request has a
 * small body of known length, the body is skipped and the connection kept; a
 * malformed request ends the connection.
 */
#include "mitmd.h"

#include <stdio.h>

#include "tls.h"
#include "usage.h"

/*
 * A piece of this size or more is encrypted from where it is; smaller ones are
 * copied together, to share a record.
 */
#define ANSWER1_LARGE 8192U

/* Output for one read from keyd: one exchange at a time. */
static struct buf answer1_out = {.max = MITMD_MAX_QUEUE};

static int
answer1_head(struct exchange *x, unsigned status, struct span headers,
    bool sized, uint64_t length)
{
	bool bodyless = status == 204 || status == 304 || x->req.head;
	struct buf *b = &answer1_out;
	struct span name, value;

	if (status == 101)
		return ws_begin(x, headers);
	buf_adds(b, "HTTP/1.1 ");
	buf_addu64(b, status);
	buf_addc(b, ' ');
	buf_adds(b, refuse_phrase(status));
	buf_add(b, "\r\n", 2);
	while (provider_unpack(&headers, &name, &value) == 1) {
		buf_addspan(b, name);
		buf_add(b, ": ", 2);
		buf_addspan(b, value);
		buf_add(b, "\r\n", 2);
	}
	if (!sized) {
		buf_adds(b, "transfer-encoding: chunked\r\n");
	} else if (!bodyless) {
		buf_adds(b, "content-length: ");
		buf_addu64(b, length);
		buf_add(b, "\r\n", 2);
	}
	/*
	 * An answer sent before the end of its request is the connection's
	 * last.
	 */
	if (!x->whole)
		x->req.close = true;
	if (x->req.close)
		buf_adds(b, "connection: close\r\n");
	buf_add(b, "\r\n", 2);
	return b->failed ? -1 : 0;
}

/* Encrypt what was composed. */
static int
answer1_gather(struct exchange *x)
{
	int r;

	if ((r = buf_check(&answer1_out)) == 0)
		r = mitmd_tls_add(x->a, buf_span(&answer1_out));
	buf_reset(&answer1_out, MITMD_KEEP);
	return r;
}

static int
answer1_body(struct exchange *x, struct span s)
{
	char size[24];
	int n;

	if (x->up.sized && s.len >= ANSWER1_LARGE) {
		if (answer1_gather(x) == -1)
			return -1;
		return mitmd_tls_add(x->a, s);
	}
	if (x->up.sized) {
		buf_addspan(&answer1_out, s);
		return buf_check(&answer1_out);
	}
	n = snprintf(size, sizeof(size), "%zx\r\n", s.len);
	buf_add(&answer1_out, size, (size_t)n);
	buf_addspan(&answer1_out, s);
	buf_add(&answer1_out, "\r\n", 2);
	return buf_check(&answer1_out);
}

static int
answer1_flush(struct exchange *x)
{
	return mitmd_tls_put_buf(x->a, &answer1_out);
}

void
answer1_next(struct exchange *x)
{
	exchange_end(x);
	agent_enter(x->a, AGENT_OPEN, MITMD_IDLE_MS);
}

static void
answer1_end(struct exchange *x)
{
	bool close = x->req.close;

	if (!x->up.sized)
		buf_adds(&answer1_out, "0\r\n\r\n");
	if (answer1_flush(x) == -1)
		agent_close(x->a);
	else if (close)
		agent_linger(x->a);
	else
		answer1_next(x);
}

/* After the answer: skip the rest of the request, then go on to the next. */
static void
answer1_rest(struct exchange *x)
{
	bool chunked = x->body.framing == HTTP1_CHUNKED;

	if (chunked ? x->body.done : x->left == 0) {
		answer1_next(x);
		return;
	}
	if (chunked)
		x->left = MITMD_MAX_DISCARD;
	exchange_enter(x, EXCHANGE_DISCARD, MITMD_STALL_MS);
}

static void
answer1_refuse(
    struct exchange *x, enum refusal no, const char *detail, bool known)
{
	struct agent *a = x->a;
	char more[4096];
	struct buf b;
	bool close;
	int r;

	close = !known || x->req.close || x->req.expect ||
		x->left > MITMD_MAX_DISCARD;
	detail = deny_detail(x, no, detail, more, sizeof(more));
	buf_reset(&answer1_out, MITMD_KEEP);
	buf_init(&b, 16384);
	r = refuse_compose(&b, no, deny_status(x, no), exchange_denied_id(x),
	    detail, deny_form(x), close);
	if (r == 0)
		r = mitmd_tls_put(a, buf_span(&b));
	buf_free(&b);
	if (r == -1)
		agent_close(a);
	else if (close)
		agent_linger(a);
	else
		answer1_rest(x);
}

static void
answer1_cut(struct exchange *x, bool now)
{
	buf_reset(&answer1_out, MITMD_KEEP);
	x->a->cut = true;
	if (now)
		agent_close(x->a);
	else
		agent_linger(x->a);
}

static size_t
answer1_waiting(const struct exchange *x)
{
	return x->a->out.len;
}

/* Nothing to do: agent_events() reads the socket again when there is room. */
static void
answer1_drained(struct exchange *x)
{
}

const struct front front_http1 = {
    .head = answer1_head,
    .body = answer1_body,
    .flush = answer1_flush,
    .end = answer1_end,
    .refuse = answer1_refuse,
    .cut = answer1_cut,
    .farewell = usage_farewell,
    .waiting = answer1_waiting,
    .drained = answer1_drained,
    .window = MITMD_WINDOW,
};
