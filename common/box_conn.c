/* SPDX-License-Identifier: ISC */
#include "common/box_conn.h"

#include <sys/socket.h>

#include <errno.h>
#include <unistd.h>

#include "common/log.h"

static void conn_ready(struct loop_io *, uint32_t);
static void conn_work(struct box_conn *);

void
box_conn_init(struct box_conn *b, const struct box_conn_ops *ops,
    struct loop *loop, size_t max)
{
	b->ops = ops;
	b->loop = loop;
	b->listener = b->fd = -1;
	b->accept_io.fd = b->io.fd = -1;
	b->nhead = b->at = b->len = 0;
	b->left = 0;
	buf_init(&b->out, max);
}

int
box_conn_listener(struct box_conn *b, int fd)
{
	if (b->listener != -1)
		return -1;
	b->listener = fd;
	return 0;
}

static void
conn_close(struct box_conn *b, const char *why)
{
	if (why != NULL)
		log_warnx("the connection of the sandbox is closed: %s", why);
	loop_del(b->loop, &b->io);
	close(b->fd);
	b->fd = -1;
	b->nhead = b->at = b->len = 0;
	b->left = 0;
	/*
	 * A frame may have been cut: the next connection starts with a new one.
	 */
	buf_reset(&b->out, 0);
	if (b->ops->once)
		loop_del(b->loop, &b->accept_io);
	b->ops->closed();
}

void
box_conn_open(struct box_conn *b, int fd)
{
	if (b->fd != -1 || b->accept_io.fd == -1) {
		close(fd);
		return;
	}
	b->fd = fd;
	b->io.fd = -1;
	if (b->ops->begin != NULL)
		b->ops->begin(fd);
	box_conn_update(b);
}

static void
conn_accept(struct box_conn *b)
{
	int fd;

	fd = accept4(b->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd != -1)
		box_conn_open(b, fd);
}

static void
accept_ready(struct loop_io *io, uint32_t events)
{
	conn_accept(io->arg);
}

int
box_conn_start(struct box_conn *b)
{
	return loop_add(
	    b->loop, &b->accept_io, b->listener, EPOLLIN, accept_ready, b);
}

void
box_conn_stop(struct box_conn *b)
{
	if (b->fd == -1 && b->accept_io.fd != -1)
		conn_accept(b);
	box_conn_update(b);
}

/*
 * Take the next bytes: one of a header, or data. Returns -1 if the frame is
 * malformed.
 */
static int
conn_take(struct box_conn *b)
{
	struct span s = span_of(b->bytes + b->at, b->len - b->at);

	if (b->left != 0) {
		if (s.len > b->left)
			s.len = b->left;
		if (s.len > b->ops->piece)
			s.len = b->ops->piece;
		b->at += s.len;
		b->left -= (uint32_t)s.len;
		b->ops->data(b->kind, s, b->left);
		return 0;
	}
	b->head[b->nhead++] = s.p[0];
	b->at++;
	if (b->nhead != BOX_HEADER)
		return 0;
	b->nhead = 0;
	if (box_header_get(b->head, &b->kind, &b->left) == -1 ||
	    b->kind > b->ops->last)
		return -1;
	return b->ops->frame(b->kind);
}

static void
conn_work(struct box_conn *b)
{
	for (;;) {
		if (b->ops->work != NULL)
			b->ops->work();
		if (b->at == b->len || !b->ops->reads())
			return;
		if (conn_take(b) == -1) {
			conn_close(b, "what came is no frame");
			return;
		}
	}
}

static void
conn_read(struct box_conn *b)
{
	ssize_t n;

	/* Bytes that were read are passed on before an error is looked for. */
	if (b->at < b->len)
		return;
	n = read(b->fd, b->bytes, sizeof(b->bytes));
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		conn_close(b, NULL);
		return;
	}
	b->at = 0;
	b->len = (size_t)n;
	conn_work(b);
}

static void
conn_write(struct box_conn *b)
{
	struct span s = buf_span(&b->out);
	ssize_t n;

	if (s.len == 0)
		return;
	n = send(b->fd, s.p, s.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	/* Nobody takes the rest; conn_read() finds the end when it is read. */
	buf_drain(&b->out, n == -1 ? s.len : (size_t)n);
	if (b->out.len == 0 && b->ops->taken != NULL)
		b->ops->taken();
}

static void
conn_ready(struct loop_io *io, uint32_t events)
{
	struct box_conn *b = io->arg;

	if ((events & EPOLLOUT) != 0)
		conn_write(b);
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
		conn_read(b);
}

void
box_conn_update(struct box_conn *b)
{
	uint32_t events = 0;

	conn_work(b);
	if (b->fd == -1)
		return;
	if (b->at == b->len && b->ops->reads())
		events |= EPOLLIN;
	if (b->out.len != 0)
		events |= EPOLLOUT;
	if (events == b->io.events && (b->io.fd != -1) == (events != 0))
		return;
	if (loop_watch(b->loop, &b->io, b->fd, events, conn_ready, b) == -1)
		fatal("epoll");
}

int
box_conn_send(struct box_conn *b, enum box_kind kind, struct span data)
{
	uint8_t head[BOX_HEADER];

	box_header_put(head, kind, (uint32_t)data.len);
	buf_add(&b->out, head, sizeof(head));
	buf_addspan(&b->out, data);
	return b->out.failed ? -1 : 0;
}
