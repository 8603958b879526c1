/* SPDX-License-Identifier: ISC */
/*
 * Services of the host: published ports turned round. A port of the sandbox's
 * own 127.0.0.1 and ::1 stands for each; a connection to it becomes one to the
 * session's services.sock, and begins with the service's index. This program
 * cannot name an address, and neither can anything else in the sandbox.
 */
#include "bridge.h"

#include <sys/socket.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
	uint16_t ports[SERVICES_MAX];
	unsigned nports;
	/* Those of IPv4 and IPv6; -1: none. */
	int listeners[SERVICES_MAX][2];
	char target[BRIDGE_PATH];
} services_env;

bool
services_ports(const char *text)
{
	return ports_read(
	    text, services_env.ports, SERVICES_MAX, &services_env.nports);
}

/* Returns a listener, or -1 with errno set. */
static int
services_listen(int family, uint16_t port)
{
	const struct sockaddr_in in4 = {.sin_family = AF_INET,
	    .sin_port = htons(port),
	    .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	const struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
	    .sin6_port = htons(port),
	    .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	const bool four = family == AF_INET;
	const int one = 1;
	int fd, save;

	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd,
		four ? (const struct sockaddr *)&in4
		     : (const struct sockaddr *)&in6,
		four ? sizeof(in4) : sizeof(in6)) == 0 &&
	    listen(fd, 128) == 0)
		return fd;
	save = errno;
	close(fd);
	errno = save;
	return -1;
}

void
services_open(const char *socket)
{
	char what[32];

	/* The caller has composed it in a buffer of this size. */
	memcpy(services_env.target, socket, strlen(socket) + 1);
	for (unsigned i = 0; i < services_env.nports; i++) {
		snprintf(what, sizeof(what), "services: port %u",
		    services_env.ports[i]);
		services_env.listeners[i][0] =
		    services_listen(AF_INET, services_env.ports[i]);
		if (services_env.listeners[i][0] == -1)
			bridge_die(what);
		/* Not every sandbox has IPv6. */
		services_env.listeners[i][1] =
		    services_listen(AF_INET6, services_env.ports[i]);
	}
}

nfds_t
services_poll(struct pollfd *p)
{
	nfds_t n = 0;

	for (unsigned i = 0; i < services_env.nports; i++)
		for (unsigned k = 0; k < 2; k++)
			p[n++] =
			    (struct pollfd){.fd = services_env.listeners[i][k],
				.events = POLLIN};
	return n;
}

static void
services_accept(int listener, uint8_t index)
{
	const int one = 1;
	int in;

	in = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (in == -1)
		return;
	setsockopt(in, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	pairs_add(in, unix_connect(services_env.target, SOCK_NONBLOCK), &index,
	    sizeof(index));
}

void
services_move(const struct pollfd *p, nfds_t n)
{
	for (nfds_t i = 0; i < n; i++)
		if (p[i].fd != -1 && p[i].revents != 0)
			services_accept(p[i].fd, (uint8_t)(i / 2));
}
