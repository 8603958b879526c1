/* SPDX-License-Identifier: ISC */
/*
 * The agent's connections.  Each has its own ids and its own handshake.  One
 * read per turn takes many lines, and one write per turn sends all their
 * answers.  The only measure against an agent that asks for too much, or is
 * refused too often, is not to read from it; a connection that leaves 8 MiB
 * unread is closed.
 */
#include "proxy.h"

#include <sys/socket.h>

#include <errno.h>
#include <unistd.h>

#include "common/log.h"

static void
close_agent(struct agent *a)
{
	struct proxy *p = a->p;
	struct call *c;

	while ((c = TAILQ_FIRST(&a->calls)) != NULL)
		calls_cancel(p, c);
	listen_free(a);
	loop_del(&p->w.loop, &a->io);
	close(a->fd);
	a->fd = -1;
	mcp_reader_free(&a->in);
	buf_free(&a->out);
	subs_free(a);
	if (a->closing != 0)
		p->nclosing--;
	if (a->full != 0)
		p->nfull--;
	p->nagents--;
	if (p->w.started && p->listener.fd == -1)
		(void)agents_listen(p);
}

/* Process a part of a line that is too long: only its id is looked for. */
static void
take_part(struct agent *a, struct span part, bool last)
{
	struct jsonrpc_id id;

	idscan_feed(&a->scan, part);
	if (last) {
		if (idscan_end(&a->scan, &id) == -1 || a->scan.response)
			id.len = 0;
		answer_fail(a, &id, JSONRPC_INVALID,
		    "Invalid Request: line longer than %u bytes. Do not retry "
		    "it as it is: send less at once",
		    PROTO_MAX_LINE);
		memset(&a->scan, 0, sizeof(a->scan));
	} else if (mcp_reader_over(&a->in) > PROXY_MAX_SKIP) {
		agent_fail(a, JSONRPC_INVALID,
		    "Invalid Request: a line without end; this connection is "
		    "closed");
	}
}

/* Process the lines that have arrived, until one has to wait. */
static void
take_lines(struct agent *a)
{
	enum mcp_got got;
	struct span line;

	a->blocked = a->slow != 0;
	while (!a->blocked && a->closing == 0 && !a->doomed &&
	       (got = mcp_reader_next(&a->in, &line)) != MCP_MORE) {
		if (got != MCP_ONE) {
			take_part(a, line, got == MCP_LONG_END);
			continue;
		}
		/* White space alone is not a message; a CR may end one. */
		if (line.len == 0 || (line.len == 1 && line.p[0] == '\r')) {
			if (++a->blanks > PROXY_MAX_BLANKS)
				agent_fail(a, JSONRPC_INVALID,
				    "Invalid Request: more than 100 empty "
				    "lines");
			continue;
		}
		a->blanks = 0;
		if (request_take(a, line) == -1) {
			mcp_reader_again(&a->in, line);
			a->blocked = true;
		}
	}
	/* The end of the stream cut a line short. */
	if (a->eof && !a->blocked && a->closing == 0 && !a->doomed &&
	    mcp_reader_end(&a->in, &line) != MCP_MORE)
		agent_fail(a, JSONRPC_PARSE,
		    "Parse error: the last line has no newline");
	mcp_reader_done(&a->in);
	a->dirty = true;
}

static void
agent_read(struct agent *a)
{
	uint8_t *room;
	ssize_t n;

	if ((room = mcp_reader_room(&a->in)) == NULL) {
		log_warn("agent connection %u", a->number);
		a->doomed = true;
		return;
	}
	n = recv(a->fd, room, LINES_READ, MSG_DONTWAIT);
	if (n == -1) {
		if (errno != EAGAIN && errno != EINTR)
			a->doomed = true;
		return;
	}
	if (n == 0)
		a->eof = true;
	else
		mcp_reader_filled(&a->in, (size_t)n);
	take_lines(a);
}

static void
agent_ready(struct loop_io *io, uint32_t events)
{
	struct agent *a = io->arg;

	a->dirty = true;
	if (a->doomed)
		return;
	if ((io->events & EPOLLIN) != 0 && (events & EPOLLIN) != 0)
		agent_read(a);
	else if ((events & (EPOLLHUP | EPOLLERR)) != 0)
		a->doomed = true;
}

/* Tell an agent that its connection is one too many, if its socket takes it. */
static void
turn_away(int fd)
{
	static const char text[] =
	    "{\"error\":{\"code\":-32000,\"message\":\"" PROXY_FULL_TEXT
	    "\"},\"jsonrpc\":\"2.0\"}\n";

	(void)send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static int
agent_open(struct proxy *p, int fd, bool full)
{
	struct agent *a = p->agents, *unused = p->agents + p->agent_rows;

	while (a != unused && a->fd != -1)
		a++;
	if (a == unused)
		p->agent_rows++;
	*a = (struct agent){.p = p,
	    .io = LOOP_IO_INIT,
	    .fd = fd,
	    .cancels = {.burst = PROXY_CANCELS, .ms = PROXY_CANCEL_MS}};
	TAILQ_INIT(&a->calls);
	mcp_reader_init(&a->in, &mcp_by_line, PROTO_MAX_LINE);
	buf_init(&a->out, PROXY_MAX_UNREAD + PROXY_MAX_ANSWER);
	a->number = ++p->number;
	if (loop_add(&p->w.loop, &a->io, fd, EPOLLIN, agent_ready, a) == -1) {
		a->fd = -1;
		return -1;
	}
	p->nagents++;
	if (full) {
		a->full = loop_now(&p->w.loop) + PROXY_FULL_MS;
		p->nfull++;
		calls_wake(p);
	}
	return 0;
}

void
agents_take(struct proxy *p, int fd)
{
	bool full = p->nagents - p->nfull >= PROXY_MAX_AGENTS;

	if (full && p->nfull == PROXY_MAX_FULL) {
		turn_away(fd);
	} else if (agent_open(p, fd, full) == -1) {
		log_warn("agent connection");
		close(fd);
	}
}

static void
listener_ready(struct loop_io *io, uint32_t events)
{
	struct proxy *p = io->arg;
	int fd;

	fd = accept4(p->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd == -1) {
		if (errno == EMFILE || errno == ENFILE) {
			/*
			 * Retry once a connection closes, or at once if there
			 * is none.
			 */
			log_warn("agent listener");
			if (p->nagents != 0)
				loop_del(&p->w.loop, io);
		}
		return;
	}
	agents_take(p, fd);
}

int
agents_listen(struct proxy *p)
{
	return loop_add(
	    &p->w.loop, &p->listener, p->listen_fd, EPOLLIN, listener_ready, p);
}

void
agents_init(struct proxy *p)
{
	p->agent_rows = 0;
	p->listener.fd = -1;
	p->listen_fd = -1;
}

static void
agent_turn(struct agent *a, bool ended)
{
	if (ended && a->blocked && !a->doomed)
		take_lines(a);
	if (a->dirty && !a->doomed)
		agent_flush(a);
	if (a->doomed)
		close_agent(a);
}

void
agents_after(void *arg)
{
	struct proxy *p = arg;
	struct agent *a;
	bool ended;

	/* Closing a connection ends calls that another one waits for. */
	do {
		ended = p->ended;
		p->ended = false;
		for (a = NULL; (a = agents_next(p, a)) != NULL;)
			agent_turn(a, ended);
	} while (p->ended);
}

void
agents_caught_up(struct proxy *p)
{
	for (struct agent *a = NULL; (a = agents_next(p, a)) != NULL;)
		a->dirty = true;
}
