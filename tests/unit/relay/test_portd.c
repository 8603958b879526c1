/* SPDX-License-Identifier: ISC */
/*
 * Runs portd between browsers and connections of a sandbox, honest and hostile
 * ones: pairing, limits, slow readers, and users who may not connect. argv[1]:
 * portd.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <netinet/in.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/net/peer_uid.h"
#include "common/publish_stream.h"
#include "tap.h"
#include "unit/ipc/worker_rig.h"
#include "workers/portd/portd.h"

#define WAIT_MS 5000

static struct {
	struct worker_rig worker;
	const char *program;
	struct chan *audit;
	int box; /* the listener of the sandbox's connections */
	uint16_t ports[2];
	struct msg_PORT_USE use[2]; /* the last report of each port */
} rig;

static int
on_port_use(struct chan *c, const struct msg_PORT_USE *m)
{
	if (m->index > 1)
		return -1;
	rig.use[m->index] = *m;
	return 0;
}

/* clang-format off */
static const struct chan_handler handlers[] = {
	HANDLER(HELLO,		worker_rig_hello),
	HANDLER(PORT_USE,	on_port_use),
};
/* clang-format on */

static const struct chan_ops ops = {
    .handlers = handlers,
    .nhandlers = nitems(handlers),
    .closed = worker_rig_closed,
};

static int
unix_listener(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1 ||
	    bind(fd, (struct sockaddr *)&sun, sizeof(sun.sun_family)) == -1 ||
	    listen(fd, 128) == -1)
		err(1, "listener");
	return fd;
}

/* Start portd with two ports, for the user `uid`. */
static void
start(uint32_t uid)
{
	static const struct msg_LISTEN listen_msg;
	static const struct msg_START start_msg;
	struct msg_PEER_UID peer = {.uid = uid};
	struct msg_PUBLISH m = {.address = INADDR_LOOPBACK};
	int fd;

	worker_rig_start(&rig.worker, rig.program, ROLE_PORT, &ops);
	memset(rig.use, 0, sizeof(rig.use));
	rig.audit = worker_rig_peer(&rig.worker, ROLE_AUDIT, 0);
	fd = unix_listener();
	rig.box = dup(fd);
	if (chan_send(rig.worker.sup, MSG_LISTEN, &listen_msg, fd) == -1 ||
	    chan_send(rig.worker.sup, MSG_PEER_UID, &peer, peer_uid_open()) ==
		-1)
		err(1, "start");
	for (uint8_t i = 0; i < 2; i++) {
		fd = worker_rig_listen(&rig.ports[i]);
		if (fcntl(fd, F_SETFL, O_NONBLOCK) == -1 ||
		    listen(fd, 1024) == -1)
			err(1, "listener");
		m.index = i;
		m.port = (uint16_t)(3000 + i);
		m.host_port = rig.ports[i];
		if (chan_send(rig.worker.sup, MSG_PUBLISH, &m, fd) == -1)
			err(1, "start");
	}
	if (chan_send(rig.worker.sup, MSG_START, &start_msg, -1) == -1)
		err(1, "start");
	chan_phase(rig.worker.sup, PHASE_RUN);
	chan_phase(rig.audit, PHASE_RUN);
}

static void
stop(void)
{
	chan_free(rig.audit);
	close(rig.box);
	worker_rig_stop(&rig.worker);
}

/* Connect as ic-bridge does. */
static int
stream(void)
{
	struct sockaddr_un sun;
	socklen_t len = sizeof(sun);
	int fd;

	if (getsockname(rig.box, (struct sockaddr *)&sun, &len) == -1 ||
	    (fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1 ||
	    connect(fd, (struct sockaddr *)&sun, len) == -1)
		err(1, "publish.sock");
	return fd;
}

/* Returns a byte that comes within the time, 256 at the end, or -1. */
static int
byte(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t until = clock_mono_us() + WAIT_MS * 1000;
	uint8_t c;

	while (poll(&p, 1, 0) == 0 && clock_mono_us() < until)
		worker_rig_turn(&rig.worker);
	switch (recv(fd, &c, 1, MSG_DONTWAIT)) {
	case 1:
		return c;
	case 0:
		return 256;
	default:
		return errno == ECONNRESET ? 256 : -1;
	}
}

static void
say(int fd, const char *text)
{
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text))
		err(1, "send");
}

static bool
hears(int fd, const char *text)
{
	for (; *text != '\0'; text++)
		if (byte(fd) != *text)
			return false;
	return true;
}

/* Answer on the connection that was asked for a port. */
static void
answer(int fd, uint8_t c)
{
	if (send(fd, &c, 1, MSG_NOSIGNAL) != 1)
		err(1, "answer");
}

/* Wait until a figure of the first port has this value. */
static bool
counted(const uint64_t *what, uint64_t n)
{
	uint64_t until = clock_mono_us() + WAIT_MS * 1000;

	while (*what != n && !rig.worker.lost && clock_mono_us() < until)
		worker_rig_turn(&rig.worker);
	return *what == n;
}

static void
test_pairs(void)
{
	int browser, second, box, again;

	start(geteuid());
	box = stream();
	again = stream();
	browser = worker_rig_connect(rig.ports[1]);
	say(browser, "GET /");
	is_int(byte(box), 1, "an idle connection is asked for the second port");
	answer(box, PUBLISH_YES);
	ok(hears(box, "GET /"), "then the browser's bytes come");
	say(box, "page");
	ok(hears(browser, "page"), "and go back");
	shutdown(browser, SHUT_WR);
	is_int(byte(box), 256, "half of it is closed");
	say(box, "rest");
	ok(hears(browser, "rest"), "and the other half goes on");
	close(box);
	is_int(byte(browser), 256, "up to its end");
	ok(counted(&rig.use[1].connections, 1), "which was reported");
	second = worker_rig_connect(rig.ports[0]);
	is_int(byte(again), 0, "the next one is asked for the first port");
	answer(again, PUBLISH_NO);
	is_int(byte(second), 256, "nothing listens there: it is closed");
	ok(counted(&rig.use[0].silent, 1), "and counted");
	close(browser);
	close(second);
	close(again);
	stop();
}

/* The connections that the sandbox may make, and how it may misuse them. */
static void
test_sandbox(void)
{
	int idle[PORTD_MAX_IDLE], extra, browser;

	start(geteuid());
	for (size_t i = 0; i < PORTD_MAX_IDLE; i++)
		idle[i] = stream();
	extra = stream();
	is_int(byte(extra), 256, "a ninth idle connection is closed");
	say(idle[0], "x");
	is_int(byte(idle[0]), 256, "and one that speaks before it is asked");
	close(idle[1]);
	for (unsigned i = 0; i < 5000; i++)
		close(stream());
	browser = worker_rig_connect(rig.ports[0]);
	is_int(byte(idle[2]), 0,
	    "after 5,000 connections that came and went an idle one is asked");
	say(idle[2], "y");
	is_int(byte(browser), 256, "an answer that is none ends it");
	ok(counted(&rig.use[0].silent, 1), "as if nothing listened");
	ok(!rig.worker.lost, "portd lives");
	close(browser);
	close(extra);
	close(idle[0]);
	for (size_t i = 2; i < PORTD_MAX_IDLE; i++)
		close(idle[i]);
	stop();
}

/* One browser reads nothing, and the sandbox sends without end. */
static void
test_slow(void)
{
	static char much[65536];
	int slow, box, other, otherbox;
	size_t total = 0, limit = (size_t)64 << 20;
	ssize_t n;

	start(geteuid());
	box = stream();
	slow = worker_rig_connect(rig.ports[0]);
	is_int(byte(box), 0, "a browser that will not read");
	answer(box, PUBLISH_YES);
	/* Until it has taken nothing for a while. */
	for (unsigned still = 0; still < 20 && total < limit;) {
		n = send(box, much, sizeof(much), MSG_NOSIGNAL | MSG_DONTWAIT);
		still = n > 0 ? 0 : still + 1;
		total += n > 0 ? (size_t)n : 0;
		worker_rig_turn(&rig.worker);
	}
	ok(total < limit, "what waits for it is bounded");
	otherbox = stream();
	other = worker_rig_connect(rig.ports[0]);
	is_int(byte(otherbox), 0, "another browser is served meanwhile");
	answer(otherbox, PUBLISH_YES);
	say(otherbox, "here");
	ok(hears(other, "here"), "with its page");
	close(slow);
	close(other);
	close(box);
	close(otherbox);
	stop();
}

/* More browsers than may be served at once. */
static void
test_crowd(void)
{
	int browsers[PORTD_MAX_OPEN + 1], boxes[PORTD_MAX_OPEN + 1], more[400];
	unsigned over = 0;

	start(geteuid());
	for (size_t i = 0; i < PORTD_MAX_OPEN; i++) {
		boxes[i] = stream();
		browsers[i] = worker_rig_connect(rig.ports[0]);
		if (byte(boxes[i]) != 0)
			errx(1, "connection %zu", i);
		answer(boxes[i], PUBLISH_YES);
	}
	boxes[PORTD_MAX_OPEN] = stream();
	browsers[PORTD_MAX_OPEN] = worker_rig_connect(rig.ports[0]);
	for (size_t i = 0; i < nitems(more); i++)
		more[i] = worker_rig_connect(rig.ports[1]);
	/* The last one to come is one of those. */
	is_int(byte(more[nitems(more) - 1]), 256, "the last one is closed");
	more[nitems(more) - 1] =
	    (close(more[nitems(more) - 1]), worker_rig_connect(rig.ports[1]));
	(void)byte(more[nitems(more) - 1]);
	for (size_t i = 0; i < nitems(more); i++) {
		struct pollfd p = {.fd = more[i], .events = POLLIN};

		over += poll(&p, 1, 0) == 1;
	}
	/* The one of the first port waits, too. */
	is_int(over + 1 + PORTD_MAX_WAIT - 1, nitems(more) + 1,
	    "192 wait, and all others are closed");
	close(browsers[0]);
	is_int(byte(boxes[0]), 256, "one of the 64 ends");
	close(boxes[0]);
	is_int(byte(boxes[PORTD_MAX_OPEN]), 0,
	    "and the one that waits longest takes its place");
	for (size_t i = 0; i < nitems(more); i++)
		close(more[i]);
	for (size_t i = 1; i <= PORTD_MAX_OPEN; i++) {
		close(browsers[i]);
		close(boxes[i]);
	}
	ok(!rig.worker.lost, "portd lives");
	stop();
}

/* The kernel says that the connection is ours, and another user is expected. */
static void
test_stranger(void)
{
	int browser, box;

	start(geteuid() + 1);
	box = stream();
	browser = worker_rig_connect(rig.ports[0]);
	is_int(byte(browser), 256, "another user's connection is closed");
	ok(counted(&rig.use[0].strangers, 1), "and counted");
	for (unsigned i = 0; i < 2000; i++)
		close(worker_rig_connect(rig.ports[0]));
	browser = (close(browser), worker_rig_connect(rig.ports[1]));
	is_int(byte(browser), 256, "and so are thousands of them");
	is_int(recv(box, &(char){0}, 1, MSG_DONTWAIT), -1,
	    "the sandbox hears nothing of it");
	is_int(rig.use[0].connections, 0, "none was copied");
	close(browser);
	close(box);
	stop();
}

/* A connection whose other end has no owner any more. */
static void
test_gone(void)
{
	struct sockaddr_in at, from;
	socklen_t len = sizeof(at);
	uint16_t port;
	uint32_t uid = 1;
	int listener = worker_rig_listen(&port), diag = peer_uid_open(), up, in;

	up = worker_rig_connect(port);
	if (getsockname(up, (struct sockaddr *)&from, &len) == -1 ||
	    getpeername(up, (struct sockaddr *)&at, &len) == -1 ||
	    (in = accept(listener, NULL, NULL)) == -1)
		err(1, "connection");
	is_int(peer_uid(diag, &from, &at, &uid), 0, "the kernel knows the peer");
	is_int(uid, geteuid(), "and its user");
	at.sin_port = htons((uint16_t)(port ^ 1));
	is_int(peer_uid(diag, &from, &at, &uid), -1,
	    "a listener is no answer for a connection");
	at.sin_port = htons(port);
	close(up);
	is_int(peer_uid(diag, &from, &at, &uid), -1,
	    "nor is a socket that nobody has open");
	close(in);
	close(listener);
	close(diag);
}

static void
test_gone6(void)
{
	struct sockaddr_in6 at = {.sin6_family = AF_INET6,
	    .sin6_addr = IN6ADDR_LOOPBACK_INIT}, from;
	int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), up;
	int diag = peer_uid_open();
	socklen_t len = sizeof(at);
	uint32_t uid = 1;

	if (listener == -1 ||
	    bind(listener, (struct sockaddr *)&at, sizeof(at)) == -1) {
		ok(true, "# SKIP no IPv6 here");
		return;
	}
	up = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listen(listener, 1) == -1 ||
	    getsockname(listener, (struct sockaddr *)&at, &len) == -1 ||
	    connect(up, (struct sockaddr *)&at, len) == -1 ||
	    getsockname(up, (struct sockaddr *)&from, &len) == -1)
		err(1, "IPv6 connection");
	is_int(peer_uid6(diag, &from, &at, &uid), 0, "IPv6: the peer is known");
	is_int(uid, geteuid(), "IPv6: and its user");
	from.sin6_addr.s6_addr[15] = 2;
	is_int(peer_uid6(diag, &from, &at, &uid), -1,
	    "IPv6: not from another address");
	from.sin6_addr.s6_addr[15] = 1;
	close(up);
	is_int(peer_uid6(diag, &from, &at, &uid), -1,
	    "IPv6: nor that of a socket that nobody has open");
	close(listener);
	close(diag);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		errx(1, "usage: test_portd PROGRAM");
	rig.program = argv[1];
	test_gone();
	test_gone6();
	test_pairs();
	test_sandbox();
	test_slow();
	test_crowd();
	test_stranger();
	return tap_done();
}
