/* SPDX-License-Identifier: ISC */
/*
 * Makes the sockets that portd gets. Nothing is published on a system whose
 * kernel cannot say which user connects: this is tried before.
 */
#include "relay/publish.h"

#include <sys/socket.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/close_keep.h"
#include "common/net/peer_uid.h"
#include "core/sup.h"

#define PUBLISH_TRIES 4U

static struct {
	int diag, box, ports[PROTO_MAX_PORTS];
} publish_fds = {.diag = -1, .box = -1};

static int
publish_socket(uint32_t address, uint16_t port, struct sockaddr_in *in)
{
	const int one = 1;
	int fd;

	*in = (struct sockaddr_in){.sin_family = AF_INET,
	    .sin_port = htons(port),
	    .sin_addr = {.s_addr = htonl(address)}};
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return -1;
	/* Accepted connections inherit the last two. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one)) == 0 &&
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0 &&
	    bind(fd, (struct sockaddr *)in, sizeof(*in)) == 0 &&
	    listen(fd, 256) == 0)
		return fd;
	return close_keep(fd);
}

/* Make a connection to ourselves and ask for its user. */
static int
publish_try(struct fault *fault)
{
	struct sockaddr_in at, from;
	socklen_t len = sizeof(at);
	int listener, up = -1, rv = -1;
	uint32_t uid = 0;

	listener = publish_socket(publish_address(0), 0, &at);
	if (listener == -1 ||
	    getsockname(listener, (struct sockaddr *)&at, &len) == -1 ||
	    (up = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1 ||
	    connect(up, (struct sockaddr *)&at, sizeof(at)) == -1 ||
	    getsockname(up, (struct sockaddr *)&from, &len) == -1)
		fault_errno(fault, "--publish: %s", publish_url(0));
	else if (peer_uid(publish_fds.diag, &from, &at, &uid) == -1)
		fault_errno(fault,
		    "--publish: this kernel does not tell which user connects "
		    "to a port (INET_DIAG), so that others could, too");
	else if (uid != geteuid())
		fault_set(fault,
		    "--publish: this kernel calls a connection of ours one of "
		    "user %u", uid);
	else
		rv = 0;
	if (listener != -1)
		close(listener);
	if (up != -1)
		close(up);
	return rv;
}

static int
publish_one(unsigned i, struct fault *fault)
{
	const struct publish_option *p = &sup.opt.publish[i];
	struct sockaddr_in in;

	publish_fds.ports[i] =
	    publish_socket(publish_address(i), p->host_port, &in);
	if (publish_fds.ports[i] != -1)
		return 0;
	if (errno == EADDRINUSE)
		return fault_set_kind(fault, FAULT_CONFIG,
		    "--publish: port %u of this machine is in use. Choose "
		    "another one: --publish HOSTPORT:%u",
		    p->host_port, p->port);
	if (errno == EACCES)
		return fault_set_kind(fault, FAULT_CONFIG,
		    "--publish: an ordinary user may not listen on port %u. "
		    "Choose one above 1023: --publish HOSTPORT:%u",
		    p->host_port, p->port);
	return fault_errno(fault, "--publish: %s", publish_url(i));
}

/*
 * Sessions of different directories may have the same id, and then the same
 * address at first. A port that is in use at all addresses stays in use.
 */
static int
publish_all(struct fault *fault)
{
	unsigned i = 0, n = sup.opt.npublish;

	for (publish_salt = 0; publish_salt < PUBLISH_TRIES; publish_salt++) {
		for (i = 0; i < n && publish_one(i, fault) == 0; i++)
			;
		if (i == n)
			return 0;
		while (i-- > 0)
			close(publish_fds.ports[i]);
		if (fault->kind != FAULT_CONFIG)
			break;
	}
	return -1;
}

int
publish_open(struct fault *fault)
{
	if (sup.opt.npublish == 0)
		return 0;
	if ((publish_fds.diag = peer_uid_open()) == -1)
		return fault_errno(fault, "--publish: sock_diag");
	if (publish_try(fault) == -1)
		return -1;
	return publish_all(fault);
}

int
publish_listen(struct fault *fault)
{
	if (sup.opt.npublish == 0)
		return 0;
	publish_fds.box =
	    session_listen(sup.session.sockets, "publish.sock", 0600);
	if (publish_fds.box == -1)
		return fault_errno(
		    fault, "%s/sockets/publish.sock", sup.session.dir);
	return 0;
}

void
publish_setup(void)
{
	static const struct msg_LISTEN listen_msg;
	struct msg_PEER_UID peer = {.uid = geteuid()};
	struct msg_PUBLISH m = {.index = 0};

	if (sup.opt.npublish == 0)
		return;
	child_send(ROLE_PORT, 0, MSG_LISTEN, &listen_msg, publish_fds.box);
	child_send(ROLE_PORT, 0, MSG_PEER_UID, &peer, publish_fds.diag);
	for (unsigned i = 0; i < sup.opt.npublish; i++) {
		m.index = (uint8_t)i;
		m.port = sup.opt.publish[i].port;
		m.host_port = sup.opt.publish[i].host_port;
		m.address = publish_address(i);
		child_send(
		    ROLE_PORT, 0, MSG_PUBLISH, &m, publish_fds.ports[i]);
	}
}
