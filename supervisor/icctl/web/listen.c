/* SPDX-License-Identifier: ISC */
/*
 * The page's address: a port of 127.0.0.1, or of ::1 where that is all there
 * is, or a Unix socket to forward to. Loopback is open to every user of the
 * machine, so that the kernel is asked who connects before anything is read.
 */
#include "icctl/web/priv.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <netinet/in.h>

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/net/peer_uid.h"
#include "common/net/spare.h"
#include "hub/peer.h"

#define LISTEN_TURN 16U

/* The address, and then a browser's. */
union listen_address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static union listen_address listen_at;
static struct spare listen_spare = SPARE_INIT;

/* Returns true if the connection is one of this user. */
static bool
listen_may(struct web *w, int fd, const union listen_address *from)
{
	struct peer peer;
	uint32_t uid;
	int r;

	if (w->path != NULL)
		return peer_check(fd, &peer) == 0 && peer.may;
	if (from->sa.sa_family != listen_at.sa.sa_family)
		return false;
	r = from->sa.sa_family == AF_INET
		? peer_uid(w->diag, &from->in, &listen_at.in, &uid)
		: peer_uid6(w->diag, &from->in6, &listen_at.in6, &uid);
	return r == 0 && uid == geteuid();
}

static void
listen_ready(struct loop_io *io, uint32_t events)
{
	struct web *w = io->arg;
	union listen_address from;
	socklen_t len;
	int fd;

	(void)events;
	for (unsigned i = 0; i < LISTEN_TURN; i++) {
		len = sizeof(from);
		from.sa.sa_family = AF_UNSPEC;
		fd = spare_accept(&listen_spare, io->fd,
		    &from.sa, &len, span_of(NULL, 0));
		if (fd == -1)
			return;
		if (listen_may(w, fd, &from))
			send_conn(w, fd);
		else
			close(fd);
	}
}

static void
listen_name(struct web *w, const char *name, const char *port)
{
	(void)strlcat(w->site, name, sizeof(w->site));
	(void)strlcat(w->site, port, sizeof(w->site));
	(void)strlcat(w->site, "\n", sizeof(w->site));
}

/* Note what a browser may call the page. */
static int
listen_names(struct web *w, unsigned port)
{
	const char *own =
	    listen_at.sa.sa_family == AF_INET ? "127.0.0.1" : "[::1]";
	char with[8] = "";

	if (w->path == NULL) {
		snprintf(with, sizeof(with), ":%u", port);
		listen_name(w, own, with);
		listen_name(w, "localhost", with);
	}
	for (unsigned i = 0; i < w->nnames; i++)
		listen_name(w, w->names[i],
		    strchr(w->names[i], ':') != NULL ? "" : with);
	if (w->path == NULL)
		snprintf(
		    w->url, sizeof(w->url), "http://%s:%u/", own, port);
	else
		snprintf(w->url, sizeof(w->url), "http://%.255s/", w->names[0]);
	return 0;
}

/* Listen at the port of `at`, and set `at` to the one that it is. */
static int
listen_bind(union listen_address *at, socklen_t len)
{
	const int one = 1;
	int fd, save;

	fd = socket(at->sa.sa_family,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
	    bind(fd, &at->sa, len) == 0 && listen(fd, 64) == 0 &&
	    getsockname(fd, &at->sa, &len) == 0)
		return fd;
	save = errno;
	close(fd);
	errno = save;
	return -1;
}

static int
listen_port(struct web *w)
{
	const in_port_t port = htons((uint16_t)w->port);
	int fd;

	if ((w->diag = peer_uid_open()) == -1) {
		warn("sock_diag: this kernel does not tell which user connects "
		     "to a port; use --socket");
		return -1;
	}
	listen_at.in = (struct sockaddr_in){.sin_family = AF_INET,
	    .sin_port = port,
	    .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	fd = listen_bind(&listen_at, sizeof(listen_at.in));
	if (fd != -1) {
		listen_names(w, ntohs(listen_at.in.sin_port));
		return fd;
	}
	if (errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT) {
		if (errno == EACCES && w->port < 1024)
			warnx("port %u is one of root's: choose one from 1024 "
			      "on, or none", w->port);
		else
			warn("port %u of 127.0.0.1", w->port);
		return -1;
	}
	listen_at.in6 = (struct sockaddr_in6){.sin6_family = AF_INET6,
	    .sin6_port = port,
	    .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	fd = listen_bind(&listen_at, sizeof(listen_at.in6));
	if (fd == -1) {
		warn("port %u of ::1, as there is no 127.0.0.1 here (use "
		     "--socket without either)", w->port);
		return -1;
	}
	listen_names(w, ntohs(listen_at.in6.sin6_port));
	return fd;
}

static int
listen_path(struct web *w)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	mode_t mask;
	int fd, r;

	if (strlcpy(un.sun_path, w->path, sizeof(un.sun_path)) >=
	    sizeof(un.sun_path)) {
		warnx("--socket: the path is longer than %zu bytes",
		    sizeof(un.sun_path) - 1);
		return -1;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mask = umask(0177);
	r = fd == -1 ? -1 : bind(fd, (struct sockaddr *)&un, sizeof(un));
	(void)umask(mask);
	if (r == -1 || listen(fd, 64) == -1) {
		warn("--socket %s%s", w->path,
		    errno == EADDRINUSE ? ": remove the file if nothing uses "
					  "it" : "");
		if (fd != -1)
			close(fd);
		return -1;
	}
	listen_names(w, 0);
	return fd;
}

int
listen_open(struct web *w)
{
	int fd = w->path != NULL ? listen_path(w) : listen_port(w);

	spare_keep(&listen_spare);
	w->fd = fd;
	return fd == -1 ? -1 : 0;
}

int
listen_accept(struct web *w, bool on)
{
	return loop_watch(&w->loop, &w->listener, w->fd, on ? EPOLLIN : 0U,
	    listen_ready, w);
}

void
listen_close(struct web *w)
{
	if (w->fd == -1)
		return;
	loop_del(&w->loop, &w->listener);
	close(w->fd);
	if (w->path != NULL)
		(void)unlink(w->path);
}
