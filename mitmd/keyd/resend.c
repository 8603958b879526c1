/* SPDX-License-Identifier: ISC */
/*
 * Starts sending requests: at once, after waiting for a login's token, or again
 * with another token or on another connection.
 */
#include "keyd/keyd.h"

void
txn_go(struct stream *s)
{
	const struct provider_route *route =
	    &keyd_env.provider->routes[s->x.req.route];

	/* This route never carries a credential. */
	if (route->bare && route->capture == 0) {
		up_want(s);
		return;
	}
	switch (renew_check()) {
	case RENEW_GOOD:
		if (s->x.req.kind->ready != NULL)
			s->x.req.kind->ready(s);
		else
			up_want(s);
		return;
	case RENEW_WAIT:
		s->x.state = TXN_KEY;
		TAILQ_INSERT_TAIL(&keyd_env.key_waiters, s, wait);
		return;
	case RENEW_LATER:
	case RENEW_REFUSED:
		break;
	}
	s->x.state = TXN_ON;
	if (renew_check() == RENEW_REFUSED)
		txn_fail(s, KEYD_FAIL_LOGIN, "the login is over");
	else
		txn_fail(s, KEYD_FAIL_RENEW, "the login is not renewed");
}

void
txn_login_changed(void)
{
	struct stream *s, *next;

	for (s = TAILQ_FIRST(&keyd_env.key_waiters); s != NULL; s = next) {
		next = TAILQ_NEXT(s, wait);
		TAILQ_REMOVE(&keyd_env.key_waiters, s, wait);
		s->x.state = TXN_NONE;
		txn_go(s);
	}
}

void
txn_outdated(const struct keyset *k)
{
	struct stream *s, *next;

	for (s = TAILQ_FIRST(&keyd_env.streams); s != NULL; s = next) {
		next = TAILQ_NEXT(s, entry);
		if (s->x.key == k)
			txn_fail(
			    s, KEYD_FAIL_EXPIRED, "its credential is replaced");
	}
}

void
txn_reset(struct stream *s, bool again)
{
	const struct provider_route *route =
	    &keyd_env.provider->routes[s->x.req.route];
	struct txn *x = &s->x;
	struct up *up = x->up;

	keyset_drop(x->key);
	x->key = NULL;
	reply_free(&x->reply);
	reply_init(&x->reply, x->req.exchange, span_is(route->method, "HEAD"));
	x->reply.max = route->reply;
	x->reply.stay = route->stay;
	if (x->batch != NULL) {
		/* The answer to come is read here, too. */
		*x->batch->total -= x->batch->buf.len;
		buf_reset(&x->batch->buf, 0);
		x->reply.hold = x->batch;
	}
	if (x->ws_key[0] != '\0')
		(void)reply_ws_init(&x->reply, x->ws_key);
	txn_forget(s);
	x->sent = 0;
	x->head_sent = 0;
	x->head_done = x->write_closed = x->answered = x->sent_whole = false;
	x->retried = false;
	x->up = NULL;
	x->state = TXN_NONE;
	up_release(up, again);
}

static void
txn_again(struct stream *s, bool keeping)
{
	s->x.keeping = keeping;
	s->x.renewed = true;
	s->x.again = 0;
	txn_reset(s, false);
	txn_go(s);
}

void
txn_renew(struct stream *s)
{
	struct txn *x = &s->x;

	renew_rejected(x->key);
	if (!x->keeping) {
		(void)renew_check();
		txn_fail(s, KEYD_FAIL_EXPIRED,
		    "its credential is refused; body not kept");
		return;
	}
	txn_again(s, false);
}

void
txn_moved(struct stream *s)
{
	s->x.moved = true;
	/* The other address may ask for a newer credential. */
	txn_again(s, true);
}

/* Retry if no byte was sent: the connection had died while idle. */
bool
txn_retry(struct stream *s)
{
	struct txn *x = &s->x;
	struct up *up = x->up;

	if (x->head_sent != 0 || x->retried || x->answered)
		return false;
	x->retried = true;
	keyset_drop(x->key);
	x->key = NULL;
	x->up = NULL;
	up_release(up, false);
	up_want(s);
	return true;
}
