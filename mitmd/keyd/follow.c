/* SPDX-License-Identifier: ISC */
/*
 * An answer of a forge that is the address of a file elsewhere. The address is
 * read here, checked against the table of the forge's hosts, and handed to
 * auditd, which records it and has followd fetch it. mitmd is told first, on
 * the stream, that the answer will come from followd. It never sees the
 * address, which lets anybody read the file.
 */
#include "keyd/keyd.h"

#include "common/forge/tree.h"

void
follow_answer(struct stream *s)
{
	struct txn *x = &s->x;
	struct msg_FOLLOW m = {.provider = (uint16_t)keyd_env.index,
	    .stream = s->id,
	    .exchange = x->req.exchange};
	struct forge_place place;
	struct buf *out;
	const char *why;

	why = forge_place_read(keyd_env.provider->forge->kind,
	    span_str(x->place->value), PROTO_MAX_LOCATION, &place);
	if (why != NULL) {
		txn_fail(s, KEYD_FAIL_FOLLOW, why);
		return;
	}
	out = stream_begin(s);
	if (reply_frame(out, m.exchange, STREAM_FOLLOW, span_of(NULL, 0)) ==
	    -1) {
		(void)txn_full(s, out, "the queue of the answer");
		return;
	}
	if (txn_commit(s) == -1)
		return;
	m.host = place.host;
	m.target = place.target;
	worker_send(&keyd_env.w, ROLE_AUDIT, 0, MSG_FOLLOW, &m, -1);
	/* mitmd closes the stream when it has that of followd. */
	txn_report(s, "");
	txn_release(s, false);
	stream_watch(s);
}
