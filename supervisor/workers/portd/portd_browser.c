/* SPDX-License-Identifier: ISC */
/*
 * Accepts connections from browsers. Loopback is open to every user of the
 * machine, so that the kernel is asked for the owner of the other end before
 * anything is read. A connection of another user is closed.
 */
#include "workers/portd/portd.h"

#include <sys/socket.h>

#include <errno.h>
#include <unistd.h>

#include "common/log.h"
#include "common/net/peer_uid.h"

/* Returns true if the connection belongs to the session's user. */
static bool
browser_may(const struct port *p, const struct sockaddr_in *peer)
{
	uint32_t uid;

	if (peer->sin_family != AF_INET ||
	    peer_uid(portd_env.diag, peer, &p->address, &uid) == -1)
		return false;
	return uid == portd_env.uid;
}

void
browser_accept(struct loop_io *io, uint32_t events)
{
	struct port *p = io->arg;
	struct sockaddr_in peer;
	socklen_t len;
	int fd;

	for (unsigned i = 0; i < PORTD_ACCEPTS; i++) {
		len = sizeof(peer);
		fd = accept4(io->fd, (struct sockaddr *)&peer, &len,
		    SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd == -1)
			return;
		if (len != sizeof(peer) || !browser_may(p, &peer)) {
			if (p->use.strangers++ == 0)
				log_warnx("port %u: a connection of another "
					  "user was closed", p->port);
		} else if (portd_env.nwait == PORTD_MAX_WAIT) {
			p->use.over++;
		} else {
			conn_new(p, fd);
			continue;
		}
		port_news(p);
		close(fd);
	}
}
