/* SPDX-License-Identifier: ISC */
/*
 * Frames from the agent (RFC 6455): parses them, assembles messages up to the
 * route's limit, passes them to the filter, and composes each as one masked
 * frame. While one is being sent to keyd, no other is read. The agent's bytes
 * are parsed by ws.h.
 */
#include "ws.h"

#include <openssl/rand.h>

#include <stdio.h>
#include <stdlib.h>

#include "body.h"
#include "usage.h"

int
ws_open(struct exchange *x, struct span key)
{
	free(x->ws);
	if ((x->ws = calloc(1, sizeof(*x->ws))) == NULL)
		return -1;
	ws_init(&x->ws->in, true);
	ws_init(&x->ws->back, false);
	ws_accept(key, x->ws->accept);
	x->gathers = true;
	return 0;
}

bool
ws_reads(const struct exchange *x)
{
	const struct ws *ws = x->ws;

	if (!ws->up)
		return x->a->in.len < MITMD_MAX_AHEAD;
	return !ws->sending && !ws->said && x->up.out.len < MITMD_WINDOW;
}

bool
ws_waits(const struct exchange *x)
{
	const struct ws *ws = x->ws;

	return ws->up && (ws_partial(&ws->in) || ws->in.closed || ws->said);
}

/* Refuse a message: record it and close the WebSocket. */
static void
ws_refuse(
    struct exchange *x, enum refusal no, enum ws_code code, const char *why)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;
	const struct provider_route *r = &p->routes[x->req.route];
	char reason[WS_MAX_CONTROL - 1];
	uint32_t id;

	id = mitmd_denied(x->a, no, 0, r->method, r->path, why);
	snprintf(reason, sizeof(reason), "IronCurtain: %s%s%s (request %08x)",
	    refuse_text(no)->code, why != NULL ? ": " : "",
	    why != NULL ? why : "", id);
	ws_end(x, code, reason);
}

static enum ws_code
ws_code_of(enum refusal no)
{
	if (no == REFUSE_LENGTH)
		return WS_TOO_LARGE;
	return no == REFUSE_HELD ? WS_INTERNAL : WS_POLICY;
}

/*
 * Send the agent's control frame to the provider; a reply comes back like any
 * frame.
 */
static void
ws_control(struct exchange *x)
{
	uint8_t frame[WS_MAX_HEAD + WS_MAX_CONTROL], mask[4];
	struct ws *ws = x->ws;
	size_t n;

	if (++ws->idle > WS_MAX_IDLE) {
		ws_refuse(
		    x, REFUSE_MALFORMED, WS_POLICY, "too many control frames");
		return;
	}
	if (RAND_bytes(mask, sizeof(mask)) != 1) {
		ws_end(x, WS_INTERNAL, "");
		return;
	}
	n = ws_head(frame, ws->in.op, true, ws->ncontrol, mask);
	memcpy(frame + n, ws->control, ws->ncontrol);
	ws_mask(frame + n, ws->ncontrol, mask, 0);
	if (upstream_put(x, span_of(frame, n + ws->ncontrol)) == -1)
		agent_close(x->a);
}

/* A message is complete in x->held. */
static void
ws_message(struct exchange *x)
{
	struct ws *ws = x->ws;
	enum refusal no;

	ws->idle = 0;
	if ((no = body_check(x)) == REFUSE_NONE) {
		/* It asks for an answer: the one before has no more to say. */
		if (!x->silent)
			usage_turn(x);
		if (body_frame(x, ws->in.message) == -1)
			no = REFUSE_HELD;
	}
	if (no != REFUSE_NONE) {
		ws_refuse(x, no, ws_code_of(no), x->req.why);
		return;
	}
	ws->sending = true;
	x->gathers = false;
	if (upstream_flush(x) == -1)
		agent_close(x->a);
}

static void
ws_piece(struct exchange *x, struct span data)
{
	struct ws *ws = x->ws;
	enum refusal no;

	if (ws->in.control) {
		memcpy(ws->control + ws->ncontrol, data.p, data.len);
		ws->ncontrol += data.len;
	} else if ((no = body_put(x, data)) != REFUSE_NONE) {
		ws_refuse(x, no, ws_code_of(no), NULL);
	}
}

static void
ws_frame(struct exchange *x)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;
	struct ws *ws = x->ws;

	if (ws->in.control)
		ws->ncontrol = 0;
	else if (ws->in.left > p->routes[x->req.route].max - x->held.size)
		ws_refuse(x, REFUSE_LENGTH, WS_TOO_LARGE, NULL);
	/* Fragments without data. */
	else if (ws->in.left == 0 && !ws->in.fin && ++ws->idle > WS_MAX_IDLE)
		ws_refuse(
		    x, REFUSE_MALFORMED, WS_POLICY, "too many empty frames");
}

size_t
ws_input(struct exchange *x, struct span s)
{
	/* The bytes are in a writable buffer: a scratch buffer or a->in. */
	uint8_t *p = (uint8_t *)(uintptr_t)s.p;
	struct ws *ws = x->ws;
	size_t len = s.len;
	struct span data;
	bool more = true;

	if (!ws->up)
		return 0;
	x->progress = loop_now(&mitmd_env.w.loop);
	while (more && !x->gone && ws_reads(x)) {
		switch (ws_next(&ws->in, &p, &len, &data)) {
		case WS_MORE:
			more = false;
			break;
		case WS_HEAD:
			ws_frame(x);
			break;
		case WS_DATA:
			ws_piece(x, data);
			break;
		case WS_END:
			if (ws->in.control)
				ws_control(x);
			else if (ws->in.fin)
				ws_message(x);
			break;
		case WS_BAD:
			ws_refuse(x, REFUSE_MALFORMED, ws->in.code, ws->in.bad);
			more = false;
			break;
		}
	}
	return x->gone ? s.len : s.len - len;
}
