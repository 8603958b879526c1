/* SPDX-License-Identifier: ISC */
/*
 * The running dialerd, with its resolvers, between icsupervisor and keyds, all
 * played. argv[1]: dialerd.
 */
#include <sys/socket.h>
#include <sys/wait.h>

#include <err.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/confine/confine.h"
#include "tap.h"
#include "unit/ipc/worker_rig.h"

#define KEYS 5U
#define FEW 100U /* open files */

static const char *program;
static struct worker_rig rig;
static struct chan *keys[KEYS], *tunneld;
/* the last answer to a DIAL */
static unsigned nanswers;
static uint32_t answer_id;
static int answer_fd;
static char answer_text[257];
static unsigned answer_proxy;
/* the last TUNNEL */
static unsigned ntunnels;
static uint32_t tunnel_id;
static int tunnel_fd;
static char tunnel_host[254];
static unsigned tunnel_port, tunnel_quiet;

static int
on_tunnel(struct chan *c, const struct msg_TUNNEL *m, int fd)
{
	ntunnels++;
	tunnel_id = m->id;
	tunnel_fd = fd;
	tunnel_port = m->port;
	tunnel_quiet = m->quiet;
	return span_copy(m->host, tunnel_host, sizeof(tunnel_host));
}

static int
on_dialed(struct chan *c, const struct msg_DIALED *m, int fd)
{
	nanswers++;
	answer_id = m->id;
	answer_fd = fd;
	return span_copy(m->address, answer_text, sizeof(answer_text));
}

static int
on_fail(struct chan *c, const struct msg_DIAL_FAIL *m)
{
	nanswers++;
	answer_id = m->id;
	answer_proxy = m->proxy;
	answer_fd = -1;
	return span_copy(m->text, answer_text, sizeof(answer_text));
}

/* clang-format off */
static const struct chan_handler handlers[] = {
	HANDLER(HELLO,		worker_rig_hello),
	HANDLER(DIALED,		on_dialed),
	HANDLER(DIAL_FAIL,	on_fail),
	HANDLER(TUNNEL,		on_tunnel),
};
/* clang-format on */
static const struct chan_ops ops = {handlers, 4, worker_rig_closed};

static void
start(void)
{
	nanswers = ntunnels = 0;
	tunneld = NULL;
	worker_rig_start(&rig, program, ROLE_DIAL, &ops);
	for (unsigned i = 0; i < KEYS; i++)
		keys[i] = worker_rig_peer(&rig, ROLE_KEY, i);
}

static void
target(unsigned index, const char *host, uint16_t port, bool private_ok)
{
	struct msg_TARGET m = {.index = (uint16_t)index,
	    .host = span_str(host), .port = port, .private_ok = private_ok};

	if (chan_send(rig.sup, MSG_TARGET, &m, -1) == -1)
		err(1, "TARGET");
}

static void
go(void)
{
	struct msg_START m = {.proto_pad_ = 0};

	chan_send(rig.sup, MSG_START, &m, -1);
	chan_phase(rig.sup, PHASE_RUN);
	for (unsigned i = 0; i < KEYS; i++)
		chan_phase(keys[i], PHASE_RUN);
	if (tunneld != NULL)
		chan_phase(tunneld, PHASE_RUN);
}

static void
stop(void)
{
	chan_free(tunneld);
	for (unsigned i = 0; i < KEYS; i++)
		chan_free(keys[i]);
	worker_rig_stop(&rig);
	/* Its resolvers end when their sockets close. */
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static const char *avoid = "";

static void
dial(unsigned key, uint32_t id)
{
	struct msg_DIAL m = {.id = id, .avoid = span_str(avoid)};
	unsigned want = nanswers + 1;

	answer_fd = -1;
	answer_text[0] = '\0';
	chan_send(keys[key], MSG_DIAL, &m, -1);
	worker_rig_until(&rig, &nanswers, want);
}

/* Bind a port on which nobody listens. */
static int
bound(uint16_t *port)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sin);
	int fd;

	if ((fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1 ||
	    bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1 ||
	    getsockname(fd, (struct sockaddr *)&sin, &len) == -1)
		err(1, "port");
	*port = ntohs(sin.sin_port);
	return fd;
}

static void
test_dial(void)
{
	char want[64], lines[80];
	uint16_t port, closed;
	socklen_t len = sizeof(int);
	int fd, silent, on = 0;

	fd = worker_rig_listen(&port);
	silent = bound(&closed);
	start();
	ok((rig.flags & CONFINE_DUMPABLE0) != 0, "HELLO");
	target(0, "127.0.0.1", port, true);
	target(1, "127.0.0.1", port, false);
	target(2, "localhost", port, true);
	target(3, "localhost", port, false);
	target(4, "127.0.0.1", closed, true);
	go();
	dial(0, 1);
	snprintf(want, sizeof(want), "127.0.0.1:%u", port);
	is_str(answer_text, want, "an address that is allowed");
	ok(answer_fd != -1, "is connected");
	ok(getsockopt(answer_fd, IPPROTO_TCP, TCP_NODELAY, &on, &len) == 0 &&
	    on != 0, "without delay");
	ok((fcntl(answer_fd, F_GETFL) & O_NONBLOCK) != 0, "non-blocking");
	close(answer_fd);
	dial(1, 1);
	is_str(answer_text, "the name leads to a loopback address, which is "
	    "not allowed", "an address that is not");
	ok(answer_fd == -1, "is not connected");
	dial(2, 1);
	is_str(answer_text, want,
	    "a name, by the resolver; the family that does not answer is "
	    "passed over");
	close(answer_fd);
	dial(3, 1);
	is_str(answer_text, "the name is one of this machine, which is not "
	    "allowed", "a name that is not allowed");
	dial(4, 1);
	is_str(answer_text, "Connection refused", "nobody there");
	dial(0, 7);
	is_int(answer_id, 7, "ids may leave gaps");
	close(answer_fd);
	snprintf(lines, sizeof(lines), "27.0.0.1:%u\n127.0.0.1:%u0\n", port,
	    port);
	avoid = lines;
	dial(0, 8);
	is_str(answer_text, want, "addresses to avoid are others");
	close(answer_fd);
	snprintf(lines, sizeof(lines), "10.0.0.1:1\n127.0.0.1:%u\n", port);
	dial(0, 9);
	is_str(answer_text, "no other address", "or the only one there is");
	ok(answer_fd == -1, "which is not connected to again");
	avoid = "";
	dial(0, 7);
	ok(rig.lost, "but not come twice: dialerd ends");
	stop();
	close(silent);
	close(fd);
}

/*
 * Under a user's low limit of open files, fewer dials are tried at once. A
 * message with a descriptor that finds none free would end the session.
 */
static void
test_few_files(void)
{
	struct msg_DIAL m = {0};
	uint64_t end_at;
	uint16_t port;
	int full = bound(&port), taken;

	/* The kernel answers nobody else until the first one was accepted. */
	if (listen(full, 0) == -1)
		err(1, "listen");
	taken = worker_rig_connect(port);
	worker_rig_files = FEW;
	start();
	target(0, "127.0.0.1", port, true);
	go();
	for (m.id = 1; m.id <= 2 * FEW; m.id++)
		chan_send(keys[0], MSG_DIAL, &m, -1);
	end_at = clock_mono_us() + 500000;
	while (nanswers == 0 && !rig.lost && clock_mono_us() < end_at)
		worker_rig_turn(&rig);
	is_int(nanswers, 0, "few files: all wait (%s)", answer_text);
	ok(!rig.lost, "few files: and dialerd lives");
	stop();
	worker_rig_files = 0;
	close(taken);
	close(full);
}

static void
test_no_target(void)
{
	start();
	target(0, "127.0.0.1", 9, true);
	go();
	dial(1, 1);
	ok(rig.lost, "a keyd without a target is a violation");
	stop();
	start();
	target(0, "127.0.0.1", 9, true);
	target(0, "127.0.0.1", 10, true);
	go();
	ok(worker_rig_until_true(&rig, &rig.lost), "so is a target twice");
	stop();
}

/*
 * Returns the first resolver that dialerd forked, or 0. It is a sibling of
 * dialerd, and so a child of this process.
 */
static pid_t
resolver(void)
{
	char path[64], text[256] = "", *p = text, *end;
	pid_t pid;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", getpid(),
	    getpid());
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	for (; (pid = (pid_t)strtol(p, &end, 10)) > 0; p = end)
		if (pid != rig.pid)
			return pid;
	return 0;
}

/* Returns true if the child has ended, even if stop() has not reaped it yet. */
static bool
ended(pid_t child)
{
	char path[64], text[64] = "";
	const char *state;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", child);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return true;
	if (read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = '\0';
	close(fd);
	state = strrchr(text, ')');
	return state == NULL || state[1] == '\0' || state[2] == 'Z';
}

static void
test_resolver(void)
{
	uint64_t end_at;
	uint16_t port;
	pid_t child;
	int fd = worker_rig_listen(&port);

	start();
	target(0, "localhost", port, true);
	target(1, "127.0.0.1", port, true);
	go();
	dial(0, 1);
	ok(answer_fd != -1, "a name");
	close(answer_fd);
	if ((child = resolver()) == 0) {
		ok(true, "# SKIP this kernel does not list children");
	} else {
		kill(child, SIGKILL);
		ok(worker_rig_until_true(&rig, &rig.lost),
		    "the end of its resolver is the end of dialerd");
	}
	stop();
	start();
	target(1, "127.0.0.1", port, true);
	child = resolver();
	go();
	dial(1, 1);
	close(answer_fd);
	end_at = clock_mono_us() + 30000000;
	while (!ended(child) && clock_mono_us() < end_at)
		worker_rig_turn(&rig);
	ok(ended(child), "where no name is configured, it ends");
	stop();
	close(fd);
}

/* Configure a proxy on this port, with a played tunneld. */
static void
via(uint16_t port, const char *direct)
{
	struct msg_VIA_PROXY m = {.host = SPAN("127.0.0.1"),
	    .port = port, .direct = span_str(direct)};

	tunneld = worker_rig_peer(&rig, ROLE_TUNNEL, 0);
	chan_send(rig.sup, MSG_VIA_PROXY, &m, -1);
}

static void
dial_through(unsigned key, uint32_t id)
{
	struct msg_DIAL m = {.id = id};
	unsigned want = ntunnels + 1;

	answer_text[0] = '\0';
	chan_send(keys[key], MSG_DIAL, &m, -1);
	worker_rig_until(&rig, &ntunnels, want);
}

static void
test_proxy_way(uint16_t port)
{
	struct msg_TUNNEL_FAIL no = {.proxy = PROTO_PROXY_DENIED,
	    .text = SPAN("the proxy forbids this host (403)")};
	struct msg_TUNNELED yes;
	struct sockaddr_in sin;
	socklen_t len = sizeof(sin);

	dial_through(0, 1);
	ok(strcmp(tunnel_host, "api.example") == 0 && tunnel_port == 443 &&
	    tunnel_quiet == 1, "a name nobody resolves is tunneld's to ask");
	ok(getpeername(tunnel_fd, (struct sockaddr *)&sin, &len) == 0 &&
	    ntohs(sin.sin_port) == port, "over a connection to the proxy");
	is_int(nanswers, 0, "keyd knows nothing of it yet");
	yes = (struct msg_TUNNELED){.id = tunnel_id};
	chan_send(tunneld, MSG_TUNNELED, &yes, tunnel_fd);
	worker_rig_until(&rig, &nanswers, 1);
	ok(answer_id == 1 && answer_fd != -1, "it comes back and goes to keyd");
	close(answer_fd);
	chan_send(tunneld, MSG_TUNNELED, &yes,
	    open("/dev/null", O_RDONLY | O_CLOEXEC));
	dial_through(0, 2);
	is_int(nanswers, 1, "a second one of the same is nobody's");
	close(tunnel_fd);
	no.id = tunnel_id;
	chan_send(tunneld, MSG_TUNNEL_FAIL, &no, -1);
	worker_rig_until(&rig, &nanswers, 2);
	ok(answer_id == 2 && answer_proxy == PROTO_PROXY_DENIED &&
	    strcmp(answer_text, "the proxy forbids this host (403)") == 0,
	    "a refusal of the proxy is passed on: %s", answer_text);
}

static void
test_proxy(void)
{
	struct msg_TUNNELED never = {.id = 1};
	uint16_t port, other;
	int fd = worker_rig_listen(&port), far = worker_rig_listen(&other);

	start();
	via(port, "direct.example\n192.0.2.0/24\n");
	target(0, "api.example", 443, false);
	target(1, "127.0.0.1", other, true);
	target(2, "10.1.2.3", 443, false);
	target(3, "metadata.google.internal", 443, false);
	target(4, "192.0.2.1", 443, true);
	go();
	test_proxy_way(port);
	dial(1, 1);
	ok(answer_fd != -1 && ntunnels == 2, "loopback goes past the proxy");
	close(answer_fd);
	dial(2, 1);
	is_str(answer_text, "the host is a private address, which is not "
	    "allowed", "an address is screened as ever");
	dial(3, 1);
	is_str(answer_text, "the host is a metadata service, which is not "
	    "allowed", "so is a name of that kind");
	dial(4, 1);
	is_str(answer_text, "the name leads to a documentation address, "
	    "which is not allowed", "a row of noProxy goes past it");
	is_int(ntunnels, 2, "none of them was asked for");
	close(fd);
	dial(0, 3);
	ok(answer_proxy == PROTO_PROXY_LOST &&
	    strstr(answer_text, "no connection to the proxy 127.0.0.1:") ==
	    answer_text, "a proxy that is not there is named: %s", answer_text);
	stop();
	start();
	via(port, "");
	go();
	chan_send(tunneld, MSG_TUNNELED, &never,
	    open("/dev/null", O_RDONLY | O_CLOEXEC));
	ok(worker_rig_until_true(&rig, &rig.lost),
	    "a tunnel that was not asked for is a violation");
	stop();
	start();
	via(port, "direct.example\n10.0.0.0/99\n");
	ok(worker_rig_until_true(&rig, &rig.lost), "so is a row that is none");
	stop();
	close(far);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 1;
	program = argv[1];
	test_dial();
	test_few_files();
	test_no_target();
	test_resolver();
	test_proxy();
	return tap_done();
}
