/* SPDX-License-Identifier: ISC */
/*
 * Opens a stream for mitmd, the approver or mcp-backd, and calls the transaction when one
 * of its two sockets can be read or written.
 */
#include "keyd/keyd.h"

#include <sys/socket.h>

#include <unistd.h>

#include "common/log.h"

static const struct up_ops open_up = {
    .ready = txn_connected,
    .writable = txn_push,
    .readable = txn_pull,
    .failed = txn_fail,
};

static void
open_ready(struct loop_io *io, uint32_t events)
{
	struct stream *s = io->arg;
	const char *why;

	if ((events & EPOLLOUT) != 0) {
		if (stream_flush(s, &why) == -1) {
			txn_abort(s, why);
			return;
		}
		stream_watch(s);
		if (s->x.state == TXN_GIVE)
			s->x.req.kind->writable(s);
		else if (s->x.state == TXN_ON && s->x.up != NULL &&
			 !stream_is_full(s))
			txn_pull(s);
	} else if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
		txn_abort(s, "given up by the agent");
		return;
	}
	if (s->dead || (events & EPOLLIN) == 0 || !txn_takes(s))
		return;
	if (s->x.state == TXN_FORM) {
		s->x.req.kind->body(s);
		return;
	}
	if (s->x.state == TXN_DRAIN) {
		if (stream_read(s) == 1 && s->x.counted == s->x.req.length)
			txn_drained(s);
		stream_watch(s);
		return;
	}
	txn_push(s);
}

int
open_stream(uint32_t id, struct stream **s)
{
	struct keyd_env *e = &keyd_env;
	int pair[2];

	*s = NULL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		pair) == -1)
		return -1;
	if (e->nstreams < e->max_streams)
		*s = stream_new(id, pair[0], open_ready, &open_up);
	if (*s == NULL)
		close(pair[0]);
	return pair[1];
}

int
keyd_stream_open(struct chan *c, const struct msg_STREAM_OPEN *m)
{
	struct keyd_env *e = &keyd_env;
	struct msg_STREAM reply = {.stream = m->stream};
	struct stream *s;
	int theirs;

	if (!span_eq(m->digest,
		span_of(e->provider->digest, sizeof(e->provider->digest))))
		return chan_violation(c, "the provider files differ");
	/* Neither may open, or guess, a stream of the other, or of ours. */
	if ((m->stream & PROTO_LOOKUP_STREAM) != 0 ||
	    ((m->stream & PROTO_APPROVER_STREAM) != 0) !=
	    (chan_peer(c) == ROLE_APPROVE))
		return chan_violation(c, "stream %u is another's", m->stream);
	if (stream_find(m->stream) != NULL)
		return chan_violation(c, "stream %u is open", m->stream);
	if ((theirs = open_stream(m->stream, &s)) == -1) {
		log_warn("socketpair");
		return 0;
	}
	worker_send(&e->w, chan_peer(c), 0, MSG_STREAM, &reply, theirs);
	return 0;
}
