/* SPDX-License-Identifier: ISC */
/*
 * A request and its answer: the request begins here and is sent by keyd/send.c;
 * the answer is read, searched for the credential and framed for mitmd. Neither
 * direction waits for the other.
 */
#include "keyd/keyd.h"

#define TXN_BURST 64
#define TXN_RECORD 16384U /* largest content of a TLS record */

const struct txn_kind txn_plain = {.begin = txn_go};

void
txn_begin(struct stream *s, struct request *r)
{
	const struct provider_route *route =
	    &keyd_env.provider->routes[r->route];
	struct txn *x = &s->x;

	*x = (struct txn){.req = *r};
	*r = (struct request){0};
	s->starved = false;
	ws_init(&x->said, true);
	reply_init(&x->reply, x->req.exchange, span_is(route->method, "HEAD"));
	x->reply.max = route->reply;
	x->reply.stay = route->stay;
	buf_init(&x->keep, KEYD_MAX_KEPT);
	x->keeping = keyd_renews() && !route->bare;
	push_begin(x);
	keyd_env.requests++;
	keyd_env.used_at = loop_now(&keyd_env.w.loop);
	if (route->websocket && reply_ws_init(&x->reply, x->ws_key) == -1)
		txn_fail(s, KEYD_FAIL_INTERNAL, "no random bytes");
	else if (x->req.digested && stream_sum_begin(s) == -1)
		txn_fail(s, KEYD_FAIL_INTERNAL,
		    "no memory for the digest of the request's body");
	else
		admit_begin(s);
}

void
txn_drained(struct stream *s)
{
	s->x.state = TXN_NONE;
	if (!s->has_next)
		return;
	s->has_next = false;
	txn_begin(s, &s->next);
}

void
txn_connected(struct stream *s, struct up *up)
{
	s->x.state = TXN_ON;
	s->x.up = up;
	txn_push(s);
}

/* Discard what was already read of the body. */
static void
txn_drain(struct stream *s)
{
	while (!s->dead && s->x.state == TXN_DRAIN && stream_has_more(s)) {
		if (stream_read(s) == 1 && s->x.counted == s->x.req.length)
			txn_drained(s);
	}
}

/* The answer has been relayed completely. */
static void
txn_answered(struct stream *s)
{
	struct txn *x = &s->x;
	const struct provider_route *route =
	    &keyd_env.provider->routes[x->req.route];
	bool whole = x->head_done && x->counted == x->req.length &&
		     x->sent == x->req.length;
	struct keyd_reuse u = {.allowed = keyd_env.hosts[x->req.host].reuse,
	    .sent_whole = whole && x->sent_whole,
	    .reads = route->reads || x->req.length == 0,
	    .status = x->reply.status,
	    .done = x->reply.done,
	    .framing = x->reply.framing,
	    .http10 = x->reply.http10,
	    .close = x->reply.close,
	    .trailing = x->reply.trailing};
	uint64_t left;

	stream_skip(s);
	left = x->req.length - x->counted;
	if (x->reply.trailing)
		keyd_alarm(
		    "trailing-data", "the provider sent bytes after an answer");
	if (x->req.kind->answered != NULL &&
	    x->req.kind->answered(s, keyd_reuse_ok(&u)))
		return;
	if (x->req.length != UINT64_MAX)
		x->unsent = x->req.length - x->sent;
	txn_report(s, "");
	txn_release(s, keyd_reuse_ok(&u));
	if (left != 0 && !route->websocket)
		x->state = TXN_DRAIN;
	txn_drain(s);
	if (!s->dead)
		stream_watch(s);
}

static void
txn_reflected(void)
{
	keyd_alarm("credential-reflected",
	    "the credential came back in an answer; the provider is locked");
	keyd_lock();
}

/* The patterns to search this transaction's answer for. */
static const struct scrub *
txn_scrub(const struct txn *x)
{
	static const struct scrub nothing;
	const struct keyset *k = x->key;

	/* A bare route sends no credential, so its answer holds none. */
	if (k == NULL && !keyd_env.provider->routes[x->req.route].bare)
		k = keyd_env.now;

	return k != NULL ? &k->scrub : &nothing;
}

/*
 * Read once from the provider, at most `cap` bytes to `in`, and frame it for
 * mitmd. Sets *idle when the socket is drained. Returns the bytes read in
 * `*len`.
 */
static enum reply_result
txn_read(struct stream *s, struct buf *out, uint8_t *in, size_t cap,
    size_t *len, bool *idle)
{
	struct txn *x = &s->x;
	const struct scrub *scrub = txn_scrub(x);
	enum tls_result r;
	size_t n = 0;

	if (keyd_env.provider->routes[x->req.route].bare || x->req.kind->quiet)
		x->reply.unauthorized = KEYD_FAIL_NONE;
	else if (keyd_login() != NULL)
		x->reply.unauthorized = x->renewed && !x->moved
					    ? KEYD_FAIL_LOGIN
					: x->key != NULL ? KEYD_FAIL_EXPIRED
							 : KEYD_FAIL_NONE;
	else if (keyd_renews() && !x->renewed && renew_may(x->key))
		x->reply.unauthorized = KEYD_FAIL_EXPIRED;
	x->reply.take = x->req.kind->take != NULL ? x->req.kind->take(s) : NULL;
	x->reply.forbidden = x->req.kind->forbidden;
	x->reply.moved = x->keeping && !x->renewed ? x->req.kind->moved : NULL;
	r = tls_read(x->up, in, cap, &n);
	*len = n;
	switch (r) {
	case TLS_AGAIN:
		*idle = true;
		return REPLY_MORE;
	case TLS_OK:
		if (!x->answered)
			x->sent_whole =
			    x->head_done && x->sent == x->req.length;
		x->answered = true;
		/*
		 * Trying costs a call; the loop reports further data. After a
		 * whole record more is likely to have come.
		 */
		*idle = n < TXN_RECORD && !tls_pending(x->up);
		return reply_feed(
		    &x->reply, keyd_env.provider, scrub, span_of(in, n), out);
	case TLS_EOF:
	case TLS_CUT:
	case TLS_ERROR:
		break;
	}
	if (x->write_closed && !x->answered) {
		x->reply.fail = KEYD_FAIL_SEND;
		x->reply.detail = "broke while the request was sent";
		return REPLY_FAIL;
	}
	return reply_eof(&x->reply, r == TLS_EOF, out);
}

/*
 * Returns true if the next bytes have a place. If the stream has filled its
 * slots, they wait until mitmd has read one, which takes less than frames do.
 */
static bool
txn_has_place(const struct reply_slot *t)
{
	return t == NULL || t->at != NULL ||
	       arena_has_share(t->arena, t->stream);
}

/* Read and frame as much as is available, and as mitmd may take at once. */
static enum reply_result
txn_fill(struct stream *s, bool *idle)
{
	static uint8_t in[KEYD_BATCH];
	enum reply_result r = REPLY_MORE;
	struct buf *out = stream_begin(s);
	struct reply_parts *parts = out != &s->out ? &keyd_env.parts : NULL;
	struct reply_slot slot = {stream_arena(s), s->id, NULL, {0}};
	size_t used = 0, n;
	unsigned nparts;

	/* Frames that go to the queue are copied. */
	s->x.reply.parts = parts;
	s->x.reply.slot = parts != NULL && slot.arena != NULL ? &slot : NULL;
	for (int i = 0;
	     i < TXN_BURST && !*idle && r == REPLY_MORE &&
	     out->len < KEYD_OUT_SOFT && sizeof(in) - used >= TXN_RECORD &&
	     txn_has_place(s->x.reply.slot);
	     i++) {
		nparts = keyd_env.parts.n;
		/* One record at a time is searched and copied in the cache. */
		r = txn_read(s, out, in + used, TXN_RECORD, &n, idle);
		/*
		 * The next one may take its place unless a frame refers to it.
		 */
		if (keyd_env.parts.n != nparts)
			used += n;
	}
	/* Bytes before the end of a failed answer are passed on, too. */
	if (reply_slot_end(&s->x.reply, out) == -1 && r != REPLY_FAIL)
		r = reply_fail_full(&s->x.reply, out);
	s->x.reply.parts = NULL;
	s->x.reply.slot = NULL;
	return r;
}

/* Returns true if the stream must wait until mitmd has read its slots. */
static bool
txn_starves(struct stream *s)
{
	struct arena *a = stream_arena(s);

	s->starved = a != NULL && s->out.len == 0 && arena_waits(a, s->id);
	return s->starved;
}

int
keyd_room(struct chan *c, const struct msg_ROOM *m)
{
	struct stream *s, *next;

	for (s = TAILQ_FIRST(&keyd_env.streams); s != NULL; s = next) {
		next = TAILQ_NEXT(s, entry);
		if (!s->starved)
			continue;
		s->starved = false;
		if (s->x.state == TXN_ON && s->x.up != NULL)
			txn_pull(s);
	}
	return 0;
}

void
txn_pull(struct stream *s)
{
	enum reply_result r;
	struct txn *x = &s->x;
	bool idle = false;

	x->up->more = false;
	if (txn_starves(s)) {
		up_watch(x->up);
		return;
	}
	r = txn_fill(s, &idle);
	/* The answer has begun: the request will not be sent again. */
	if (x->reply.headed && !x->renewed && x->keeping) {
		txn_keep_end(s);
		if (x->head_done && !x->listing)
			request_free(&x->req);
	}
	if (txn_commit(s) == -1)
		return;
	switch (r) {
	case REPLY_MORE:
		/* TLS may have data that the socket no longer shows. */
		x->up->more = !idle && !stream_is_full(s);
		stream_watch(s);
		up_watch(x->up);
		return;
	case REPLY_DONE:
		txn_answered(s);
		return;
	case REPLY_FAIL:
		break;
	}
	if (x->reply.fail == KEYD_FAIL_EXPIRED) {
		txn_renew(s);
		return;
	}
	if (x->reply.fail == KEYD_FAIL_MOVED) {
		txn_moved(s);
		return;
	}
	if (x->reply.fail == KEYD_FAIL_FOLLOW) {
		follow_answer(s);
		return;
	}
	if (x->reply.fail == KEYD_FAIL_REFLECTED)
		txn_reflected();
	txn_fail(s, x->reply.fail, x->reply.detail);
}
