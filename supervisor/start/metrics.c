/* SPDX-License-Identifier: ISC */
/*
 * metrics.sock: answers any HTTP request of the user's with the metrics, so
 * that `curl --unix-socket` and scrapers behind a proxy can read them. The
 * request itself is ignored. The answer must fit the socket's buffer, or it is
 * cut off.
 */
#include "hub/control.h"

#include <sys/socket.h>

#include <unistd.h>

#include "budget/budget.h"
#include "common/net/spare.h"
#include "core/sup.h"

#define METRICS_MAX (256U << 10)

#define METRICS_CLIENTS 8U

static struct loop_io metrics_io = LOOP_IO_INIT;
static int metrics_fd = -1;
static struct spare metrics_spare = SPARE_INIT;
/*
 * Clients that have not sent a request yet; the oldest makes room for a new
 * one.
 */
static struct metrics_client {
	struct loop_io io;
	int fd;
} metrics_clients[METRICS_CLIENTS];
static unsigned metrics_next;

static void
metrics_drop(struct metrics_client *c)
{
	if (c->fd == -1)
		return;
	loop_del(&sup.loop, &c->io);
	close(c->fd);
	c->fd = -1;
}

static void
metrics_answer(struct loop_io *io, uint32_t events)
{
	struct metrics_client *c = io->arg;
	struct buf head, body;
	struct span s;
	char drop[16384];
	int size = METRICS_MAX * 2;

	if (recv(c->fd, drop, sizeof(drop), MSG_DONTWAIT) <= 0) {
		metrics_drop(c);
		return;
	}
	buf_init(&head, 512);
	buf_init(&body, METRICS_MAX);
	budget_metrics(&body);
	buf_printf(&head,
	    "HTTP/1.0 200 OK\r\n"
	    "Content-Type: text/plain; version=0.0.4\r\n"
	    "Content-Length: %zu\r\nConnection: close\r\n\r\n",
	    body.len);
	(void)setsockopt(c->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	s = buf_span(&head);
	if (!head.failed && !body.failed &&
	    send(c->fd, s.p, s.len, MSG_NOSIGNAL) == (ssize_t)s.len) {
		s = buf_span(&body);
		(void)send(c->fd, s.p, s.len, MSG_NOSIGNAL);
	}
	buf_free(&head);
	buf_free(&body);
	metrics_drop(c);
}

static void
metrics_accept(struct loop_io *io, uint32_t events)
{
	struct metrics_client *c =
	    &metrics_clients[metrics_next++ % METRICS_CLIENTS];
	struct peer peer;
	int fd;

	/* The oldest client makes room. */
	metrics_drop(c);
	fd = spare_accept(
	    &metrics_spare, io->fd, NULL, NULL, span_of(NULL, 0));
	if (fd == -1)
		return;
	c->io.fd = -1;
	if (peer_check(fd, &peer) == -1 ||
	    loop_add(&sup.loop, &c->io, fd, EPOLLIN, metrics_answer, c) == -1)
		close(fd);
	else
		c->fd = fd;
}

int
metrics_open(int listener)
{
	for (unsigned i = 0; i < METRICS_CLIENTS; i++)
		metrics_clients[i].fd = -1;
	spare_keep(&metrics_spare);
	metrics_fd = listener;
	return loop_add(
	    &sup.loop, &metrics_io, listener, EPOLLIN, metrics_accept, NULL);
}

void
metrics_close(void)
{
	if (metrics_fd == -1)
		return;
	for (unsigned i = 0; i < METRICS_CLIENTS; i++)
		metrics_drop(&metrics_clients[i]);
	loop_del(&sup.loop, &metrics_io);
	close(metrics_fd);
	metrics_fd = -1;
}
