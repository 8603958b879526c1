/* SPDX-License-Identifier: ISC */
/*
 * Concurrent calls: a fixed number of processes, made before anything is read,
 * each of which answers one line at a time.  The first process distributes the
 * lines of the client and passes answers on whole; it parses neither.  If any
 * process dies, all do, which ends the server and every call that waits for it.
 */
#include "icfetch/icfetch.h"

#include <sys/prctl.h>
#include <sys/socket.h>

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "mcp/lines.h"

#define POOL_HANDS 8U

struct hand {
	int fd;
	bool busy;
	struct lines in; /* its answer: lines, then an empty line */
};

static struct hand pool[POOL_HANDS];

/* Write all of it, or exit: then the reader is gone. */
static void
pool_write(int fd, struct span s)
{
	if (span_write(fd, s) == -1)
		_exit(0);
}

/* Read more from `fd`; exits with `status` at its end. */
static void
read_more(int fd, struct lines *in, int status)
{
	uint8_t *room;
	ssize_t n;

	if ((room = lines_room(in)) == NULL)
		errx(1, "out of memory");
	do {
		n = read(fd, room, LINES_READ);
	} while (n == -1 && errno == EINTR);
	if (n <= 0)
		_exit(status);
	lines_filled(in, (size_t)n);
}

/*
 * Serve in a pool process: for each line write its answer, if any, and an empty
 * line.
 */
static void __attribute__((noreturn)) hand_serve(struct mcp *m, int fd)
{
	enum lines_got got;
	struct lines in;
	struct span line;

	lines_init(&in, MCP_MAX_LINE);
	for (;;) {
		read_more(fd, &in, 0);
		while ((got = lines_next(&in, &line)) == LINES_ONE) {
			mcp_line(m, line);
			buf_addc(m->out, '\n');
			pool_write(fd, buf_span(m->out));
			buf_reset(m->out, LINES_READ);
		}
		if (got == LINES_LONG)
			_exit(1);
		lines_done(&in);
	}
}

static void
hand_make(struct hand *h, struct mcp *m, void (*lock)(void))
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		err(1, "socketpair");
	switch (fork()) {
	case -1:
		err(1, "fork");
	case 0:
		for (struct hand *o = pool; o < h; o++)
			close(o->fd);
		close(pair[0]);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		lock();
		hand_serve(m, pair[1]);
	default:
		break;
	}
	close(pair[1]);
	h->fd = pair[0];
	lines_init(&h->in, 2 * MCP_MAX_LINE);
}

static void
hand_ready(struct hand *h)
{
	static const uint8_t newline = '\n';
	struct span line;
	enum lines_got got;

	read_more(h->fd, &h->in, 1);
	while ((got = lines_next(&h->in, &line)) == LINES_ONE) {
		h->busy = h->busy && line.len != 0;
		if (line.len == 0)
			continue;
		pool_write(STDOUT_FILENO, line);
		pool_write(STDOUT_FILENO, span_of(&newline, 1));
	}
	if (got == LINES_LONG)
		errx(1, "an answer is too long");
	lines_done(&h->in);
}

static struct hand *
hand_idle(void)
{
	for (unsigned i = 0; i < POOL_HANDS; i++)
		if (!pool[i].busy)
			return &pool[i];
	return NULL;
}

/* Distribute complete lines to idle processes. */
static enum lines_got
pool_deal(struct lines *in)
{
	static const uint8_t newline = '\n';
	enum lines_got got = LINES_MORE;
	struct hand *h;
	struct span line;

	while ((h = hand_idle()) != NULL &&
	       (got = lines_next(in, &line)) == LINES_ONE) {
		h->busy = true;
		pool_write(h->fd, line);
		pool_write(h->fd, span_of(&newline, 1));
	}
	lines_done(in);
	return got;
}

void
pool_serve(struct mcp *m, void (*lock)(void))
{
	struct pollfd p[POOL_HANDS + 1];
	struct lines in;

	for (unsigned i = 0; i < POOL_HANDS; i++)
		hand_make(&pool[i], m, lock);
	lock();
	lines_init(&in, MCP_MAX_LINE);
	for (;;) {
		for (unsigned i = 0; i < POOL_HANDS; i++)
			p[i] =
			    (struct pollfd){.fd = pool[i].fd, .events = POLLIN};
		/* While all processes are busy, the client has to wait. */
		p[POOL_HANDS] = (struct pollfd){
		    .fd = hand_idle() != NULL ? STDIN_FILENO : -1,
		    .events = POLLIN};
		if (poll(p, POOL_HANDS + 1, -1) == -1 && errno != EINTR)
			err(1, "poll");
		for (unsigned i = 0; i < POOL_HANDS; i++)
			if (p[i].revents != 0)
				hand_ready(&pool[i]);
		if (p[POOL_HANDS].revents != 0)
			read_more(STDIN_FILENO, &in, 0);
		if (pool_deal(&in) == LINES_LONG)
			errx(1, "a line longer than 4194304 bytes");
	}
}
