/* SPDX-License-Identifier: ISC */
/*
 * The connection from ic-bridge in the sandbox. There is one at a time; further
 * ones are closed. Any program in the sandbox may be the peer, which makes no
 * difference: the whole sandbox is untrusted.
 */
#include "relay/termd.h"

#include <sys/socket.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/bridge_frames.h"
#include "common/log.h"

/* Read in pieces, to check the viewers' queues in between. */
#define BOX_PIECE 1024U

/* Bytes that were read and wait for a slow viewer. */
static struct {
	uint8_t bytes[TERMD_READ];
	size_t at, len;
} box_in;

static void box_ready(struct loop_io *, uint32_t);
static void box_work(void);

static void
box_close(const char *why)
{
	struct box *b = &termd_env.box;

	if (why != NULL)
		log_warnx("the connection of the sandbox is closed: %s", why);
	loop_del(&termd_env.w.loop, &b->io);
	close(b->fd);
	b->fd = -1;
	b->nhead = 0;
	b->left = 0;
	box_in.at = box_in.len = 0;
	/*
	 * A frame may have been cut: the next connection starts with a new one.
	 */
	buf_reset(&b->out, 0);
	viewers_taken();
	output_end(0);
	output_end(1);
}

/* Send the size, the first of all frames; a new connection has room for it. */
static void
box_size(int fd)
{
	uint8_t frame[BOX_HEADER + BOX_SIZE_DATA];

	if (termd_env.screen == NULL)
		return;
	box_header_put(frame, BOX_SIZE, BOX_SIZE_DATA);
	screen_size_put(termd_env.screen, frame + BOX_HEADER);
	if (send(fd, frame, sizeof(frame), MSG_NOSIGNAL | MSG_DONTWAIT) == -1)
		log_warn("the size of the terminal");
}

void
box_connection(int fd)
{
	struct box *b = &termd_env.box;

	if (b->fd != -1) {
		close(fd);
		return;
	}
	b->fd = fd;
	b->io.fd = -1;
	box_size(fd);
	box_update();
}

static void
box_accept(struct loop_io *io, uint32_t events)
{
	int fd;

	fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd != -1)
		box_connection(fd);
}

void
box_start(void)
{
	struct box *b = &termd_env.box;

	if (loop_add(&termd_env.w.loop, &b->accept_io, b->listener, EPOLLIN,
		box_accept, NULL) == -1)
		fatal("listener");
}

void
box_stop(void)
{
	if (termd_env.box.fd == -1)
		box_accept(&termd_env.box.accept_io, EPOLLIN);
	box_update();
}

static bool
box_reads(void)
{
	if (termd_env.mode.wait && !termd_env.watched && !termd_env.stopping)
		return false;
	if (termd_env.mode.turns != PROTO_TURNS_NONE &&
	    chan_queued(termd_env.w.sup) > TERMD_AHEAD)
		return false;
	return !viewers_behind();
}

void
box_update(void)
{
	struct box *b = &termd_env.box;
	uint32_t events = 0;

	box_work();
	if (b->fd == -1)
		return;
	if (box_in.at == box_in.len && box_reads())
		events |= EPOLLIN;
	if (b->out.len != 0)
		events |= EPOLLOUT;
	if (events == b->io.events && (b->io.fd != -1) == (events != 0))
		return;
	if (loop_watch(&termd_env.w.loop, &b->io, b->fd, events, box_ready,
		NULL) == -1)
		fatal("epoll");
}

bool
box_drained(void)
{
	return termd_env.box.fd == -1;
}

/*
 * Pass on the part of the frame's data that arrived. Returns the bytes taken.
 */
static size_t
box_data(struct span s)
{
	struct box *b = &termd_env.box;
	size_t n = s.len < b->left ? s.len : b->left;

	if (b->kind == BOX_TURN_END)
		memcpy(b->turn + (BOX_TURN_DATA - b->left), s.p, n);
	else
		output_bytes(b->kind == BOX_ERR, span_of(s.p, n));
	b->left -= (uint32_t)n;
	if (b->kind == BOX_TURN_END && b->left == 0)
		output_turn(bridge_get32(b->turn));
	return n;
}

/* Take bytes. Returns 0, or -1 if the sandbox sent a malformed frame. */
static int
box_take(struct span s)
{
	struct box *b = &termd_env.box;
	size_t n;

	while (s.len != 0) {
		if (b->left != 0) {
			n = box_data(s);
		} else {
			b->head[b->nhead++] = s.p[0];
			n = 1;
		}
		s.p += n;
		s.len -= n;
		if (b->nhead != BOX_HEADER)
			continue;
		b->nhead = 0;
		if (box_header_get(b->head, &b->kind, &b->left) == -1 ||
		    b->kind > BOX_TURN_END ||
		    (b->kind == BOX_TURN_END &&
			termd_env.mode.turns == PROTO_TURNS_NONE))
			return -1;
		if (b->kind == BOX_OUT_END || b->kind == BOX_ERR_END)
			output_end(b->kind == BOX_ERR_END);
	}
	return 0;
}

static void
box_work(void)
{
	size_t n;

	while (box_in.at < box_in.len && box_reads()) {
		n = box_in.len - box_in.at;
		n = n < BOX_PIECE ? n : BOX_PIECE;
		if (box_take(span_of(box_in.bytes + box_in.at, n)) == -1) {
			box_close("what came is no frame");
			return;
		}
		box_in.at += n;
	}
}

static void
box_read(void)
{
	struct box *b = &termd_env.box;
	ssize_t n;

	/*
	 * Read on only when everything was passed on; then an error may appear.
	 */
	if (box_in.at < box_in.len)
		return;
	if ((n = read(b->fd, box_in.bytes, sizeof(box_in.bytes))) == -1) {
		if (errno != EAGAIN && errno != EINTR)
			box_close(NULL);
		return;
	}
	if (n == 0) {
		box_close(NULL);
		return;
	}
	box_in.at = 0;
	box_in.len = (size_t)n;
	box_work();
}

static void
box_write(void)
{
	struct box *b = &termd_env.box;
	struct span s = buf_span(&b->out);
	ssize_t n;

	if (s.len == 0)
		return;
	if ((n = send(b->fd, s.p, s.len, MSG_NOSIGNAL | MSG_DONTWAIT)) == -1)
		return; /* read() reports the end */
	buf_drain(&b->out, (size_t)n);
	if (b->out.len == 0)
		viewers_taken();
}

static void
box_ready(struct loop_io *io, uint32_t events)
{
	if ((events & EPOLLOUT) != 0)
		box_write();
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
		box_read();
}
