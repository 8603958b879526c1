/* SPDX-License-Identifier: ISC */
/*
 * The two pipes of an MCP server, with one read per turn.  Stdout is not read
 * while a peer is behind, nor for a while after too many unrequested answers.
 * A server that must not be read any more (it closed its output, writes
 * garbage, or writes an endless line) is reported as gone and left alone:
 * auditd answers its calls, and other servers are not affected.  One that died
 * may be started again: its new pipes are read as the old ones were.
 */
#include "backd/remote.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/plural.h"

/* Room for the nodes and texts of the largest tree. */
#define POOL_MAX ((size_t)24 << 20)

static int
on_unasked(struct chan *c, const struct msg_UNASKED *m)
{
	backd_unasked(chan_arg(c), m->count);
	return 0;
}

/* Process a part of a line that is too long: only its id is looked for. */
static void
out_part(struct backd *b, struct span part, bool last)
{
	idscan_feed(&b->scan, part);
	if (last) {
		server_long(b);
		memset(&b->scan, 0, sizeof(b->scan));
	} else if (mcp_reader_over(&b->out) > BACKD_MAX_SKIP) {
		backd_gone(b, "wrote a line longer than %zu bytes",
		    (size_t)BACKD_MAX_SKIP);
	}
}

static void
out_lines(struct backd *b)
{
	enum mcp_got got;
	struct span line;

	while (
	    !b->gone && (got = mcp_reader_next(&b->out, &line)) != MCP_MORE) {
		if (got == MCP_ONE)
			server_line(b, line);
		else
			out_part(b, line, got == MCP_LONG_END);
	}
	if (!b->gone)
		mcp_reader_done(&b->out);
}

/*
 * Read at most LINES_READ bytes.  Returns 0 at the end, -1 if there is nothing
 * now.
 */
static ssize_t
pipe_read(struct backd *b, unsigned which, uint8_t *room)
{
	ssize_t n;

	if (room == NULL)
		fatal("line buffer");
	n = read(b->fd[which], room, LINES_READ);
	if (n == -1 && errno != EAGAIN && errno != EINTR)
		return 0;
	return n;
}

static void
out_ready(struct loop_io *io, uint32_t events)
{
	struct backd *b = io->arg;
	struct span rest;
	ssize_t n;

	if ((n = pipe_read(b, 0, mcp_reader_room(&b->out))) == -1)
		return;
	if (n == 0) {
		b->died = true;
		if (mcp_reader_end(&b->out, &rest) != MCP_MORE)
			backd_gone(b, "closed its output within a line");
		else if (b->stray != 0)
			backd_gone(b,
			    "closed its output; it wrote what is no MCP "
			    "message: %s",
			    b->last);
		else
			backd_gone(b, "closed its output");
		return;
	}
	mcp_reader_filled(&b->out, (size_t)n);
	out_lines(b);
	backd_watch(b);
}

static void
complain(struct backd *b)
{
	struct span line = span_of(b->err, b->err_len);
	char text[4 * BACKD_MAX_STDERR + 8];

	b->err_len = 0;
	if (line.len != 0 && line.p[line.len - 1] == '\r')
		line.len--;
	if (line.len == 0)
		return;
	if (!backd_may(b, &b->complaints)) {
		(void)backd_show_line(b, line, text, sizeof(text));
		b->silenced++;
		return;
	}
	if (b->silenced != 0)
		log_info("stderr: (%llu line%s not shown)",
		    (unsigned long long)b->silenced, plural(b->silenced));
	b->silenced = 0;
	log_info("stderr: %.*s", (int)BACKD_MAX_STDERR,
	    backd_show_line(b, line, text, sizeof(text)));
}

/* Split stderr into lines, wherever the reads end; long lines are cut. */
static void
err_bytes(struct backd *b, const uint8_t *p, size_t n)
{
	const uint8_t *nl;
	size_t len, take;

	while (n != 0) {
		nl = memchr(p, '\n', n);
		len = nl != NULL ? (size_t)(nl - p) : n;
		take = sizeof(b->err) - b->err_len;
		take = len < take ? len : take;
		memcpy(b->err + b->err_len, p, take);
		b->err_len += take;
		if (nl != NULL) {
			complain(b);
			len++;
		}
		p += len;
		n -= len;
	}
}

static void
err_ready(struct loop_io *io, uint32_t events)
{
	static uint8_t room[LINES_READ];
	struct backd *b = io->arg;
	ssize_t n;

	if ((n = pipe_read(b, 1, room)) == -1)
		return;
	if (n != 0) {
		err_bytes(b, room, (size_t)n);
		return;
	}
	complain(b);
	backd_close(b, 1);
}

/* The server runs again, with other pipes: nothing of the old one is left. */
static void
out_again(struct backd *b)
{
	backd_close(b, 1);
	b->seen[0] = b->seen[1] = false;
	b->gone = b->died = b->modern = b->old = false;
	b->stray = 0;
	b->err_len = 0;
	b->in_key = 0;
	memset(&b->scan, 0, sizeof(b->scan));
	mcp_reader_init(&b->out, &mcp_by_line, PROTO_MAX_LINE);
}

static int
on_server_out(struct chan *c, const struct msg_SERVER_OUT *m, int fd)
{
	unsigned which = m->which;
	struct backd *b = chan_arg(c);

	if (which == 0 && b->died)
		out_again(b);
	if (b->seen[which]) {
		close(fd);
		return chan_violation(c, "SERVER_OUT %u twice", which);
	}
	b->seen[which] = true;
	b->sandboxed = m->sandboxed != 0;
	b->mask = m->mask != 0;
	b->fd[which] = fd;
	if (b->w.started)
		backd_start(b, which);
	return 0;
}

/* clang-format off */
const struct chan_handler backd_handlers[] = {
	HANDLER(KNOWN,		backd_on_known),
	HANDLER(POST,		remote_on_post),
	HANDLER(SERVER_AFAR,	remote_on_afar),
	HANDLER(SERVER_OUT,	on_server_out),
	HANDLER(UNASKED,	on_unasked),
};
/* clang-format on */
const size_t backd_nhandlers = nitems(backd_handlers);

void
backd_init(struct backd *b)
{
	for (unsigned i = 0; i < 2; i++) {
		b->fd[i] = -1;
		b->io[i].fd = -1;
	}
	b->readable = out_ready;
	mcp_reader_init(&b->out, &mcp_by_line, PROTO_MAX_LINE);
	buf_init(&b->tree, PROTO_MAX_TREE);
	if ((b->pool = value_pool_new(POOL_MAX)) == NULL)
		fatal("value_pool_new");
	b->requests = (struct bucket){.burst = 64, .ms = 100};
	b->updates = (struct bucket){.burst = 128, .ms = 20};
	b->changes = (struct bucket){.burst = 4, .ms = 1000};
	b->progress = (struct bucket){.burst = 64, .ms = 20};
	b->answers = (struct bucket){.burst = 128, .ms = 20};
	b->notices = (struct bucket){.burst = 100, .ms = 50};
	b->wanted = (struct bucket){.burst = 256, .ms = 20};
	b->unasked = (struct bucket){.burst = 256, .ms = BACKD_UNASKED_MS};
	b->complaints = (struct bucket){.burst = 200, .ms = 50};
}

/*
 * Nothing of the server is read before START, because peers accept nothing yet.
 */
void
backd_start(struct backd *b, unsigned which)
{
	if (b->fd[which] == -1)
		return;
	if (which == 0)
		backd_watch(b);
	else if (loop_add(&b->w.loop, &b->io[1], b->fd[1], EPOLLIN, err_ready,
		     b) == -1)
		fatal("epoll_ctl");
}

static void
caught_up(void)
{
	backd_watch(&backd_env);
}

static void
start(void)
{
	backd_start(&backd_env, 0);
	backd_start(&backd_env, 1);
}

void
backd_serve(void)
{
	backd_init(&backd_env);
	backd_env.w.start = start;
	backd_env.w.caught_up = caught_up;
	worker_serve(&backd_env.w, backd_handlers, backd_nhandlers);
}
