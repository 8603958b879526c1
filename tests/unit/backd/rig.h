/* SPDX-License-Identifier: ISC */
/*
 * The modules of mcp-backd with mcp-proxyd, policyd and auditd played here, in
 * one loop: what they are sent is text in `seen`. Included by each test, which
 * is one program.
 */
#ifndef MCP_BACKD_RIG_H
#define MCP_BACKD_RIG_H

#include "common/ipc/wire.h"
#include "mcp-proxyd/backd/backd.h"
#include "tap.h"

#include <sys/socket.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* In the program it is defined beside main(), which is not linked here. */
struct backd backd_env;

static struct backd *const b = &backd_env;
static struct value_pool *pool;
static struct chan *ours[3];
static int server_out = -1, server_err = -1;
static bool deaf; /* the next mcp-proxyd reads nothing */
static char seen[65536], closed_why[256];

static void __attribute__((format(printf, 1, 2))) see(const char *fmt, ...)
{
	size_t n = strlen(seen);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(seen + n, sizeof(seen) - n, fmt, ap);
	va_end(ap);
}

#define S(s) (int)(s).len, (const char *)(s).p

static void
see_tree(struct span wire)
{
	const struct value *v;
	struct buf out;

	buf_init(&out, 8U << 20);
	value_pool_reset(pool);
	if ((v = value_decode(pool, wire)) != NULL)
		(void)json_write(&out, v);
	see("%.*s\n", out.len > 300 ? 3 : (int)out.len,
	    (const char *)buf_span(&out).p);
	buf_free(&out);
}

static int
on_result(struct chan *c, const struct msg_RESULT *m)
{
	see("RESULT %d %d %s", (int)m->id, m->error,
	    m->blocked ? "blocked " : "");
	see_tree(m->tree);
	return 0;
}

static int
on_done(struct chan *c, const struct msg_DONE *m)
{
	see("DONE %d %d%s\n", (int)m->id, m->status,
	    m->blocked ? " blocked" : "");
	return 0;
}

static int
on_dones(struct chan *c, const struct msg_DONES *m)
{
	union proto_any done;

	for (size_t i = 0; i < m->each.len; i += PROTO_DONE_SIZE) {
		if (wire_decode(proto_find(MSG_DONE), m->each.p + i,
			PROTO_DONE_SIZE, (struct span){NULL, 0}, &done) == -1)
			return -1;
		(void)on_done(c, &done.DONE);
	}
	return 0;
}

static int
on_progress(struct chan *c, const struct msg_PROGRESS *m)
{
	see("PROGRESS %d %.*s/%.*s %.*s\n", (int)m->id, S(m->progress),
	    S(m->total), S(m->message));
	return 0;
}

static int
on_init_result(struct chan *c, const struct msg_INIT_RESULT *m)
{
	see("INIT %d %d %.*s %.*s\n", m->good, m->tools, S(m->version),
	    S(m->text));
	return 0;
}

static int
on_discovered(struct chan *c, const struct msg_DISCOVERED *m)
{
	see("DISCOVERED %d %d %d\n", m->how, m->tools, m->listen);
	return 0;
}

static int
on_tools_page(struct chan *c, const struct msg_TOOLS_PAGE *m)
{
	see("PAGE %d %d %.*s ", (int)m->seq, m->good, S(m->cursor));
	see_tree(m->tree);
	return 0;
}

static int
on_remotes(struct chan *c, const struct msg_REMOTES *m)
{
	see("REMOTES %d %d ", (int)m->seq, m->good);
	for (size_t i = 0; i < m->urls.len; i++)
		see("%c", m->urls.p[i] == '\n' ? '|' : m->urls.p[i]);
	see(" %.*s\n", S(m->text));
	return 0;
}

static int
on_list_changed(struct chan *c, const struct msg_LIST_CHANGED *m)
{
	see("CHANGED\n");
	return 0;
}

static int
on_server_request(struct chan *c, const struct msg_SERVER_REQUEST *m)
{
	see("ASKS %d %.*s %.*s\n", m->string, S(m->rid), S(m->method));
	return 0;
}

/* The tree is 0 bytes for parameters that are too large. */
static int
on_asked(struct chan *c, const struct msg_ASKED *m)
{
	uint64_t last = 0;

	for (size_t i = 0; i + sizeof(last) <= m->done.len; i += sizeof(last))
		if (memcmp(m->done.p + i, &(uint64_t){77}, sizeof(last)) == 0)
			last = 77;
	see("ASKED %d of %d %d %.*s, %d bytes%s\n", m->kind, (int)m->call,
	    m->string, S(m->rid), (int)m->tree.len,
	    last != 0 ? ", after 77" : "");
	return 0;
}

static int
on_updated(struct chan *c, const struct msg_UPDATED *m)
{
	see("UPDATED %.*s\n", S(m->uri));
	return 0;
}

static int
on_gone(struct chan *c, const struct msg_GONE *m)
{
	see("GONE to %s: %.*s\n", c == ours[1] ? "policyd" : "auditd",
	    S(m->text));
	return 0;
}

static void
closed(struct chan *c, const char *why)
{
	snprintf(closed_why, sizeof(closed_why), "%s: %s",
	    role_name(chan_peer(c)), why == NULL ? "end" : why);
}

/* clang-format off */
static const struct chan_handler handlers[] = {
	HANDLER(RESULT,			on_result),
	HANDLER(DONE,			on_done),
	HANDLER(DONES,			on_dones),
	HANDLER(PROGRESS,		on_progress),
	HANDLER(INIT_RESULT,		on_init_result),
	HANDLER(TOOLS_PAGE,		on_tools_page),
	HANDLER(REMOTES,		on_remotes),
	HANDLER(LIST_CHANGED,		on_list_changed),
	HANDLER(SERVER_REQUEST,		on_server_request),
	HANDLER(DISCOVERED,		on_discovered),
	HANDLER(ASKED,			on_asked),
	HANDLER(UPDATED,		on_updated),
	HANDLER(GONE,			on_gone),
};
/* clang-format on */
static const struct chan_ops test_ops = {handlers, nitems(handlers), closed};

/* As the worker's frame does. */
static void
behind(struct chan *c, bool is)
{
	b->w.nbehind += is ? 1 : -1U;
	if (b->w.nbehind == 0)
		backd_watch(b);
}

static struct chan_handler backd_takes[1];
static const struct chan_ops none = {
    backd_takes, 1, .closed = closed, .behind = behind};

static void
turns(void)
{
	for (int i = 0; i < 24; i++) {
		/* Send what the timer would send; nothing here waits for it. */
		if (i == 12)
			server_done(b);
		if (loop_once(&b->w.loop, 0) == -1)
			err(1, "epoll_wait");
	}
}

/* Set up a new mcp-backd with a new server. */
static void
set_up(void)
{
	static const enum role roles[] = {ROLE_PROXY, ROLE_POLICY, ROLE_AUDIT};
	int fd[2], out[2], errs[2];

	memset(b, 0, sizeof(*b));
	seen[0] = '\0';
	if (loop_init(&b->w.loop, BACKD_TIMERS) == -1)
		err(1, "loop_init");
	b->w.role = ROLE_BACK;
	backd_init(b);
	b->sandboxed = true;
	for (size_t i = 0; i < backd_nhandlers; i++)
		if (backd_handlers[i].type == MSG_UNASKED)
			backd_takes[0] = backd_handlers[i];
	for (size_t i = 0; i < 3; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) ==
		    -1)
			err(1, "socketpair");
		b->w.peers[roles[i]][0] = chan_new(
		    &b->w.loop, fd[0], ROLE_BACK, roles[i], 0, &none, &b->w);
		ours[i] = chan_new(
		    &b->w.loop, fd[1], roles[i], ROLE_BACK, 0, &test_ops, NULL);
		chan_phase(b->w.peers[roles[i]][0], PHASE_RUN);
		chan_phase(ours[i], PHASE_RUN);
		if (chan_open(b->w.peers[roles[i]][0]) == -1 ||
		    (!(deaf && i == 0) && chan_open(ours[i]) == -1))
			err(1, "chan_open");
	}
	if (pipe2(out, O_CLOEXEC) == -1 || pipe2(errs, O_CLOEXEC) == -1)
		err(1, "pipe2");
	server_out = out[1];
	server_err = errs[1];
	b->fd[0] = out[0];
	b->fd[1] = errs[0];
	backd_start(b, 0);
	backd_start(b, 1);
}

static void
tear_down(void)
{
	static const enum role roles[] = {ROLE_PROXY, ROLE_POLICY, ROLE_AUDIT};

	for (size_t i = 0; i < 3; i++) {
		chan_free(b->w.peers[roles[i]][0]);
		chan_free(ours[i]);
	}
	if (server_out != -1)
		close(server_out);
	close(server_err);
	for (size_t i = 0; i < 2; i++) {
		loop_del(&b->w.loop, &b->io[i]);
		if (b->fd[i] != -1)
			close(b->fd[i]);
	}
	mcp_reader_free(&b->out);
	buf_free(&b->tree);
	value_pool_free(b->pool);
	loop_free(&b->w.loop);
}

#endif
