/* SPDX-License-Identifier: ISC */
/*
 * Runs gated between connections with the token and hostile ones: another token,
 * none, one that comes late or in pieces, and floods. argv[1]: gated.
 */
#include <sys/socket.h>

#include <netinet/in.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "unit/ipc/worker_rig.h"
#include "workers/gated/gated.h"

#define WAIT_MS 5000

static const char token[] = "AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJ-_0\n";

static struct {
	struct worker_rig worker;
	const char *program;
	uint16_t ports[2];
	unsigned opened;
	int fd; /* the last connection that was given up; -1: none */
	enum gate_way way;
	struct msg_GATE_REFUSED refused;
} rig;

static int
on_gate_open(struct chan *c, const struct msg_GATE_OPEN *m, int fd)
{
	(void)c;
	if (rig.fd != -1)
		close(rig.fd);
	rig.fd = fd;
	rig.way = (enum gate_way)m->way;
	rig.opened++;
	return 0;
}

static int
on_gate_refused(struct chan *c, const struct msg_GATE_REFUSED *m)
{
	(void)c;
	rig.refused = *m;
	return 0;
}

/* clang-format off */
static const struct chan_handler handlers[] = {
	HANDLER(HELLO,		worker_rig_hello),
	HANDLER(GATE_OPEN,	on_gate_open),
	HANDLER(GATE_REFUSED,	on_gate_refused),
};
/* clang-format on */

static const struct chan_ops ops = {
    .handlers = handlers,
    .nhandlers = nitems(handlers),
    .closed = worker_rig_closed,
};

/* Start gated with the ways CHECK and MITM. */
static void
start(void)
{
	static const struct msg_START start_msg;
	struct msg_GATE gate = {.token = span_of(token, GATE_TOKEN)};
	struct msg_GATE_LISTEN m;
	int fd;

	worker_rig_start(&rig.worker, rig.program, ROLE_GATE, &ops);
	rig.opened = 0;
	rig.fd = -1;
	rig.refused = (struct msg_GATE_REFUSED){.wrong = 0};
	if (chan_send(rig.worker.sup, MSG_GATE, &gate, -1) == -1)
		err(1, "start");
	for (unsigned i = 0; i < 2; i++) {
		fd = worker_rig_listen(&rig.ports[i]);
		if (fcntl(fd, F_SETFL, O_NONBLOCK) == -1 ||
		    listen(fd, 1024) == -1)
			err(1, "listener");
		m.way = i == 0 ? GATE_CHECK : GATE_MITM;
		if (chan_send(rig.worker.sup, MSG_GATE_LISTEN, &m, fd) == -1)
			err(1, "start");
	}
	if (chan_send(rig.worker.sup, MSG_START, &start_msg, -1) == -1)
		err(1, "start");
	chan_phase(rig.worker.sup, PHASE_RUN);
}

static void
stop(void)
{
	if (rig.fd != -1)
		close(rig.fd);
	worker_rig_stop(&rig.worker);
}

static void
say(int fd, const char *text, size_t len)
{
	if (send(fd, text, len, MSG_NOSIGNAL) != (ssize_t)len)
		err(1, "send");
}

/* Returns true if the other end closes it within the time, and says nothing. */
static bool
ends(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t until = clock_mono_us() + WAIT_MS * 1000;
	char c;

	while (poll(&p, 1, 0) == 0 && clock_mono_us() < until)
		worker_rig_turn(&rig.worker);
	return recv(fd, &c, 1, MSG_DONTWAIT) <= 0 && errno != EAGAIN;
}

static bool
counted(const uint64_t *what, uint64_t n)
{
	uint64_t until = clock_mono_us() + WAIT_MS * 1000;

	while (*what < n && !rig.worker.lost && clock_mono_us() < until)
		worker_rig_turn(&rig.worker);
	return *what >= n;
}

static void
test_token(void)
{
	char got[8];
	int fd;

	start();
	fd = worker_rig_connect(rig.ports[1]);
	say(fd, token, GATE_TOKEN);
	say(fd, "after", 5);
	ok(worker_rig_until(&rig.worker, &rig.opened, 1) &&
		rig.way == GATE_MITM,
	    "a connection with the token is given up, with its way");
	is_int(recv(rig.fd, got, sizeof(got), 0), 5,
	    "what follows the token has not been read");
	ok(memcmp(got, "after", 5) == 0, "and is what was sent");
	ok(send(rig.fd, "back", 4, MSG_NOSIGNAL) == 4 &&
		recv(fd, got, sizeof(got), MSG_WAITALL) != -1,
	    "and the other direction works");
	ok((fcntl(rig.fd, F_GETFL) & O_NONBLOCK) != 0, "it does not block");
	close(fd);
	/* As slowly as can be: one byte at a time. */
	fd = worker_rig_connect(rig.ports[0]);
	for (size_t i = 0; i < GATE_TOKEN; i++) {
		is_int(rig.opened, 1, "a part of the token is not enough");
		say(fd, token + i, 1);
		worker_rig_turn(&rig.worker);
	}
	ok(worker_rig_until(&rig.worker, &rig.opened, 2) &&
		rig.way == GATE_CHECK, "one byte at a time is the token, too");
	close(fd);
	stop();
}

static void
test_wrong(void)
{
	char other[GATE_TOKEN];
	uint64_t n = 0;
	int fd;

	start();
	for (size_t i = 0; i < GATE_TOKEN; i++) {
		memcpy(other, token, GATE_TOKEN);
		other[i] ^= 1;
		fd = worker_rig_connect(rig.ports[1]);
		say(fd, other, GATE_TOKEN);
		if (ends(fd))
			n++;
		close(fd);
	}
	is_int(n, GATE_TOKEN, "a token with one other bit is closed, silently");
	fd = worker_rig_connect(rig.ports[1]);
	say(fd, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n",
	    48);
	ok(ends(fd), "so is a browser");
	close(fd);
	fd = worker_rig_connect(rig.ports[1]);
	say(fd, token, GATE_TOKEN - 1);
	shutdown(fd, SHUT_WR);
	ok(ends(fd), "and a token that is cut");
	close(fd);
	is_int(rig.opened, 0, "none was given up");
	ok(rig.refused.wrong >= 1, "and the first was reported at once");
	stop();
}

static void
test_late(void)
{
	uint64_t began = clock_mono_us();
	int silent, cut;

	start();
	silent = worker_rig_connect(rig.ports[1]);
	cut = worker_rig_connect(rig.ports[1]);
	say(cut, token, 20);
	ok(ends(silent) && ends(cut), "one that is silent is closed");
	began = (clock_mono_us() - began) / 1000;
	ok(began >= GATED_PROOF_MS - 50 && began < GATED_PROOF_MS + 1500,
	    "after three seconds");
	ok(counted(&rig.refused.late, 1), "and reported");
	close(silent);
	close(cut);
	stop();
}

/* The token gets through a flood of connections that say nothing, or nonsense. */
static void
test_flood(void)
{
	static int silent[400];
	unsigned n = 0;
	int fd;

	start();
	for (unsigned i = 0; i < 10000; i++) {
		unsigned at = i % nitems(silent);

		if (i >= nitems(silent))
			close(silent[at]);
		silent[at] = worker_rig_connect(rig.ports[i % 2]);
		if (i % 3 == 0)
			say(silent[at], "nonsense", 8);
		if (i % 1000 != 500)
			continue;
		fd = worker_rig_connect(rig.ports[1]);
		say(fd, token, GATE_TOKEN);
		n++;
		if (!worker_rig_until(&rig.worker, &rig.opened, n))
			break;
		close(fd);
	}
	is_int(n, 10, "among 10,000 connections each with the token gets in");
	is_int(rig.opened, 10, "and no other");
	for (size_t i = 0; i < nitems(silent); i++)
		close(silent[i]);
	ok(!rig.worker.lost, "gated lives on");
	stop();
}

/* As many connections with the token as a container may have, at once. */
static void
test_many(void)
{
	static int fds[600];

	start();
	for (size_t i = 0; i < nitems(fds); i++) {
		fds[i] = worker_rig_connect(rig.ports[1]);
		say(fds[i], token, GATE_TOKEN);
	}
	ok(worker_rig_until(&rig.worker, &rig.opened, nitems(fds)),
	    "many with the token at once are all given up");
	for (size_t i = 0; i < nitems(fds); i++)
		close(fds[i]);
	stop();
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: test_gated GATED");
	rig.program = argv[1];
	test_token();
	test_wrong();
	test_late();
	test_flood();
	test_many();
	return tap_done();
}
