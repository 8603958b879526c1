/* SPDX-License-Identifier: ISC */
/* The streams to mitmd: their list, and the queues of frames. */
#include "keyd/keyd.h"

#include <sys/uio.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "wire/git_push.h"

struct stream *
stream_find(uint32_t id)
{
	struct stream *s;

	LIST_FOREACH (s, &keyd_env.ids[id % KEYD_STREAM_IDS], found) {
		if (s->id == id)
			return s;
	}
	return NULL;
}

struct arena *
stream_arena(const struct stream *s)
{
	const struct chan *c = keyd_env.w.peers[ROLE_MITM][0];

	return c == NULL || (s->id & (PROTO_APPROVER_STREAM | PROTO_LOOKUP_STREAM)) !=
			       0
		   ? NULL
		   : chan_arena(c);
}

void
stream_skip(struct stream *s)
{
	struct arena *a = stream_arena(s);

	if (s->at.len == 0)
		return;
	if (a != NULL)
		arena_done(a, &s->at);
	s->x.counted += s->at.len - s->at_done;
	s->at.len = 0;
}

bool
stream_has_more(const struct stream *s)
{
	return s->at.len != 0 || s->ahead.len != 0;
}

void
stream_free(struct stream *s)
{
	struct keyd_env *e = &keyd_env;
	struct arena *a = stream_arena(s);

	if (s->dead)
		return;
	s->dead = true;
	loop_del(&e->w.loop, &s->io);
	close(s->fd);
	s->fd = -1;
	TAILQ_REMOVE(&e->streams, s, entry);
	LIST_REMOVE(s, found);
	TAILQ_INSERT_TAIL(&e->dead_streams, s, entry);
	e->nstreams--;
	if (a != NULL) {
		arena_done(a, &s->at);
		arena_drop(a, s->id);
	}
	s->at.len = 0;
	buf_free(&s->ahead);
	s->fresh = span_of(NULL, 0);
	buf_free(&s->pend);
	buf_free(&s->out);
}

void
stream_watch(struct stream *s)
{
	uint32_t events = 0;

	if (s->dead)
		return;
	/* Without events, the end of the stream is still reported. */
	if (!s->closing && txn_takes(s))
		events |= EPOLLIN;
	if (s->out.len != 0)
		events |= EPOLLOUT;
	if (loop_mod(&keyd_env.w.loop, &s->io, events) == -1)
		log_warn("epoll_ctl");
}

/* Returns the number of bytes that the socket took, or -1 if mitmd is gone. */
static ssize_t
stream_write(struct stream *s, struct span p)
{
	size_t done = 0;
	ssize_t n;

	while (done < p.len) {
		if ((n = write(s->fd, p.p + done, p.len - done)) == -1) {
			if (errno == EINTR)
				continue;
			if (errno == EAGAIN)
				break;
			return -1;
		}
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int
stream_flush(struct stream *s, const char **why)
{
	ssize_t n;

	*why = "mitmd closed the stream";
	if ((n = stream_write(s, buf_span(&s->out))) == -1)
		return -1;
	buf_drain(&s->out, (size_t)n);
	if (s->out.len != 0)
		return 0;
	buf_free(&s->out);
	return s->closing ? -1 : 0;
}

struct buf *
stream_begin(struct stream *s)
{
	struct keyd_env *e = &keyd_env;

	if (s->out.len != 0)
		return &s->out;
	buf_reset(&e->scratch, KEYD_OUT_KEEP);
	e->parts.n = 0;
	return &e->scratch;
}

/*
 * Point to the frames of this turn: stretches of `scratch`, and the pieces
 * between them. Returns how many there are.
 */
static size_t
stream_gather(struct iovec iov[2 * REPLY_PARTS + 1])
{
	const struct reply_parts *parts = &keyd_env.parts;
	struct span b = buf_span(&keyd_env.scratch), s;
	size_t at = 0, n = 0;

	for (unsigned i = 0; i < parts->n; i++) {
		s = span_of(b.p + at, parts->part[i].at - at);
		iov[n++] = (struct iovec){(void *)(uintptr_t)s.p, s.len};
		s = parts->part[i].s;
		iov[n++] = (struct iovec){(void *)(uintptr_t)s.p, s.len};
		at = parts->part[i].at;
	}
	iov[n++] =
	    (struct iovec){(void *)(uintptr_t)(b.p + at), b.len - at};
	return n;
}

/* Write the frames of this turn, and queue the rest. */
static int
stream_write_turn(struct stream *s, const char **why)
{
	struct iovec iov[2 * REPLY_PARTS + 1];
	size_t n = stream_gather(iov), skip;
	ssize_t done;

	do {
		done = n == 1 ? write(s->fd, iov[0].iov_base, iov[0].iov_len)
			      : writev(s->fd, iov, (int)n);
	} while (done == -1 && errno == EINTR);
	if (done == -1 && errno != EAGAIN)
		return -1;
	skip = done == -1 ? 0 : (size_t)done;
	for (size_t i = 0; i < n; i++) {
		if (skip >= iov[i].iov_len) {
			skip -= iov[i].iov_len;
			continue;
		}
		buf_add(&s->out, (uint8_t *)iov[i].iov_base + skip,
		    iov[i].iov_len - skip);
		skip = 0;
	}
	if (buf_check(&s->out) == 0)
		return 0;
	*why = reply_full(&s->out, "the queue of the answer");
	return -1;
}

int
stream_commit(struct stream *s, const char **why)
{
	struct keyd_env *e = &keyd_env;

	*why = "mitmd closed the stream";
	if (s->out.len == 0 && e->scratch.len != 0) {
		if (stream_write_turn(s, why) == -1)
			return -1;
		buf_reset(&e->scratch, KEYD_OUT_KEEP);
		e->parts.n = 0;
		if (s->out.len != 0)
			goto out; /* the socket is full */
	}
	if (stream_flush(s, why) == -1)
		return -1;
out:
	stream_watch(s);
	return 0;
}

struct stream *
stream_new(uint32_t id, int fd, void (*ready)(struct loop_io *, uint32_t),
    const struct up_ops *ops)
{
	struct keyd_env *e = &keyd_env;
	struct stream *s;

	if ((s = calloc(1, sizeof(*s))) == NULL)
		return NULL;
	s->id = id;
	s->fd = fd;
	s->ops = ops;
	s->io.fd = -1;
	buf_init(
	    &s->pend, STREAM_HEADER + STREAM_MAX_FRAME + GIT_PUSH_MAX_LIST);
	buf_init(&s->ahead, STREAM_HEADER + STREAM_MAX_FRAME);
	buf_init(&s->out, KEYD_OUT_MAX);
	if (loop_add(&e->w.loop, &s->io, fd, 0, ready, s) == -1) {
		free(s);
		return NULL;
	}
	TAILQ_INSERT_HEAD(&e->streams, s, entry);
	LIST_INSERT_HEAD(&e->ids[id % KEYD_STREAM_IDS], s, found);
	e->nstreams++;
	return s;
}
