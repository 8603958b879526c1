/* SPDX-License-Identifier: ISC */
/*
 * mitmd's end of the stream to keyd: sends the request's body as frames. Bytes
 * that the socket does not take wait here, at most a window and one read; above
 * that the agent is not read.
 */
#include "mitmd.h"

#include <sys/uio.h>

#include <errno.h>
#include <unistd.h>

#include "body.h"

int
upstream_open(struct exchange *x, int fd)
{
	if (loop_add(&mitmd_env.w.loop, &x->up.io, fd, EPOLLIN,
		x->ops->up_ready, x) == -1) {
		close(fd);
		return -1;
	}
	x->up.fd = fd;
	return 0;
}

struct arena *
upstream_arena(const struct exchange *x)
{
	const struct chan *c = mitmd_env.w.peers[ROLE_KEY][x->a->provider];

	return c != NULL ? chan_arena(c) : NULL;
}

void
upstream_close(struct exchange *x)
{
	struct upstream *up = &x->up;
	struct arena *a = upstream_arena(x);

	if (a != NULL)
		arena_drop(a, up->stream);

	loop_del(&mitmd_env.w.loop, &up->io);
	if (up->fd != -1)
		close(up->fd);
	up->fd = -1;
	if (up->stream != 0) {
		mitmd_env.streams[up->stream % MITMD_MAX_STREAMS] = NULL;
		mitmd_env.nstreams--;
	}
	up->stream = 0;
	up->left = 0;
	up->followed = false;
	if (x->spare)
		TAILQ_REMOVE(&mitmd_env.spare, x, queue);
	x->spare = false;
	buf_reset(&up->in, 0);
	buf_reset(&up->out, 0);
}

/* keyd has closed its reading side: keep reading, it may have sent a reason. */
static void
upstream_write_closed(struct exchange *x)
{
	x->up.write_closed = true;
	buf_reset(&x->up.out, 0);
}

/* Returns 0, or -1 after noting that the queue takes no more. */
static int
upstream_queued(const struct exchange *x)
{
	char why[128];

	if (buf_check(&x->up.out) == 0)
		return 0;
	mitmd_note(x->a, "%s: closed",
	    buf_why(&x->up.out, "the queue of the request's body", why,
		sizeof(why)));
	return -1;
}

/* Write a header and the bytes after it, and queue what is not taken. */
static int
upstream_write(struct exchange *x, struct span head, struct span s)
{
	struct upstream *up = &x->up;
	struct iovec iov[2] = {{(void *)(uintptr_t)head.p, head.len},
	    {(void *)(uintptr_t)s.p, s.len}};
	size_t done = 0;
	ssize_t n;

	if (up->fd != -1 && up->out.len == 0) {
		do {
			n = writev(up->fd, iov, s.len != 0 ? 2 : 1);
		} while (n == -1 && errno == EINTR);
		if (n == -1 && errno != EAGAIN) {
			upstream_write_closed(x);
			return 0;
		}
		done = n == -1 ? 0 : (size_t)n;
	}
	if (done < head.len) {
		buf_add(&up->out, head.p + done, head.len - done);
		if (up->out.failed)
			return upstream_queued(x);
		done = head.len;
	}
	done -= head.len;
	buf_add(&up->out, s.p + done, s.len - done);
	return upstream_queued(x);
}

/*
 * Write the first bytes of `s` as one frame. Returns how many, or -1 if the
 * queue takes no more.
 */
static ssize_t
upstream_frame(struct exchange *x, struct span s)
{
	uint8_t head[STREAM_HEADER + STREAM_AT_LEN], *at = NULL;
	struct upstream *up = &x->up;
	struct arena *a = upstream_arena(x);
	struct arena_piece p;
	struct stream_frame f = {up->exchange, STREAM_BODY, 0};

	if (s.len >= ARENA_LEAST && up->fd != -1 && a != NULL)
		at = arena_take(a, up->stream, &p);
	if (at != NULL) {
		p.len = (uint32_t)(s.len < ARENA_SLOT ? s.len : ARENA_SLOT);
		up->passed += p.len;
		memcpy(at, s.p, p.len);
		stream_at_pack(head, up->exchange, &p);
		if (upstream_write(
			x, span_of(head, sizeof(head)), span_of(NULL, 0)) == -1)
			return -1;
		return (ssize_t)p.len;
	}
	if (s.len > STREAM_MAX_FRAME)
		s.len = STREAM_MAX_FRAME;
	f.len = (uint32_t)s.len;
	up->passed += s.len;
	/*
	 * A request that waits for its stream will be the stream's first
	 * exchange.
	 */
	if (up->stream == 0)
		f.exchange = 1;
	stream_pack(head, &f);
	if (upstream_write(x, span_of(head, STREAM_HEADER), s) == -1)
		return -1;
	return (ssize_t)s.len;
}

/*
 * Returns 1 if the queue is empty, 0 if the socket is full, -1 if keyd has
 * closed.
 */
static int
upstream_drain(struct exchange *x)
{
	struct upstream *up = &x->up;
	struct span s;
	ssize_t n;

	while (up->out.len != 0) {
		s = buf_span(&up->out);
		if ((n = write(up->fd, s.p, s.len)) == -1) {
			if (errno == EINTR)
				continue;
			if (errno == EAGAIN)
				return 0;
			upstream_write_closed(x);
			return -1;
		}
		buf_drain(&up->out, (size_t)n);
	}
	buf_reset(&up->out, 0);
	return 1;
}

int
upstream_flush(struct exchange *x)
{
	struct span s;
	ssize_t n;

	/* A held body follows as the socket takes it. */
	while (upstream_drain(x) == 1 && hold_left(&x->held) != 0 &&
	       !x->gathers && !x->up.write_closed) {
		if (hold_look(&x->held, &s) == -1)
			return -1;
		if ((n = upstream_frame(x, s)) == -1)
			return -1;
		body_hold_take(&x->held, (size_t)n);
		if (hold_left(&x->held) == 0)
			body_drop(x);
	}
	x->front->drained(x);
	return 0;
}

int
upstream_put(struct exchange *x, struct span s)
{
	ssize_t n;

	while (s.len != 0 && !x->up.write_closed) {
		if ((n = upstream_frame(x, s)) == -1)
			return -1;
		s = span_of(s.p + n, s.len - (size_t)n);
	}
	return 0;
}
