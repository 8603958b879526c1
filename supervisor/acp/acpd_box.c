/* SPDX-License-Identifier: ISC */
/*
 * The connection from ic-bridge in the sandbox, with the agent's standard
 * input, output and error. Any program in the sandbox may be the peer, which
 * makes no difference: the whole sandbox is untrusted.
 */
#include "acp/acpd.h"

#include <sys/socket.h>

#include <errno.h>
#include <unistd.h>

#include "common/log.h"

/* Bytes that were read and wait for a slow editor. */
static struct {
	uint8_t bytes[ACPD_READ];
	size_t at, len;
} box_in;

static void box_ready(struct loop_io *, uint32_t);

static void
box_close(const char *why)
{
	struct acpd_box *b = &acpd_env.box;

	if (why != NULL)
		log_warnx("the connection of the sandbox is closed: %s", why);
	loop_del(&acpd_env.w.loop, &b->io);
	close(b->fd);
	b->fd = -1;
	box_in.at = box_in.len = 0;
	buf_reset(&b->out, 0);
	/* A second connection would begin in the middle of a conversation. */
	loop_del(&acpd_env.w.loop, &b->accept_io);
}

void
acpd_box_connection(int fd)
{
	struct acpd_box *b = &acpd_env.box;

	if (b->fd != -1 || b->accept_io.fd == -1) {
		close(fd);
		return;
	}
	b->fd = fd;
	b->io.fd = -1;
	acpd_box_update();
}

static void
box_accept(struct loop_io *io, uint32_t events)
{
	int fd;

	fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd != -1)
		acpd_box_connection(fd);
}

void
acpd_box_start(void)
{
	struct acpd_box *b = &acpd_env.box;

	if (loop_add(&acpd_env.w.loop, &b->accept_io, b->listener, EPOLLIN,
		box_accept, NULL) == -1)
		fatal("listener");
}

void
acpd_box_stop(void)
{
	if (acpd_env.box.fd == -1 && acpd_env.box.accept_io.fd != -1)
		box_accept(NULL, EPOLLIN);
	acpd_box_update();
}

/* Collect a line of standard error. */
static void
box_said(struct span s)
{
	struct buf *b = &acpd_env.said;

	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] != '\n' && b->len < ACPD_SAID)
			buf_addc(b, s.p[i]);
		if (s.p[i] != '\n')
			continue;
		acpd_say(buf_span(b));
		buf_reset(b, ACPD_SAID);
	}
}

/* Pass on the part of the frame's data that arrived. Returns its length. */
static size_t
box_data(struct span s)
{
	struct acpd_box *b = &acpd_env.box;
	struct lines *l = &acpd_env.agent.lines;
	size_t n = s.len < b->left ? s.len : b->left;
	uint8_t *room;

	if (b->kind == BOX_ERR) {
		box_said(span_of(s.p, n));
	} else if ((room = lines_room(l)) != NULL) {
		memcpy(room, s.p, n);
		lines_filled(l, n);
		acpd_env.agent.more = true;
	} else {
		fatal("a line of the agent");
	}
	b->left -= (uint32_t)n;
	return n;
}

/* Take the next frame, or a part. Returns -1 if it is malformed. */
static int
box_take(void)
{
	struct acpd_box *b = &acpd_env.box;
	struct span s = span_of(box_in.bytes + box_in.at,
	    box_in.len - box_in.at);

	if (b->left != 0) {
		box_in.at += box_data(s);
		return 0;
	}
	b->head[b->nhead++] = s.p[0];
	box_in.at++;
	if (b->nhead != BOX_HEADER)
		return 0;
	b->nhead = 0;
	return box_header_get(b->head, &b->kind, &b->left) == -1 ||
		       b->kind > BOX_ERR_END
		   ? -1
		   : 0;
}

/* Process what was read, line by line, as fast as the editor reads. */
static void
box_work(void)
{
	acpd_lines_work(&acpd_env.agent, acpd_editor_reads, true);
	while (box_in.at < box_in.len && !acpd_env.agent.more &&
	       acpd_editor_reads()) {
		if (box_take() == -1) {
			box_close("what came is no frame");
			return;
		}
		acpd_lines_work(&acpd_env.agent, acpd_editor_reads, true);
	}
}

static void
box_read(void)
{
	struct acpd_box *b = &acpd_env.box;
	ssize_t n;

	if (box_in.at < box_in.len || acpd_env.agent.more)
		return;
	n = read(b->fd, box_in.bytes, sizeof(box_in.bytes));
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
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
	struct acpd_box *b = &acpd_env.box;
	struct span s = buf_span(&b->out);
	ssize_t n;

	if (s.len == 0)
		return;
	/* A broken connection shows when it is read. */
	n = send(b->fd, s.p, s.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n > 0)
		buf_drain(&b->out, (size_t)n);
}

static void
box_ready(struct loop_io *io, uint32_t events)
{
	if ((events & EPOLLOUT) != 0)
		box_write();
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
		box_read();
}

void
acpd_box_update(void)
{
	struct acpd_box *b = &acpd_env.box;
	uint32_t events = 0;

	box_work();
	if (b->fd == -1)
		return;
	if (box_in.at == box_in.len && !acpd_env.agent.more &&
	    acpd_editor_reads())
		events |= EPOLLIN;
	if (b->out.len != 0)
		events |= EPOLLOUT;
	if (events == b->io.events && (b->io.fd != -1) == (events != 0))
		return;
	if (loop_watch(&acpd_env.w.loop, &b->io, b->fd, events, box_ready,
		NULL) == -1)
		fatal("epoll");
}
