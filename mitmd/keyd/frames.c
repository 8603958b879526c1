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

static const char *
stream_check(const struct stream *s, struct stream_frame *f)
{
	const struct txn *x = &s->x;

	if (stream_unpack(s->fhead, f) == -1 || f->type != STREAM_BODY)
		return "not a body frame";
	if (f->exchange != x->req.exchange)
		return "frame of another exchange";
	if (f->len == 0)
		return "empty body frame";
	if (f->len > x->req.length - x->counted)
		return "more body than was announced";
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

/* Collect frame headers; keep bodies in order to send them, or discard them. */
static int
stream_take(struct stream *s, struct span in)
{
	bool drop = s->x.state == TXN_DRAIN;
	struct stream_frame f;
	const char *bad;
	size_t n;

	while (in.len != 0) {
		if (s->fleft == 0) {
			if (s->x.counted == s->x.req.length)
				return txn_violation(
				    s, "more body than was announced");
			n = STREAM_HEADER - s->fhave;
			n = n < in.len ? n : in.len;
			memcpy(s->fhead + s->fhave, in.p, n);
			s->fhave += n;
			in = span_of(in.p + n, in.len - n);
			if (s->fhave < STREAM_HEADER)
				break;
			s->fhave = 0;
			if ((bad = stream_check(s, &f)) != NULL)
				return txn_violation(s, bad);
			s->fleft = f.len;
			continue;
		}
		n = s->fleft < in.len ? s->fleft : in.len;
		if (!drop && !stream_sum_ok(s, in.p, n))
			return txn_violation(
			    s, "not the body that was announced");
		if (!drop && s->x.listing) {
			if (push_take(s, span_of(in.p, n), &bad) == -1)
				return txn_violation(s, bad);
		} else if (!drop) {
			stream_pend(s, span_of(in.p, n));
			if (s->pend.failed) {
				txn_fail(
				    s, KEYD_FAIL_INTERNAL, "out of memory");
				return -1;
			}
		}
		if (!drop)
			txn_keep(s, in.p, n);
		/*
		 * This may change the bytes, which are in stream_read()'s
		 * buffer: those of a WebSocket, which were copied above.
		 */
		if (message_count(s, (uint8_t *)(uintptr_t)in.p, n) == -1)
			return -1;
		s->fleft -= (uint32_t)n;
		s->x.counted += n;
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

	/* The next transaction's frame may follow a discarded body. */
	if (s->x.state == TXN_DRAIN)
		cap = s->fleft != 0 ? s->fleft : STREAM_HEADER - s->fhave;
	do {
		n = read(s->fd, in, cap);
	} while (n == -1 && errno == EINTR);
	if (n == -1 && errno == EAGAIN)
		return 0;
	if (n <= 0) {
		txn_abort(s, "given up by the agent");
		return -1;
	}
	return stream_take(s, span_of(in, (size_t)n));
}
