/* SPDX-License-Identifier: ISC */
/*
 * mitmd's end of the stream to keyd: the request's body as frames.  What the
 * socket does not take waits here, at most a window and one read; beyond that
 * the agent's connection is not read.
 */
#include "mitmd.h"

#include <sys/uio.h>

#include <errno.h>
#include <unistd.h>

int
upstream_open(struct agent *a, int fd)
{
	if (loop_add(&mitmd_env.w.loop, &a->up.io, fd, EPOLLIN, reply_ready,
		a) == -1) {
		close(fd);
		return -1;
	}
	a->up.fd = fd;
	return 0;
}

void
upstream_close(struct agent *a)
{
	struct upstream *up = &a->up;

	loop_del(&mitmd_env.w.loop, &up->io);
	if (up->fd != -1)
		close(up->fd);
	up->fd = -1;
	up->stream = 0;
	up->left = 0;
	buf_reset(&up->in, 0);
	buf_reset(&up->out, 0);
}

/* keyd has closed: it may have said why, so its side is still read. */
static void
upstream_deafen(struct agent *a)
{
	a->up.deaf = true;
	buf_reset(&a->up.out, 0);
}

/* One frame: written, or what is left of it queued. */
static int
upstream_frame(struct agent *a, struct span s)
{
	struct upstream *up = &a->up;
	struct stream_frame f = {up->exchange, STREAM_BODY, (uint32_t)s.len};
	uint8_t head[STREAM_HEADER];
	struct iovec iov[2] = {
	    {head, sizeof(head)}, {(void *)(uintptr_t)s.p, s.len}};
	size_t done = 0;
	ssize_t n;

	stream_pack(head, &f);
	if (up->fd != -1 && up->out.len == 0) {
		do {
			n = writev(up->fd, iov, 2);
		} while (n == -1 && errno == EINTR);
		if (n == -1 && errno != EAGAIN) {
			upstream_deafen(a);
			return 0;
		}
		done = n == -1 ? 0 : (size_t)n;
	}
	if (done < sizeof(head)) {
		if (buf_add(&up->out, head + done, sizeof(head) - done) == -1)
			return -1;
		done = sizeof(head);
	}
	done -= sizeof(head);
	return buf_add(&up->out, s.p + done, s.len - done);
}

/* 1: nothing is queued, 0: the socket is full, -1: keyd has closed. */
static int
upstream_drain(struct agent *a)
{
	struct upstream *up = &a->up;
	struct span s;
	ssize_t n;

	while (up->out.len != 0) {
		s = buf_span(&up->out);
		if ((n = write(up->fd, s.p, s.len)) == -1) {
			if (errno == EINTR)
				continue;
			if (errno == EAGAIN)
				return 0;
			upstream_deafen(a);
			return -1;
		}
		buf_drain(&up->out, (size_t)n);
	}
	buf_reset(&up->out, 0);
	return 1;
}

void
upstream_flush(struct agent *a)
{
	struct span s;

	/* A body that was held whole follows as the socket takes it. */
	while (upstream_drain(a) == 1 && a->held.len != 0 && !a->up.deaf) {
		s = buf_span(&a->held);
		if (s.len > STREAM_MAX_FRAME)
			s.len = STREAM_MAX_FRAME;
		if (upstream_frame(a, s) == -1) {
			agent_close(a);
			return;
		}
		buf_drain(&a->held, s.len);
		mitmd_env.held -= s.len;
	}
}

int
upstream_put(struct agent *a, struct span s)
{
	size_t n;

	while (s.len != 0 && !a->up.deaf) {
		n = s.len < STREAM_MAX_FRAME ? s.len : STREAM_MAX_FRAME;
		if (upstream_frame(a, span_of(s.p, n)) == -1)
			return -1;
		s = span_of(s.p + n, s.len - n);
	}
	return 0;
}
