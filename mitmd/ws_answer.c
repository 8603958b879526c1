/* SPDX-License-Identifier: ISC */
/*
 * The agent's side of a WebSocket: the answer to its handshake is made here,
 * and the provider's frames get new heads. They are checked like the agent's;
 * nothing of them is stored.
 */
#include "ws.h"

#include <stdio.h>

#include "body.h"
#include "tls.h"
#include "usage.h"

/* Frames of one turn: one connection is written at a time. */
static struct buf ws_out = {.max = MITMD_MAX_QUEUE};

int
ws_begin(struct exchange *x, struct span headers)
{
	struct buf *b = &ws_out;
	struct span name, value;

	if (x->ws == NULL)
		return -1;
	buf_adds(b, "HTTP/1.1 101 Switching Protocols\r\n"
		    "upgrade: websocket\r\nconnection: Upgrade\r\n"
		    "sec-websocket-accept: ");
	buf_adds(b, x->ws->accept);
	buf_add(b, "\r\n", 2);
	while (provider_unpack(&headers, &name, &value) == 1) {
		buf_addspan(b, name);
		buf_add(b, ": ", 2);
		buf_addspan(b, value);
		buf_add(b, "\r\n", 2);
	}
	buf_add(b, "\r\n", 2);
	/* The new front's next flush sends it. */
	x->front = &front_ws;
	x->ws->up = true;
	return b->failed ? -1 : 0;
}

static int
front_ws_head(struct exchange *x, unsigned status, struct span headers,
    bool sized, uint64_t length)
{
	return -1;
}

/* Meter a message of the provider like an event. */
static void
front_ws_meter(struct exchange *x, enum ws_event event, struct span data)
{
	const struct ws_parser *back = &x->ws->back;

	if (back->control || back->message != WS_TEXT)
		return;
	if (event == WS_DATA)
		usage_feed(x, data);
	else if (event == WS_HEAD && (back->head[0] & 0x0fU) == WS_TEXT)
		usage_feed(x, SPAN("data: "));
	else if (event == WS_END && back->fin)
		usage_feed(x, SPAN("\n\n"));
}

static int
front_ws_body(struct exchange *x, struct span s)
{
	struct ws_parser *back = &x->ws->back;
	uint8_t head[WS_MAX_HEAD], *p = (uint8_t *)(uintptr_t)s.p;
	size_t len = s.len;
	struct span data = span_of(NULL, 0);
	enum ws_op op;

	for (;;) {
		switch (ws_next(back, &p, &len, &data)) {
		case WS_MORE:
			return 0;
		case WS_HEAD:
			op = (back->head[0] & 0x0fU) == WS_CONTINUED
				 ? WS_CONTINUED
				 : back->op;
			buf_add(&ws_out, head,
			    ws_head(head, op, back->fin, back->left, NULL));
			front_ws_meter(x, WS_HEAD, data);
			break;
		case WS_DATA:
			buf_addspan(&ws_out, data);
			if (ws_out.failed)
				return -1;
			front_ws_meter(x, WS_DATA, data);
			break;
		case WS_END:
			front_ws_meter(x, WS_END, data);
			break;
		case WS_BAD:
			return -1;
		}
	}
}

static int
front_ws_flush(struct exchange *x)
{
	return mitmd_tls_put_buf(x->a, &ws_out);
}

static void
front_ws_end(struct exchange *x)
{
	if (front_ws_flush(x) == -1)
		agent_close(x->a);
	else if (x->ws->back.closed)
		agent_linger(x->a);
	else
		ws_end(x, WS_GOING_AWAY, "");
}

void
ws_end(struct exchange *x, enum ws_code code, const char *reason)
{
	uint8_t frame[WS_MAX_HEAD + WS_MAX_CONTROL];
	size_t n, len = strlen(reason);
	struct agent *a = x->a;

	if (len > WS_MAX_CONTROL - 2)
		len = WS_MAX_CONTROL - 2;
	buf_reset(&ws_out, 256U << 10);
	x->ws->said = true;
	n = ws_head(frame, WS_CLOSE, true, len + 2, NULL);
	frame[n++] = (uint8_t)((unsigned)code >> 8);
	frame[n++] = (uint8_t)code;
	memcpy(frame + n, reason, len);
	/* A frame cannot follow an incomplete one. */
	if (ws_partial(&x->ws->back) && x->ws->back.payload)
		a->cut = true;
	else if (!x->ws->back.closed &&
		 mitmd_tls_put(a, span_of(frame, n + len)) == -1) {
		agent_close(a);
		return;
	}
	agent_linger(a);
}

/*
 * Write the refusal as an error event of the provider's form, with its status.
 */
static int
ws_error(struct buf *b, enum refusal no, uint32_t id, const char *detail)
{
	struct span s, error = SPAN("{\"error\":");
	struct buf body;
	int r;

	buf_init(&body, 8192);
	(void)refuse_body(&body, no, id, detail, REFUSE_AS_JSON);
	s = buf_span(&body);
	if (span_starts(s, error)) {
		buf_printf(b, "{\"type\":\"error\",\"status\":%u,",
		    refuse_text(no)->status);
		s = span_of(s.p + 1, s.len - 1);
	}
	buf_addspan(b, s);
	r = body.failed || b->failed ? -1 : 0;
	buf_free(&body);
	return r;
}

static bool
front_ws_farewell(struct exchange *x, enum refusal no, const char *detail)
{
	uint8_t head[WS_MAX_HEAD];
	char reason[64];
	struct buf b;
	bool said;

	if (ws_partial(&x->ws->back) || x->ws->back.closed)
		return false;
	buf_init(&b, 8192);
	said = ws_error(&b, no, x->denied, detail) == 0 &&
	       mitmd_tls_put(x->a, span_of(head, ws_head(head, WS_TEXT, true,
						     b.len, NULL))) == 0 &&
	       mitmd_tls_put(x->a, buf_span(&b)) == 0;
	buf_free(&b);
	if (!said)
		return false;
	snprintf(reason, sizeof(reason), "IronCurtain: %s (request %08x)",
	    refuse_text(no)->code, exchange_denied_id(x));
	ws_end(x, WS_POLICY, reason);
	return true;
}

static void
front_ws_refuse(
    struct exchange *x, enum refusal no, const char *detail, bool known)
{
	char reason[64];

	snprintf(reason, sizeof(reason), "IronCurtain: %s (request %08x)",
	    refuse_text(no)->code, exchange_denied_id(x));
	ws_end(x, WS_INTERNAL, reason);
}

static void
front_ws_cut(struct exchange *x, bool now)
{
	if (now)
		agent_close(x->a);
	else
		front_ws_refuse(x, REFUSE_PROVIDER, NULL, true);
}

static size_t
front_ws_waiting(const struct exchange *x)
{
	return x->a->out.len;
}

/* keyd has the whole message: the next one may come. */
static void
front_ws_drained(struct exchange *x)
{
	if (x->ws->sending && hold_left(&x->held) == 0) {
		body_drop(x);
		x->ws->sending = false;
		x->gathers = true;
	}
}

const struct front front_ws = {
    .head = front_ws_head,
    .body = front_ws_body,
    .flush = front_ws_flush,
    .end = front_ws_end,
    .refuse = front_ws_refuse,
    .cut = front_ws_cut,
    .farewell = front_ws_farewell,
    .waiting = front_ws_waiting,
    .drained = front_ws_drained,
    .window = MITMD_WINDOW,
    .frames = true,
};
