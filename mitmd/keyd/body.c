/* SPDX-License-Identifier: ISC */
/*
 * A request's body between mitmd and the provider: the bytes that were not yet
 * sent, and those kept in case they must be sent again, with a limit for all
 * transactions together.
 */
#include "keyd/keyd.h"

void
txn_keep_end(struct stream *s)
{
	struct txn *x = &s->x;

	keyd_env.kept -= x->keep.len;
	buf_free(&x->keep);
	x->keeping = false;
	x->again = 0;
}

void
txn_keep(struct stream *s, const uint8_t *p, size_t n)
{
	struct txn *x = &s->x;

	if (!x->keeping)
		return;
	if (n <= KEYD_MAX_KEPT - keyd_env.kept)
		buf_add(&x->keep, p, n);
	if (n > KEYD_MAX_KEPT - keyd_env.kept || x->keep.failed) {
		txn_keep_end(s);
		return;
	}
	keyd_env.kept += n;
}

struct span
txn_pending(const struct stream *s)
{
	const struct txn *x = &s->x;
	struct span kept;

	if (!x->renewed || x->keep.len == 0)
		return s->fresh.len != 0 ? s->fresh : buf_span(&s->pend);
	kept = buf_span(&x->keep);
	return span_of(kept.p + x->again, kept.len - x->again);
}

void
txn_consume(struct stream *s, size_t n)
{
	struct txn *x = &s->x;

	x->sent += n;
	if (!x->renewed || x->keep.len == 0) {
		if (s->fresh.len != 0)
			s->fresh = span_of(s->fresh.p + n, s->fresh.len - n);
		else
			buf_drain(&s->pend, n);
		return;
	}
	x->again += n;
	if (x->again == x->keep.len && !x->keeping)
		txn_keep_end(s);
}

void
txn_forget(struct stream *s)
{
	s->fresh = span_of(NULL, 0);
	buf_free(&s->pend);
}

bool
txn_takes(const struct stream *s)
{
	const struct txn *x = &s->x;

	switch (x->state) {
	case TXN_NONE:
	case TXN_SHARE:
	case TXN_KEY:
	case TXN_WAIT:
	case TXN_GIVE:
	case TXN_ASKED:
		return false;
	case TXN_FORM:
		return x->counted < x->req.length;
	case TXN_ON:
		return x->up != NULL && x->counted < x->req.length &&
		       txn_pending(s).len == 0 && !x->up->full &&
		       reply_ws_ready(&x->reply);
	case TXN_DRAIN:
		return true;
	}
	return false;
}
