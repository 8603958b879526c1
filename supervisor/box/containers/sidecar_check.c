/* SPDX-License-Identifier: ISC */
/*
 * The check from inside, before anything of the agent exists: the sidecar has
 * to reach each of our listeners, and nothing else: no port of the same address
 * that is not open, and no listener of ours at another address of this machine,
 * or, where there is no other one, no address of documentation. It also says
 * where its default routes lead. The connection on which it answers stays, and
 * the sidecar ends with it.
 */
#include "box/containers/sidecar.h"

#include <sys/socket.h>

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "box/containers/engine.h"
#include "box/containers/gate.h"
#include "box/sandbox_log.h"
#include "common/gate_ways.h"
#include "core/sup.h"

#define CHECK_MS 20000U
/* 203.0.113.1, which is for documents. */
#define CHECK_NOWHERE 0xcb007101U

struct
try {
	uint32_t address;
	uint16_t port;
	bool ours; /* it must be reached */
};

static struct {
	struct try tries[GATE_MAX_TRIES];
	unsigned n;
	int closed, decoy; /* sockets; -1: none */
	struct loop_io io;
	struct loop_timer late;
	uint8_t said[GATE_ANSWER_SIZE(GATE_MAX_TRIES)];
	size_t len;
	uint32_t dead; /* the only address to which a default route may lead */
	bool passed;
	void (*then)(void);
} check_env = {.closed = -1, .decoy = -1, .io = LOOP_IO_INIT};

static void
check_fail(const char *why)
{
	loop_timer_clear(&sup.loop, &check_env.late);
	if (sup.ending)
		return;
	/* It may have said why. */
	sandbox_log_read();
	sup_warn("the network of the sandbox's sidecar: %s", why);
	end_request(SUP_EXIT_OS, NULL, "the network of the sidecar: %s", why);
}

static void
check_late(struct loop_timer *t)
{
	(void)t;
	check_fail(
	    "it has not reached this machine within 20 s: the machine may be "
	    "too busy, or a firewall be in the way of connections from "
	    "Docker's "
	    "networks");
}

static void
check_add(uint32_t address, uint16_t port, bool ours)
{
	if (check_env.n < GATE_MAX_TRIES && port != 0)
		check_env.tries[check_env.n++] =
		    (struct try){address, port, ours};
}

/* Returns a socket at any port of the address, or -1. */
static int
check_bind(uint32_t address, bool listens)
{
	struct sockaddr_in in = {
	    .sin_family = AF_INET, .sin_addr = {.s_addr = htonl(address)}};
	socklen_t len = sizeof(in);
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return -1;
	if (bind(fd, (const struct sockaddr *)&in, sizeof(in)) == -1 ||
	    (listens && listen(fd, 1) == -1) ||
	    getsockname(fd, (struct sockaddr *)&in, &len) == -1) {
		close(fd);
		return -1;
	}
	check_add(address, ntohs(in.sin_port), false);
	return fd;
}

/* Returns another IPv4 address of this machine, in host byte order, or 0. */
static uint32_t
check_other(uint32_t gateway)
{
	struct ifaddrs *list, *i;
	uint32_t found = 0, a;

	if (getifaddrs(&list) == -1)
		return 0;
	for (i = list; i != NULL && found == 0; i = i->ifa_next) {
		if (i->ifa_addr == NULL || i->ifa_addr->sa_family != AF_INET ||
		    (i->ifa_flags & IFF_LOOPBACK) != 0 ||
		    (i->ifa_flags & IFF_UP) == 0)
			continue;
		a = ntohl(((struct sockaddr_in *)(void *)i->ifa_addr)
			      ->sin_addr.s_addr);
		if (a != gateway)
			found = a;
	}
	freeifaddrs(list);
	return found;
}

int
sidecar_check_begin(
    uint32_t gateway, uint32_t dead, uint32_t address, struct fault *fault)
{
	uint32_t other = check_other(gateway);

	check_env.dead = dead;
	/* An address of loopback has no meaning in the sidecar. */
	for (unsigned i = 0; i < GATE_WAYS && address == gateway; i++)
		check_add(address, gate_port((enum gate_way)i), true);
	check_env.closed =
	    check_bind(address == gateway ? gateway : INADDR_LOOPBACK, false);
	if (check_env.closed == -1)
		return fault_errno(fault, "--transport tcp: check");
	if (other != 0)
		check_env.decoy = check_bind(other, true);
	else
		check_add(CHECK_NOWHERE, 443, false);
	loop_timer_set(&sup.loop, &check_env.late, CHECK_MS, check_late, NULL);
	return 0;
}

/* Close what was only there to be tried, and remove the token from the disk. */
static void
check_over(void)
{
	if (check_env.closed != -1)
		close(check_env.closed);
	if (check_env.decoy != -1)
		close(check_env.decoy);
	check_env.closed = check_env.decoy = -1;
	(void)unlinkat(engine.fd, "token", 0);
}

static bool
check_routes(const uint8_t said[GATE_ROUTES_SIZE])
{
	uint32_t via;

	memcpy(&via, said + 1, sizeof(via));
	return said[0] != 0 && (via == 0 || ntohl(via) == check_env.dead);
}

static void
check_judge(void)
{
	const struct try *t;
	char text[256];

	for (unsigned i = 0; i < check_env.n; i++) {
		t = &check_env.tries[i];
		if ((check_env.said[i] == 0) == t->ours)
			continue;
		snprintf(text, sizeof(text),
		    t->ours
			? "it does not reach port %u of %u.%u.%u.%u, where "
			  "the session listens: a firewall may be in the "
			  "way"
			: "it reaches port %u of %u.%u.%u.%u, which it must "
			  "not: Docker does not isolate its internal "
			  "networks",
		    t->port, t->address >> 24, t->address >> 16 & 255,
		    t->address >> 8 & 255, t->address & 255);
		check_fail(text);
		return;
	}
	if (!check_routes(check_env.said + check_env.n)) {
		check_fail("it has a default route, that is, a way out: Docker "
			   "does not isolate its internal networks");
		return;
	}
	loop_timer_clear(&sup.loop, &check_env.late);
	check_env.passed = true;
	check_over();
	sup_note("the sidecar reaches the session's ports and nothing else");
	if (check_env.then != NULL)
		check_env.then();
}

static void
check_close(void)
{
	int fd = check_env.io.fd;

	if (fd == -1)
		return;
	loop_del(&sup.loop, &check_env.io);
	close(fd);
}

static void
check_ready(struct loop_io *io, uint32_t events)
{
	const size_t want = GATE_ANSWER_SIZE(check_env.n);
	uint8_t more;
	ssize_t n;

	(void)events;
	n = check_env.len < want ? recv(io->fd, check_env.said + check_env.len,
				       want - check_env.len, MSG_DONTWAIT)
				 : recv(io->fd, &more, 1, MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || check_env.len == want) {
		check_close();
		check_fail(n <= 0 ? "the sidecar has ended"
				  : "the sidecar said more than it was asked");
		return;
	}
	check_env.len += (size_t)n;
	if (check_env.len == want)
		check_judge();
}

void
sidecar_checked(int fd)
{
	uint8_t asked[1 + GATE_MAX_TRIES * GATE_TRY_SIZE], *p = asked;
	uint32_t address;
	uint16_t port;

	/* There is one sidecar, and it connects once. */
	if (check_env.io.fd != -1 || check_env.len != 0) {
		close(fd);
		return;
	}
	*p++ = (uint8_t)check_env.n;
	for (unsigned i = 0; i < check_env.n; i++) {
		address = htonl(check_env.tries[i].address);
		port = htons(check_env.tries[i].port);
		memcpy(p, &address, 4);
		memcpy(p + 4, &port, 2);
		p += GATE_TRY_SIZE;
	}
	if (loop_add(&sup.loop, &check_env.io, fd, EPOLLIN, check_ready,
		NULL) == -1) {
		close(fd);
		check_fail("its connection cannot be read");
		return;
	}
	/* A new connection has room for it. */
	if (send(fd, asked, (size_t)(p - asked), MSG_NOSIGNAL | MSG_DONTWAIT) !=
	    p - asked)
		check_fail("it cannot be asked");
}

void
sidecar_place(uint64_t *dev, uint64_t *ino)
{
	const uint8_t *p = check_env.said + check_env.n + GATE_ROUTES_SIZE;

	memcpy(dev, p, sizeof(*dev));
	memcpy(ino, p + sizeof(*dev), sizeof(*ino));
}

bool
sidecar_ready(void (*then)(void))
{
	check_env.then = then;
	return sup.opt.transport != TRANSPORT_TCP || check_env.passed;
}

void
sidecar_check_free(void)
{
	loop_timer_clear(&sup.loop, &check_env.late);
	check_close();
	check_over();
}
