/* SPDX-License-Identifier: ISC */
/*
 * One direction of bytes with its buffer, and `ic-bridge stdio`, which consists
 * of two.
 */
#include "bridge.h"

#include <sys/socket.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool
flow_move(struct flow *f)
{
	ssize_t n;

	if (f->len == 0 && !f->eof) {
		f->off = 0;
		n = read(f->from, f->bytes, sizeof(f->bytes));
		if (n == 0)
			f->eof = true;
		else if (n > 0)
			f->len = (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			return false;
	}
	if (f->len != 0) {
		n = write(f->to, f->bytes + f->off, f->len);
		if (n > 0) {
			f->off += (size_t)n;
			f->len -= (size_t)n;
		} else if (n == -1 && errno != EAGAIN && errno != EINTR)
			return false;
	}
	if (f->len == 0 && f->eof && !f->done) {
		/* Half-close: the other direction continues. */
		f->done = true;
		if (shutdown(f->to, SHUT_WR) == -1 && errno == ENOTSOCK)
			close(f->to);
	}
	return true;
}

short
flow_wants(const struct flow *f, int fd)
{
	short events = 0;

	if (fd == f->from && f->len == 0 && !f->eof)
		events |= POLLIN;
	if (fd == f->to && f->len != 0)
		events |= POLLOUT;
	return events;
}

bool
flow_ready(short from, short to)
{
	return (from & ~POLLOUT) != 0 || (to & ~POLLIN) != 0;
}

int
stdio_run(const char *path)
{
	static struct flow in, out;
	struct pollfd p[2];
	int fd;

	if ((fd = unix_connect(path, 0)) == -1)
		bridge_die(path);
	signal(SIGPIPE, SIG_IGN);
	/*
	 * The descriptors block on purpose: poll() finds bytes to read, and a
	 * write may wait.
	 */
	in.from = STDIN_FILENO;
	in.to = out.from = fd;
	out.to = STDOUT_FILENO;
	while (!out.done) {
		p[0] = (struct pollfd){
		    .fd = in.eof ? -1 : STDIN_FILENO, .events = POLLIN};
		p[1] = (struct pollfd){.fd = fd, .events = POLLIN};
		if (poll(p, 2, -1) == -1 && errno != EINTR)
			bridge_die("poll");
		if ((p[0].revents != 0 && !flow_move(&in)) ||
		    (p[1].revents != 0 && !flow_move(&out)))
			return 1;
		/* A short write leaves bytes behind. */
		while (in.len != 0 || out.len != 0) {
			if ((in.len != 0 && !flow_move(&in)) ||
			    (out.len != 0 && !flow_move(&out)))
				return 1;
		}
	}
	return 0;
}
