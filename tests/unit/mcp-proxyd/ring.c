/* SPDX-License-Identifier: ISC */
/* mcp-proxyd's modules, with peers played here; see the header. */
#include "unit/mcp-proxyd/ring.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* In the program it is defined beside main(), which is not linked here. */
struct proxy proxy_env;

static struct proxy *const p = &proxy_env;
static char sock[64];
static struct value_pool *pool;
/* The test's ends of the channels. */
struct chan *sup, *policy, *audit, *back[2];
/* The messages that peers received, as text, one per line. */
static char seen[65536];
char closed_why[256];
uint64_t last_call;
bool cancels_last;
static bool blocked; /* send_result() says so */

static void __attribute__((format(printf, 1, 2))) see(const char *fmt, ...)
{
	size_t n = strlen(seen);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(seen + n, sizeof(seen) - n, fmt, ap);
	va_end(ap);
}

/* Calls that were made and not yet credited. */
#define MADE 1024U
static struct {
	uint64_t id;
	uint16_t server;
	uint32_t bytes;
} made[MADE];

/* Credit a call, as policyd does when it hears of its end. */
static void
credit(uint64_t id)
{
	struct msg_CREDIT m = {.calls = 1};

	if (id == 0 || made[id % MADE].id != id)
		return;
	m.server = made[id % MADE].server;
	m.bytes = made[id % MADE].bytes;
	made[id % MADE].id = 0;
	(void)chan_send(policy, MSG_CREDIT, &m, -1);
}

static void
send_end(uint64_t id, const char *text, bool counted)
{
	const struct msg_ANSWER m = {
	    .id = id, .error = 1, .counted = counted, .text = span_str(text)};

	(void)chan_send(audit, MSG_ANSWER, &m, -1);
	credit(id);
}

static int
on_call(struct chan *c, const struct msg_CALL *m)
{
	const struct value *v;
	struct buf b;

	last_call = m->id;
	buf_init(&b, 8U << 20);
	value_pool_reset(pool);
	if ((v = value_decode(pool, m->args)) != NULL)
		(void)json_write(&b, v);
	see("CALL %u %.*s %u %.*s\n", m->server, (int)m->tool.len,
	    (const char *)m->tool.p, m->progress, b.len > 200 ? 3 : (int)b.len,
	    (const char *)buf_span(&b).p);
	buf_free(&b);
	made[m->id % MADE].server = m->server;
	made[m->id % MADE].bytes = (uint32_t)m->args.len;
	made[m->id % MADE].id = m->id;
	return 0;
}

static int
on_cancel(struct chan *c, const struct msg_CANCEL *m)
{
	see("CANCEL %s\n", m->id == last_call ? "last" : "older");
	if (!cancels_last)
		send_end(m->id, "cancelled", false);
	return 0;
}

static void
closed(struct chan *c, const char *why)
{
	snprintf(closed_why, sizeof(closed_why), "%s: %s",
	    role_name(chan_peer(c)), why == NULL ? "end" : why);
}

/* clang-format off */
static const struct chan_handler test_handlers[] = {
	HANDLER(CALL,	on_call),
	HANDLER(CANCEL,	on_cancel),
};
/* clang-format on */
static const struct chan_ops test_ops = {test_handlers, 2, closed};
static struct chan_ops proxy_ops;

/*
 * Make a pair: the proxy's end is registered as a peer, the test's is returned.
 */
static struct chan *
peer(enum role role, unsigned index, enum proto_phase phase)
{
	struct chan *theirs, *ours;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) == -1)
		err(1, "socketpair");
	theirs = chan_new(
	    &p->w.loop, fd[0], ROLE_PROXY, role, index, &proxy_ops, &p->w);
	ours =
	    chan_new(&p->w.loop, fd[1], role, ROLE_PROXY, 0, &test_ops, NULL);
	if (role == ROLE_SUP)
		p->w.sup = theirs;
	else
		p->w.peers[role][index] = theirs;
	chan_phase(theirs, phase);
	chan_phase(ours, phase);
	if (chan_open(theirs) == -1 || chan_open(ours) == -1)
		err(1, "chan_open");
	return ours;
}

void
turns(void)
{
	for (int i = 0; i < 64; i++) {
		if (loop_once(&p->w.loop, 0) == -1)
			err(1, "epoll_wait");
	}
}

int
connect_agent(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd;

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", sock);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == -1)
		err(1, "connect");
	turns();
	return fd;
}

void
put(int fd, const char *text)
{
	size_t len = strlen(text);
	ssize_t n;

	while (len != 0) {
		if ((n = write(fd, text, len)) == -1) {
			if (errno != EAGAIN)
				return;
			n = 0;
		}
		text += n;
		len -= (size_t)n;
		turns();
	}
	turns();
}

/* Returns the output so far, with "<end>" if the connection is closed. */
const char *
get(int fd)
{
	static char text[1 << 16];
	size_t len = 0;
	ssize_t n;

	turns();
	while ((n = read(fd, text + len, sizeof(text) - 16 - len)) > 0) {
		len += (size_t)n;
		turns();
	}
	text[len] = '\0';
	if (n == 0 || (n == -1 && errno != EAGAIN))
		strcat(text, "<end>");
	return text;
}

const char *
ask(int fd, const char *text)
{
	put(fd, text);
	return get(fd);
}

const char *
peers_saw(void)
{
	static char copy[sizeof(seen)];

	turns();
	memcpy(copy, seen, sizeof(seen));
	seen[0] = '\0';
	return copy;
}

void
send_result(struct chan *from, uint64_t id, bool error, const char *json)
{
	struct msg_RESULT m = {.id = id, .error = error, .blocked = blocked};
	struct buf b;

	buf_init(&b, 8U << 20);
	value_pool_reset(pool);
	if (value_encode(json_read(pool, span_str(json), NULL), &b) == -1)
		errx(1, "%s", json);
	m.tree = buf_span(&b);
	(void)chan_send(from, MSG_RESULT, &m, -1);
	credit(id);
	buf_free(&b);
	turns();
}

void
send_blocked(struct chan *from, uint64_t id, bool error, const char *json)
{
	blocked = true;
	send_result(from, id, error, json);
	blocked = false;
}

void
send_answer(uint64_t id, const char *text)
{
	send_end(id, text, false);
	turns();
}

void
send_counted(uint64_t id, const char *text)
{
	send_end(id, text, true);
	turns();
}

void
send_tools(const char *text, bool complete)
{
	const struct msg_TOOLS m = {
	    .complete = complete, .text = span_str(text)};

	(void)chan_send(policy, MSG_TOOLS, &m, -1);
	turns();
}

void
set_up(void)
{
	static const char *const names[] = {"fs", "fs__deep"};
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	const struct msg_LISTEN m = {0};
	char dir[] = "/tmp/test_mcp_proxy.XXXXXX";
	int fd;

	if (mkdtemp(dir) == NULL)
		err(1, "mkdtemp");
	snprintf(sock, sizeof(sock), "%s/s", dir);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", sock);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == -1 ||
	    listen(fd, 64) == -1)
		err(1, "listen");
	if ((pool = value_pool_new(32U << 20)) == NULL ||
	    loop_init(&p->w.loop, PROXY_TIMERS) == -1)
		err(1, "set_up");
	p->w.role = ROLE_PROXY;
	proxy_init(p);
	proxy_ops = (struct chan_ops){proxy_handlers, proxy_nhandlers, closed};
	sup = peer(ROLE_SUP, 0, PHASE_SETUP);
	policy = peer(ROLE_POLICY, 0, PHASE_RUN);
	audit = peer(ROLE_AUDIT, 0, PHASE_RUN);
	for (uint16_t i = 0; i < 2; i++) {
		const struct msg_SERVER s = {
		    .index = i, .name = span_str(names[i])};

		(void)chan_send(sup, MSG_SERVER, &s, -1);
		back[i] = peer(ROLE_BACK, i, PHASE_RUN);
	}
	(void)chan_send(sup, MSG_SERVER_VIEW,
	    &(const struct msg_SERVER_VIEW){
		.server = 0, .text = SPAN("/workspace and no network")},
	    -1);
	(void)chan_send(sup, MSG_LISTEN, &m, fd);
	turns();
	p->w.started = true;
	proxy_start(p);
}

void
tear_down(void)
{
	unlink(sock);
	*strrchr(sock, '/') = '\0';
	rmdir(sock);
}
