/* SPDX-License-Identifier: ISC */
/*
 * Accepts ic-bridge's connection and carries frames over it. The stream is
 * hostile as soon as something in the sandbox has taken over process 1, so that
 * each frame is bounded by its kind, and only the answer to what was sent is
 * accepted, once.
 */
#include "box/bridge.h"

#include <sys/socket.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "core/sup.h"

#define BRIDGE_SOCKET "bridge.sock"
#define BRIDGE_OUT_MAX (4U << 20)
#define BRIDGE_READS 16U /* per wake-up, so that nobody else starves */

static struct {
	struct loop_io listener, io;
	int sockets; /* the directory that has the name; -1: none has */
	const struct bridge_calls *calls;
	struct ucred peer;
	struct buf out;
	uint8_t in[BRIDGE_HEADER + BRIDGE_MAX_REPORT];
	size_t len;
	bool hello;  /* it has come */
	bool probed; /* the test's report is awaited */
	bool turn;   /* the end of a turn is awaited */
} bridge_env = {.listener = LOOP_IO_INIT, .io = LOOP_IO_INIT, .sockets = -1};

static void
bridge_close_io(struct loop_io *io)
{
	int fd = io->fd;

	if (fd == -1)
		return;
	loop_del(&sup.loop, io);
	close(fd);
}

static void
bridge_unlisten(void)
{
	bridge_close_io(&bridge_env.listener);
	if (bridge_env.sockets != -1)
		(void)unlinkat(bridge_env.sockets, BRIDGE_SOCKET, 0);
	bridge_env.sockets = -1;
}

void
bridge_close(void)
{
	bridge_unlisten();
	bridge_close_io(&bridge_env.io);
	buf_free(&bridge_env.out);
	bridge_env.calls = NULL;
}

void
bridge_peer_set(pid_t pid)
{
	bridge_env.peer.pid = pid;
}

pid_t
bridge_peer(void)
{
	return bridge_env.io.fd == -1 ? -1 : bridge_env.peer.pid;
}

static void
bridge_gone(const char *why)
{
	const struct bridge_calls *calls = bridge_env.calls;

	bridge_close();
	calls->gone(why);
}

/* Returns 0, or -1 if no such frame is expected now. */
static int
bridge_frame(enum bridge_kind kind, const uint8_t *data, uint32_t len)
{
	bool *awaited;

	if (kind == BRIDGE_HELLO) {
		if (bridge_env.hello || bridge_get32(data) != BRIDGE_VERSION)
			return -1;
		bridge_env.hello = true;
		return 0;
	}
	awaited = kind == BRIDGE_PROBED ? &bridge_env.probed : &bridge_env.turn;
	if (!bridge_env.hello || !*awaited)
		return -1;
	*awaited = false;
	return bridge_env.calls->frame(kind, data, len);
}

/*
 * Handle the frame that is complete, if one is. Returns the number of bytes
 * that it still lacks, or 0 if the connection is gone.
 */
static size_t
bridge_next(void)
{
	enum bridge_kind kind;
	uint32_t len;

	if (bridge_env.len < BRIDGE_HEADER)
		return BRIDGE_HEADER - bridge_env.len;
	if (bridge_header_get(bridge_env.in, &kind, &len) == -1) {
		bridge_gone("it sent a frame that does not exist");
		return 0;
	}
	if (bridge_env.len < BRIDGE_HEADER + len)
		return BRIDGE_HEADER + len - bridge_env.len;
	bridge_env.len = 0;
	if (bridge_frame(kind, bridge_env.in + BRIDGE_HEADER, len) == -1) {
		if (bridge_env.calls != NULL)
			bridge_gone("it sent a frame that was not expected");
		return 0;
	}
	/* The frame may have ended everything. */
	return bridge_env.calls == NULL ? 0 : BRIDGE_HEADER;
}

static void
bridge_read(void)
{
	size_t want = bridge_next();
	ssize_t n;

	for (unsigned i = 0; i < BRIDGE_READS && want != 0; i++) {
		n = recv(bridge_env.io.fd, bridge_env.in + bridge_env.len, want,
		    MSG_DONTWAIT);
		if (n == -1 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			bridge_gone(NULL);
			return;
		}
		bridge_env.len += (size_t)n;
		want = bridge_next();
	}
}

static void
bridge_write(void)
{
	struct span s = buf_span(&bridge_env.out);
	ssize_t n;

	if (s.len != 0) {
		n = send(
		    bridge_env.io.fd, s.p, s.len, MSG_NOSIGNAL | MSG_DONTWAIT);
		/* A broken connection shows when it is read. */
		if (n > 0)
			buf_drain(&bridge_env.out, (size_t)n);
		else if (n == -1 && errno != EAGAIN && errno != EINTR)
			buf_reset(&bridge_env.out, 0);
	}
	(void)loop_mod(&sup.loop, &bridge_env.io,
	    bridge_env.out.len != 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void
bridge_ready(struct loop_io *io, uint32_t events)
{
	(void)io;
	if ((events & EPOLLOUT) != 0)
		bridge_write();
	if ((events & ~(uint32_t)EPOLLOUT) != 0)
		bridge_read();
}

void
bridge_take(int fd)
{
	if (bridge_env.calls == NULL || bridge_env.io.fd != -1) {
		close(fd);
		return;
	}
	if (loop_add(&sup.loop, &bridge_env.io, fd, EPOLLIN, bridge_ready,
		NULL) == -1) {
		close(fd);
		bridge_gone("it cannot be read");
		return;
	}
	bridge_write();
}

/* Only process 1 of the sandbox can know of the socket as yet. */
static void
bridge_accept(struct loop_io *io, uint32_t events)
{
	socklen_t len = sizeof(bridge_env.peer);
	int fd;

	(void)events;
	fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd == -1)
		return;
	bridge_unlisten();
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &bridge_env.peer, &len) ==
		-1 ||
	    bridge_env.peer.uid != geteuid()) {
		close(fd);
		bridge_gone("it belongs to another user");
		return;
	}
	bridge_take(fd);
}

int
bridge_open(int sockets, const struct bridge_calls *calls, struct fault *fault)
{
	int fd;

	buf_init(&bridge_env.out, BRIDGE_OUT_MAX);
	bridge_env.sockets = sockets;
	bridge_env.calls = calls;
	bridge_env.hello = bridge_env.probed = bridge_env.turn = false;
	bridge_env.len = 0;
	if (sockets == -1)
		return 0;
	fd = session_listen(sockets, BRIDGE_SOCKET, 0600);
	if (fd == -1)
		return fault_errno(fault, BRIDGE_SOCKET);
	if (loop_add(&sup.loop, &bridge_env.listener, fd, EPOLLIN,
		bridge_accept, NULL) == -1) {
		close(fd);
		return fault_errno(fault, BRIDGE_SOCKET);
	}
	return 0;
}

int
bridge_send(enum bridge_kind kind, const void *data, size_t len)
{
	uint8_t header[BRIDGE_HEADER];

	if (bridge_env.calls == NULL) {
		errno = EPIPE;
		return -1;
	}
	bridge_header_put(header, kind, (uint32_t)len);
	buf_add(&bridge_env.out, header, sizeof(header));
	buf_add(&bridge_env.out, data, len);
	if (bridge_env.out.failed)
		return -1;
	if (kind == BRIDGE_PROBE)
		bridge_env.probed = true;
	if (kind == BRIDGE_TURN)
		bridge_env.turn = true;
	if (bridge_env.io.fd != -1)
		bridge_write();
	return 0;
}
