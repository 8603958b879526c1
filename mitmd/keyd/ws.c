/* SPDX-License-Identifier: ISC */
/*
 * A provider's WebSocket: its answer to the handshake is checked against keyd's
 * key, its frames are parsed, and their payloads searched for the credential
 * and given new heads. Text that the search holds back is sent with a later
 * piece, so that a message may have more frames than it had before. The
 * provider may know the credential, but is otherwise untrusted.
 */
#include "keyd/answer.h"

#include <openssl/rand.h>

#include "common/ipc/stream.h"

int
reply_ws_init(struct reply *r, char key[WS_KEY + 1])
{
	uint8_t bytes[16];

	if (key[0] == '\0') {
		if (RAND_bytes(bytes, sizeof(bytes)) != 1)
			return -1;
		ws_key(bytes, key);
	}
	r->ws.wanted = true;
	ws_accept(span_str(key), r->ws.accept);
	ws_init(&r->ws.parser, false);
	return 0;
}

const char *
reply_ws_switch(struct reply *r, const struct http1_head *h)
{
	struct span v;

	if (http1_header(h, "upgrade", &v) != 1 ||
	    !span_ieq(v, SPAN("websocket")) ||
	    http1_header(h, "connection", &v) != 1 ||
	    !span_ieq(v, SPAN("upgrade")))
		return "switches to another protocol";
	if (http1_header(h, "sec-websocket-accept", &v) != 1 ||
	    !span_eq(v, span_of(r->ws.accept, WS_ACCEPT)))
		return "Sec-WebSocket-Accept does not fit";
	if (http1_header(h, "sec-websocket-extensions", &v) != 0 ||
	    http1_header(h, "sec-websocket-protocol", &v) != 0)
		return "takes what was not offered";
	r->ws.up = true;
	return NULL;
}

/* Append a frame of the message. */
static int
ws_put(struct reply *r, bool fin, struct span a, struct span b, struct buf *out)
{
	uint64_t len = (uint64_t)a.len + b.len;
	uint8_t head[WS_MAX_HEAD];
	enum ws_op op = r->ws.begun ? WS_CONTINUED : r->ws.parser.message;

	if (len == 0 && !fin)
		return 0;
	r->ws.begun = !fin;
	if (reply_put_body(r, span_of(head, ws_head(head, op, fin, len, NULL)),
		out) == -1 ||
	    reply_put_body(r, a, out) == -1 || reply_put_body(r, b, out) == -1)
		return -1;
	return 0;
}

static enum reply_result
ws_data(
    struct reply *r, const struct scrub *s, struct span data, struct buf *out)
{
	struct ws_parser *p = &r->ws.parser;
	struct span before, pass;
	bool last = p->fin && p->left == 0;

	r->received += data.len;
	if (p->control) {
		memcpy(r->ws.control + r->ws.ncontrol, data.p, data.len);
		r->ws.ncontrol += data.len;
		return REPLY_MORE;
	}
	if (scrub_feed(s, &r->scrub, data, &before, &pass))
		return reply_fail(r, KEYD_FAIL_REFLECTED, "message");
	/*
	 * Pass it on in one piece only if nothing is held back, since held text
	 * may move.
	 */
	if (last && r->scrub.held == 0) {
		if (ws_put(r, true, before, pass, out) == -1)
			return reply_fail_full(r, out);
		r->ws.told = true;
		return REPLY_MORE;
	}
	if (ws_put(r, false, before, pass, out) == -1)
		return reply_fail_full(r, out);
	return REPLY_MORE;
}

/* End of a frame: send the rest of a message, or a control frame. */
static enum reply_result
ws_frame_end(struct reply *r, const struct scrub *s, struct buf *out)
{
	struct ws_parser *p = &r->ws.parser;
	uint8_t head[WS_MAX_HEAD];
	struct span text, before, pass, none = span_of(NULL, 0);

	if (!p->control) {
		if (p->fin && !r->ws.told &&
		    ws_put(r, true, scrub_flush(&r->scrub), none, out) == -1)
			return reply_fail_full(r, out);
		r->ws.told = false;
		return REPLY_MORE;
	}
	text = span_of(r->ws.control, r->ws.ncontrol);
	/*
	 * A control frame is sent whole; the search continues in the next one.
	 */
	if (scrub_feed(s, &r->ws.scrub, text, &before, &pass))
		return reply_fail(r, KEYD_FAIL_REFLECTED, "control frame");
	(void)scrub_flush(&r->ws.scrub);
	if (reply_put_body(r,
		span_of(head, ws_head(head, p->op, true, text.len, NULL)),
		out) == -1 ||
	    reply_put_body(r, text, out) == -1)
		return reply_fail_full(r, out);
	return REPLY_MORE;
}

enum reply_result
reply_ws_feed(
    struct reply *r, const struct scrub *s, struct span in, struct buf *out)
{
	/* A provider's frames are not masked, so nothing is written to. */
	uint8_t *p = (uint8_t *)(uintptr_t)in.p;
	enum reply_result result = REPLY_MORE;
	size_t len = in.len;
	struct span data;

	while (result == REPLY_MORE) {
		switch (ws_next(&r->ws.parser, &p, &len, &data)) {
		case WS_MORE:
			return REPLY_MORE;
		case WS_HEAD:
			if (r->ws.parser.control)
				r->ws.ncontrol = 0;
			break;
		case WS_DATA:
			result = ws_data(r, s, data, out);
			break;
		case WS_END:
			result = ws_frame_end(r, s, out);
			break;
		case WS_BAD:
			return reply_fail(
			    r, KEYD_FAIL_MALFORMED, r->ws.parser.bad);
		}
	}
	return result;
}
