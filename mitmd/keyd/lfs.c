/* SPDX-License-Identifier: ISC */
/*
 * A batch request of git-lfs: it asks where objects are. The answer is read
 * completely, and the client gets one that is composed here (wire/lfs_batch.h).
 * The request for an object on this server is one like any other; one on
 * another host needs a destination of that host, and gets its credential, if it
 * has one, never this one.
 */
#include "keyd/keyd.h"

#include <stdlib.h>

#include "wire/lfs_batch.h"

#define LFS_MAX_HELD (8U << 20) /* all transactions together */

static size_t lfs_held;

static void
lfs_begin(struct stream *s)
{
	struct txn *x = &s->x;
	const uint64_t max = x->reply.max;
	struct reply_hold *hold;

	if ((hold = calloc(1, sizeof(*hold))) == NULL) {
		x->state = TXN_ON;
		txn_fail(s, KEYD_FAIL_INTERNAL,
		    "no memory for the answer of git-lfs");
		return;
	}
	buf_init(&hold->buf, (size_t)max);
	hold->total = &lfs_held;
	hold->max = LFS_MAX_HELD;
	hold->unsearched = true;
	x->batch = hold;
	x->reply.hold = hold;
	txn_go(s);
}

/* Returns true if a text has the credential. */
static bool
lfs_reflects(const struct txn *x, struct span text)
{
	const struct keyset *k = x->key != NULL ? x->key : keyd_env.now;

	return k != NULL && k->scrub.nforms != 0 && scrub_find(&k->scrub, text);
}

static void
lfs_answer(struct stream *s, unsigned status, struct buf *out)
{
	if (!lfs_reflects(&s->x, buf_span(out))) {
		txn_answer(s, status, buf_span(out), "");
		return;
	}
	keyd_alarm("credential-reflected",
	    "the credential came back in an address of git-lfs; the provider "
	    "is locked");
	keyd_lock();
	txn_fail(s, KEYD_FAIL_REFLECTED, "an address of git-lfs");
}

/* The answer is complete. */
static bool
lfs_done(struct stream *s, bool again)
{
	struct txn *x = &s->x;
	const unsigned status = x->reply.status;
	const char *why;
	struct buf out;
	int rv = 0;

	(void)again;
	if (x->counted != x->req.length) {
		txn_fail(s, KEYD_FAIL_MALFORMED,
		    "answered before the request was complete");
		return true;
	}
	buf_init(&out, TXN_MAX_ANSWER);
	if (status != 200)
		buf_printf(&out,
		    "{\"message\":\"the git server answers %u to a request for "
		    "objects of git-lfs\"}\n",
		    status);
	else
		rv = lfs_batch(buf_span(&x->batch->buf), &out, &why);
	if (rv == 0)
		lfs_answer(s, status, &out);
	else
		txn_fail(s, KEYD_FAIL_MALFORMED, why);
	buf_free(&out);
	return true;
}

static void
lfs_release(struct stream *s)
{
	struct reply_hold *hold = s->x.batch;

	if (hold == NULL)
		return;
	lfs_held -= hold->buf.len;
	buf_free(&hold->buf);
	free(hold);
	s->x.batch = NULL;
}

const struct txn_kind lfs_kind = {
    .begin = lfs_begin,
    .answered = lfs_done,
    .release = lfs_release,
};
