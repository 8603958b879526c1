/* SPDX-License-Identifier: ISC */
/*
 * The body frames from mitmd. They are read only while a transaction that
 * auditd released is open, and each must name it and fit into the announced
 * length; anything else ends the stream. mitmd may be hostile.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "keyd/keyd.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Returns NULL, or why these bytes are no body of this transaction. */
static const char *
stream_fits(const struct stream *s, uint32_t len)
{
	if (len == 0)
		return "empty body frame";
	if (len > s->x.req.length - s->x.counted)
		return "more body than was announced";
	return NULL;
}

static const char *
stream_check(const struct stream *s, struct stream_frame *f)
{
	if (stream_unpack(s->fhead, f) == -1 ||
	    (f->type != STREAM_BODY && f->type != STREAM_AT))
		return "not a body frame";
	if (f->exchange != s->x.req.exchange)
		return "frame of another exchange";
	return f->type == STREAM_BODY ? stream_fits(s, f->len) : NULL;
}

static const char *
stream_at_check(struct stream *s)
{
	struct arena_piece p;
	const char *bad;

	if (stream_arena(s) == NULL ||
	    stream_at_unpack(s->fhead + STREAM_HEADER, &p) == -1)
		return "no such slot";
	if ((bad = stream_fits(s, p.len)) != NULL)
		return bad;
	s->at = p;
	s->at_done = 0;
	return NULL;
}

int
stream_sum_begin(struct stream *s)
{
	if ((s->x.sum = malloc(sizeof(*s->x.sum))) == NULL)
		return -1;
	SHA256_Init(s->x.sum);
	return 0;
}

/*
 * Before the last bytes are passed on, check that the whole body has the
 * announced digest.
 */
static bool
stream_sum_ok(struct stream *s, const uint8_t *p, size_t n)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];

	if (s->x.sum == NULL)
		return true;
	SHA256_Update(s->x.sum, p, n);
	if (s->x.counted + n < s->x.req.length)
		return true;
	SHA256_Final(digest, s->x.sum);
	return memcmp(digest, s->x.req.digest, sizeof(digest)) == 0;
}

/*
 * Keep bytes for the provider. Those that txn_push() will send at once are not
 * copied; the messages of a WebSocket are, since counting them unmasks them in
 * place.
 */
static void
stream_pend(struct stream *s, struct span in)
{
	if (s->x.state == TXN_ON && s->x.req.length != UINT64_MAX &&
	    s->pend.len == 0 && s->fresh.len == 0) {
		s->fresh = in;
		return;
	}
	if (s->fresh.len != 0)
		buf_addspan(&s->pend, s->fresh);
	s->fresh = span_of(NULL, 0);
	buf_addspan(&s->pend, in);
}

/* Take bytes of the body: keep them in order to send them, or discard them. */
static int
stream_body(struct stream *s, struct span in)
{
	bool drop = s->x.state == TXN_DRAIN;
	const char *bad;

	if (!drop && !stream_sum_ok(s, in.p, in.len))
		return txn_violation(s, "not the body that was announced");
	if (!drop && s->x.listing) {
		if (push_take(s, in, &bad) == -1)
			return bad == NULL ? -1 : txn_violation(s, bad);
	} else if (!drop) {
		stream_pend(s, in);
		if (s->pend.failed)
			return txn_full(s, &s->pend, TXN_PEND);
	}
	if (!drop)
		txn_keep(s, in.p, in.len);
	/*
	 * This may change the bytes, which are in stream_read()'s buffer: those
	 * of a WebSocket, which were copied above.
	 */
	if (message_count(s, (uint8_t *)(uintptr_t)in.p, in.len) == -1)
		return -1;
	s->x.counted += in.len;
	return 0;
}

/*
 * Collect a header, and what follows it in an AT frame. Returns 0, or -1 if the
 * stream is gone.
 */
static int
stream_head(struct stream *s, struct span *in)
{
	bool at = s->fhave >= STREAM_HEADER;
	size_t want = at ? STREAM_HEADER + STREAM_AT_LEN : STREAM_HEADER;
	size_t n = want - s->fhave;
	struct stream_frame f;
	const char *bad;

	if (s->x.counted == s->x.req.length)
		return txn_violation(s, "more body than was announced");
	n = n < in->len ? n : in->len;
	memcpy(s->fhead + s->fhave, in->p, n);
	s->fhave += n;
	*in = span_of(in->p + n, in->len - n);
	if (s->fhave < want)
		return 0;
	bad = at ? stream_at_check(s) : stream_check(s, &f);
	if (bad != NULL)
		return txn_violation(s, bad);
	if (!at && f.type == STREAM_AT)
		return 0;
	s->fhave = 0;
	s->fleft = at ? 0 : f.len;
	return 0;
}

/* Take the next bytes of a slot, at most `cap` bytes by way of `dst`. */
static int
stream_piece(struct stream *s, uint8_t *dst, size_t cap)
{
	struct arena *a = stream_arena(s);
	uint32_t n = s->at.len - s->at_done;

	if (s->x.state == TXN_DRAIN) {
		stream_skip(s);
		return 1;
	}
	n = n < cap ? n : (uint32_t)cap;
	if (a == NULL || !arena_copy(a, &s->at, s->at_done, dst, n))
		return txn_violation(s, "a slot was taken back");
	s->at_done += n;
	if (s->at_done == s->at.len) {
		arena_done(a, &s->at);
		s->at.len = 0;
	}
	if (stream_body(s, span_of(dst, n)) == -1)
		return -1;
	if (s->x.counted == s->x.req.length && s->ahead.len != 0)
		return txn_violation(s, "more body than was announced");
	return 1;
}

/* Process bytes of the socket, in `in`; those after an AT frame wait. */
static int
stream_take(struct stream *s, uint8_t *buf, size_t cap, size_t len)
{
	struct span in = span_of(buf, len);
	size_t n;

	while (in.len != 0) {
		if (s->fleft == 0) {
			if (stream_head(s, &in) == -1)
				return -1;
			if (s->at.len == 0)
				continue;
			buf_addspan(&s->ahead, in);
			if (s->ahead.failed)
				return txn_full(s, &s->ahead,
				    "the queue behind a slot of the request's "
				    "body");
			/*
			 * Bytes before it, in `buf` or in `pend`, go first:
			 * `pend` has room for one read and not for a piece.
			 */
			return txn_pending(s).len != 0
				   ? 1
				   : stream_piece(s, buf, cap);
		}
		n = s->fleft < in.len ? s->fleft : in.len;
		if (stream_body(s, span_of(in.p, n)) == -1)
			return -1;
		s->fleft -= (uint32_t)n;
		in = span_of(in.p + n, in.len - n);
	}
	return 1;
}

int
stream_read(struct stream *s)
{
	static uint8_t in[STREAM_HEADER + STREAM_MAX_FRAME];
	size_t cap = sizeof(in);
	ssize_t n;

	if (s->at.len != 0)
		return stream_piece(s, in, STREAM_MAX_FRAME);
	if (s->ahead.len != 0) {
		n = (ssize_t)s->ahead.len;
		memcpy(in, buf_span(&s->ahead).p, s->ahead.len);
		buf_free(&s->ahead);
		return stream_take(s, in, STREAM_MAX_FRAME, (size_t)n);
	}
	/* The next transaction's frame may follow a discarded body. */
	if (s->x.state == TXN_DRAIN) {
		cap = STREAM_HEADER - s->fhave;
		if (s->fhave >= STREAM_HEADER)
			cap += STREAM_AT_LEN;
		if (s->fleft != 0)
			cap = s->fleft;
	}
	if (cap > sizeof(in))
		cap = sizeof(in);
	do {
		n = read(s->fd, in, cap);
	} while (n == -1 && errno == EINTR);
	if (n == -1 && errno == EAGAIN)
		return 0;
	if (n <= 0) {
		txn_abort(s, "given up by the agent");
		return -1;
	}
	return stream_take(s, in, STREAM_MAX_FRAME, (size_t)n);
}
