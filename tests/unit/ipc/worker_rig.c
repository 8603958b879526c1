/* SPDX-License-Identifier: ISC */
/* Shared by the tests that run a single worker. */
#include "unit/ipc/worker_rig.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <netinet/in.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/ipc/worker.h"

#define WAIT_US 30000000U

unsigned worker_rig_files;

int
worker_rig_hello(struct chan *c, const struct msg_HELLO *m)
{
	struct worker_rig *w = chan_arg(c);

	w->hello = true;
	w->flags = m->flags;
	return 0;
}

void
worker_rig_closed(struct chan *c, const char *why)
{
	struct worker_rig *w = chan_arg(c);

	if (why != NULL)
		errx(1, "%s broke the protocol: %s", role_name(w->role), why);
	w->lost = true;
}

static struct chan *
end(struct worker_rig *w, enum role self, enum proto_memory memory, int *other)
{
	struct chan *c;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, fds) == -1 ||
	    chan_memory_give(fds, memory) == -1 ||
	    (c = chan_new(&w->loop, fds[0], self, w->role, 0, w->ops, w)) ==
		NULL ||
	    chan_memory_take(c, memory) == -1 || chan_open(c) == -1)
		err(1, "channel");
	*other = fds[1];
	return c;
}

void
worker_rig_start(struct worker_rig *w, const char *program, enum role role,
    const struct chan_ops *ops)
{
	static char *const none[] = {NULL};
	char *argv[] = {(char *)(uintptr_t)role_name(role), NULL};
	int fd;

	*w = (struct worker_rig){.role = role, .ops = ops};
	(void)signal(SIGPIPE, SIG_IGN);
	if (loop_init(&w->loop, 4) == -1)
		err(1, "loop");
	w->sup = end(w, ROLE_SUP, PROTO_MEMORY_NONE, &fd);
	if ((w->pid = fork()) == -1)
		err(1, "fork");
	if (w->pid == 0) {
		if (worker_rig_files != 0 &&
		    setrlimit(RLIMIT_NOFILE,
			&(struct rlimit){worker_rig_files, worker_rig_files}) ==
			-1)
			_exit(127);
		/* A log in a file would hit the worker's RLIMIT_FSIZE. */
		if (dup2(open("/dev/null", O_RDWR | O_CLOEXEC), 2) == -1 ||
		    dup2(fd, WORKER_FD) == -1 || close_range(4, ~0U, 0) == -1)
			_exit(127);
		execve(program, argv, none);
		_exit(127);
	}
	close(fd);
	if (!worker_rig_until_true(w, &w->hello))
		errx(1, "no HELLO of %s", role_name(role));
}

static struct chan *
peer(struct worker_rig *w, enum role role, unsigned index,
    enum proto_memory memory)
{
	struct msg_PEER m = {.role = (uint8_t)role,
	    .index = (uint16_t)index,
	    .memory = (uint8_t)memory};
	struct chan *c;
	int fd;

	c = end(w, role, memory, &fd);
	if (chan_send(w->sup, MSG_PEER, &m, fd) == -1)
		err(1, "PEER");
	return c;
}

struct chan *
worker_rig_peer(struct worker_rig *w, enum role role, unsigned index)
{
	return peer(w, role, index, PROTO_MEMORY_NONE);
}

struct chan *
worker_rig_arena(struct worker_rig *w, enum role role, unsigned index)
{
	return peer(w, role, index, PROTO_MEMORY_ARENA);
}

static void
write_part(struct worker_rig *w, int fd, const char *p, size_t n)
{
	for (int i = 0; i < 3; i++)
		worker_rig_turn(w);
	/* The worker may have closed the pipe early. */
	if (write(fd, p, n) != (ssize_t)n && errno != EPIPE)
		err(1, "pipe");
}

void
worker_rig_secret(struct worker_rig *w, const char *text, unsigned kind)
{
	struct msg_SECRET m = {.kind = (uint8_t)kind};
	size_t len = strlen(text), half = len / 2;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) == -1 ||
	    fcntl(fds[0], F_SETFL, O_NONBLOCK) == -1)
		err(1, "pipe");
	if (chan_send(w->sup, MSG_SECRET, &m, fds[0]) == -1)
		err(1, "SECRET");
	write_part(w, fds[1], text, half);
	write_part(w, fds[1], text + half, len - half);
	close(fds[1]);
}

void
worker_rig_stop(struct worker_rig *w)
{
	chan_free(w->sup);
	kill(w->pid, SIGKILL);
	(void)waitpid(w->pid, NULL, 0);
	loop_free(&w->loop);
}

void
worker_rig_turn(struct worker_rig *w)
{
	if (loop_once(&w->loop, 10) == -1)
		err(1, "loop");
}

bool
worker_rig_until(struct worker_rig *w, const unsigned *what, unsigned n)
{
	uint64_t end_at = clock_mono_us() + WAIT_US;

	while (*what < n && !w->lost && clock_mono_us() < end_at)
		worker_rig_turn(w);
	return *what >= n;
}

bool
worker_rig_until_true(struct worker_rig *w, const bool *what)
{
	uint64_t end_at = clock_mono_us() + WAIT_US;

	while (!*what && !w->lost && clock_mono_us() < end_at)
		worker_rig_turn(w);
	return *what;
}

static struct sockaddr_in
loopback(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	    .sin_port = htons(port)};
}

int
worker_rig_listen(uint16_t *port)
{
	struct sockaddr_in sin = loopback(0);
	socklen_t len = sizeof(sin);
	int fd;

	if ((fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1 ||
	    bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1 ||
	    listen(fd, 256) == -1 ||
	    getsockname(fd, (struct sockaddr *)&sin, &len) == -1)
		err(1, "listener");
	*port = ntohs(sin.sin_port);
	return fd;
}

int
worker_rig_connect(uint16_t port)
{
	struct sockaddr_in sin = loopback(port);
	int fd;

	if ((fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1 ||
	    connect(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1 ||
	    fcntl(fd, F_SETFL, O_NONBLOCK) == -1)
		err(1, "connect");
	return fd;
}
