/* SPDX-License-Identifier: ISC */
/*
 * Bodies that must be complete before any part is sent: those of unknown
 * length, encoded ones, and those that a filter inspects. They are counted,
 * decoded, checked, rewritten if the filter changed them, and only then
 * announced. The agent's bytes are parsed by decode.h and body/filter.h.
 */
#include "body.h"

#include <openssl/rand.h>

#include <errno.h>
#include <stdio.h>

#include "body/filter.h"
#include "common/log.h"
#include "tls.h"

/* One body is checked at a time, from beginning to end. */
static struct filter body_filter;
static uint64_t body_seed[2];

void
body_seed_set(const uint64_t seed[2])
{
	body_seed[0] = seed[0];
	body_seed[1] = seed[1];
}

static const struct provider *
body_provider(const struct exchange *x)
{
	return mitmd_env.providers[x->a->provider].p;
}

bool
body_is_held(const struct exchange *x)
{
	const struct provider *p = body_provider(x);
	const struct provider_route *r = &p->routes[x->req.route];

	/* The messages of a WebSocket are held one by one. */
	if (x->req.websocket)
		return false;
	if (!x->req.sized || r->call)
		return true;
	return x->req.length != 0 &&
	       (x->req.coding != DECODE_IDENTITY || provider_is_digested(r) ||
		   filter_applies(&p->filter, r->dialect));
}

/* Compute the digest of exactly the bytes to be sent: keyd compares. */
static enum refusal
body_digest(struct exchange *x)
{
	struct span all = SPAN("");

	if (x->held.size != 0 && hold_look(&x->held, &all) == -1)
		return REFUSE_HELD;
	mitmd_sha256(all, x->req.digest);
	return ask_look(x, all);
}

void
body_hold(struct exchange *x)
{
	if (x->holding)
		return;
	x->holding = true;
	if (x->req.sized && !x->req.websocket)
		x->held.all = (size_t)x->req.length;
	TAILQ_INSERT_TAIL(&mitmd_env.holding, x, hold_entry);
}

void
body_unhold(struct exchange *x)
{
	if (!x->holding)
		return;
	TAILQ_REMOVE(&mitmd_env.holding, x, hold_entry);
	x->holding = false;
}

void
body_drop(struct exchange *x)
{
	body_unhold(x);
	mitmd_env.held -= x->reserved;
	mitmd_env.freed |= x->reserved != 0;
	x->reserved = 0;
	hold_reset(&x->held);
}

/* Reserve `n` bytes in all for x. Returns false if there is not enough room. */
static bool
body_reserve(struct exchange *x, size_t n)
{
	if (n <= x->reserved)
		return true;
	if (n - x->reserved > mitmd_env.max_held - mitmd_env.held) {
		mitmd_env.starved = true;
		return false;
	}
	mitmd_env.held += n - x->reserved;
	x->reserved = n;
	return true;
}

/*
 * Reserve room before reading: for the whole body if its length is known, so
 * that a body once begun can be completed; otherwise for twice what has
 * arrived.
 */
bool
body_room(struct exchange *x)
{
	const struct provider *p = body_provider(x);
	size_t max = (size_t)p->routes[x->req.route].max, want;

	if (!x->holding)
		return true;
	if (x->req.sized) {
		want = (size_t)x->req.length;
	} else {
		want = 2 * x->held.size + MITMD_HELD_READ;
		if (want > max)
			want = max;
		/* Enough is reserved for one more read. */
		if (x->reserved >= x->held.size + MITMD_HELD_READ)
			want = 0;
	}
	return body_reserve(x, want);
}

enum refusal
body_put(struct exchange *x, struct span data)
{
	const struct provider *p = body_provider(x);

	if (data.len > p->routes[x->req.route].max - x->held.size)
		return REFUSE_LENGTH;
	if (!body_reserve(x, x->held.size + data.len) ||
	    hold_put(&x->held, data) == -1)
		return REFUSE_HELD;
	return REFUSE_NONE;
}

uint8_t *
body_place(struct exchange *x, size_t n)
{
	/* The length was checked, and all of it reserved. */
	return n <= x->reserved - x->held.size ? hold_room(&x->held, n) : NULL;
}

void
body_placed(struct exchange *x, size_t n)
{
	x->progress = loop_now(&mitmd_env.w.loop);
	hold_grow(&x->held, n);
}

static int
body_piece(void *arg, struct span s)
{
	struct hold *to = arg;

	if (s.len > mitmd_env.max_held - mitmd_env.held ||
	    hold_put(to, s) == -1)
		return -1;
	mitmd_env.held += s.len;
	return 0;
}

/* Replace the held body by the new one, or discard the new one. */
static void
body_swap(struct exchange *x, struct hold *to, bool good)
{
	if (!good) {
		mitmd_env.held -= to->size;
		hold_reset(to);
		return;
	}
	mitmd_env.held -= x->reserved;
	hold_reset(&x->held);
	x->held = *to;
	x->reserved = to->size;
}

static enum refusal
body_decode(struct exchange *x)
{
	const struct provider *p = body_provider(x);
	enum decode_result r;
	struct hold to;
	struct span in;

	if (hold_look(&x->held, &in) == -1)
		return REFUSE_HELD;
	body_hold_init(&to);
	r = decode_body(
	    x->req.coding, in, p->routes[x->req.route].max, body_piece, &to);
	body_swap(x, &to, r == DECODE_OK);
	switch (r) {
	case DECODE_OK:
		return REFUSE_NONE;
	case DECODE_BAD:
		return REFUSE_CODED;
	case DECODE_LARGE:
		return REFUSE_LENGTH;
	case DECODE_FULL:
	case DECODE_NOMEM:
		break;
	}
	return REFUSE_HELD;
}

static enum refusal
body_compose(struct exchange *x)
{
	struct hold to;
	struct span s;
	unsigned at = 0;
	bool good = true;

	body_hold_init(&to);
	to.all = x->held.size;
	while (good && filter_piece(&body_filter, &at, &s))
		good = body_piece(&to, s) == 0;
	body_swap(x, &to, good);
	return good ? REFUSE_NONE : REFUSE_HELD;
}

static enum refusal
body_reach(enum filter_kind kind)
{
	switch (kind) {
	case FILTER_TOOLS:
		return REFUSE_REACH_TOOLS;
	case FILTER_MCP:
		return REFUSE_REACH_MCP;
	case FILTER_URLS:
		return REFUSE_REACH_URLS;
	case FILTER_STORE:
		return REFUSE_REACH_STORE;
	case FILTER_BACKGROUND:
	case FILTER_KINDS:
		break;
	}
	return REFUSE_REACH_BACKGROUND;
}

static void
body_note(const struct exchange *x)
{
	char name[65];

	for (unsigned i = 0; i < FILTER_KINDS; i++) {
		if (!body_filter.hit[i])
			continue;
		mitmd_note(x->a, "filter.%s: \"%s\" taken out of a request",
		    filter_kind_name((enum filter_kind)i),
		    log_vis(body_filter.what[i], name, sizeof(name)));
	}
}

/* Note what decides the price of the answer. */
static void
body_noted(struct exchange *x)
{
	asked_body(x, &body_filter);
	x->silent = body_filter.other;
}

static enum refusal
body_refused(struct exchange *x)
{
	static char why[128]; /* one body is checked and refused at a time */
	char name[65];

	if (body_filter.kept.p == NULL)
		return body_reach(body_filter.refused);
	snprintf(why, sizeof(why), "store is taken out here, so %s cannot work",
	    log_vis(body_filter.kept, name, sizeof(name)));
	x->req.why = why;
	return REFUSE_REACH_KEPT;
}

static enum refusal
body_filtered(struct exchange *x)
{
	const struct provider *p = body_provider(x);
	enum filter_dialect d = p->routes[x->req.route].dialect;
	struct span in;

	asked_body(x, NULL);
	x->silent = false;
	if (!filter_applies(&p->filter, d))
		return REFUSE_NONE;
	body_filter.socket = x->req.websocket;
	if (hold_look(&x->held, &in) == -1)
		return REFUSE_HELD;
	/* An empty body is not JSON either, but the scanner needs a pointer. */
	if (in.len == 0)
		in = SPAN("");
	switch (filter_body(&body_filter, &p->filter, d, in, body_seed)) {
	case FILTER_SAME:
		body_noted(x);
		return REFUSE_NONE;
	case FILTER_CHANGED:
		body_noted(x);
		body_note(x);
		return body_compose(x);
	case FILTER_REFUSED:
		return body_refused(x);
	case FILTER_BAD:
		x->req.why = body_filter.why;
		return REFUSE_JSON;
	case FILTER_LIMIT:
		x->req.why = "more of it would have to be taken out than "
			     "is looked at";
		return REFUSE_JSON;
	}
	return REFUSE_JSON;
}

/* Put another body in the place of the held one. */
static enum refusal
body_replace(struct exchange *x, struct span s)
{
	struct hold to;
	bool good;

	body_hold_init(&to);
	good = body_piece(&to, s) == 0;
	body_swap(x, &to, good);
	return good ? REFUSE_NONE : REFUSE_HELD;
}

static enum refusal
body_call(struct exchange *x)
{
	struct span all = SPAN("");

	if (x->held.size != 0 && hold_look(&x->held, &all) == -1)
		return REFUSE_HELD;
	return forge_look(x, all, body_replace);
}

enum refusal
body_check(struct exchange *x)
{
	enum refusal no = REFUSE_NONE;

	body_unhold(x);
	mitmd_env.held -= x->reserved - x->held.size;
	mitmd_env.freed |= x->reserved != x->held.size;
	x->reserved = x->held.size;
	if (x->req.coding != DECODE_IDENTITY)
		no = body_decode(x);
	if (no == REFUSE_NONE)
		no = body_filtered(x);
	if (no == REFUSE_NONE && body_provider(x)->routes[x->req.route].call)
		no = body_call(x);
	if (no == REFUSE_NONE &&
	    provider_is_digested(&body_provider(x)->routes[x->req.route]))
		no = body_digest(x);
	if (no != REFUSE_NONE)
		body_drop(x);
	x->req.length = x->held.size;
	return no;
}

int
body_frame(struct exchange *x, enum ws_op op)
{
	uint8_t head[WS_MAX_HEAD], mask[4], piece[16384];
	struct span in, part;
	struct hold to;
	bool good;

	if (RAND_bytes(mask, sizeof(mask)) != 1 ||
	    hold_look(&x->held, &in) == -1)
		return -1;
	body_hold_init(&to);
	good = body_piece(&to,
		   span_of(head, ws_head(head, op, true, in.len, mask))) == 0;
	while (good && in.len != 0) {
		part = span_of(
		    in.p, in.len < sizeof(piece) ? in.len : sizeof(piece));
		memcpy(piece, part.p, part.len);
		/* A multiple of the mask's length each time. */
		ws_mask(piece, part.len, mask, 0);
		good = body_piece(&to, span_of(piece, part.len)) == 0;
		in = span_of(in.p + part.len, in.len - part.len);
	}
	body_swap(x, &to, good);
	return good ? 0 : -1;
}
