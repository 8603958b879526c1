/* SPDX-License-Identifier: ISC */
/*
 * The page's address: a port of 127.0.0.1, or a Unix socket to forward to.
 * Loopback is open to every user of the machine, so that the kernel is asked
 * who connects before anything is read.
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
#include "control/peer.h"

#define LISTEN_TURN 16U

static struct sockaddr_in listen_at;
static struct spare listen_spare = SPARE_INIT;

/* Returns true if the connection is one of this user. */
static bool
listen_may(struct web *w, int fd, const struct sockaddr_in *from)
{
	struct peer peer;
	uint32_t uid;

	if (w->path != NULL)
		return peer_check(fd, &peer) == 0 && peer.may;
	return from->sin_family == AF_INET &&
	       peer_uid(w->diag, from, &listen_at, &uid) == 0 &&
	       uid == geteuid();
}

static void
listen_ready(struct loop_io *io, uint32_t events)
{
	struct web *w = io->arg;
	struct sockaddr_in from;
	socklen_t len;
	int fd;

	(void)events;
	for (unsigned i = 0; i < LISTEN_TURN; i++) {
		len = sizeof(from);
		from.sin_family = AF_UNSPEC;
		fd = spare_accept(&listen_spare, io->fd,
		    (struct sockaddr *)&from, &len, span_of(NULL, 0));
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
	char with[8] = "";

	if (w->path == NULL) {
		snprintf(with, sizeof(with), ":%u", port);
		listen_name(w, "127.0.0.1", with);
		listen_name(w, "localhost", with);
	}
	for (unsigned i = 0; i < w->nnames; i++)
		listen_name(w, w->names[i],
		    strchr(w->names[i], ':') != NULL ? "" : with);
	if (w->path == NULL)
		snprintf(
		    w->url, sizeof(w->url), "http://127.0.0.1:%u/", port);
	else
		snprintf(w->url, sizeof(w->url), "http://%.255s/", w->names[0]);
	return 0;
}

static int
listen_port(struct web *w)
{
	socklen_t len = sizeof(listen_at);
	const int one = 1;
	int fd;

	if ((w->diag = peer_uid_open()) == -1) {
		warn("sock_diag: this kernel does not tell which user connects "
		     "to a port; use --socket");
		return -1;
	}
	listen_at = (struct sockaddr_in){.sin_family = AF_INET,
	    .sin_port = htons((uint16_t)w->port),
	    .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == -1 ||
	    bind(fd, (struct sockaddr *)&listen_at, sizeof(listen_at)) == -1 ||
	    listen(fd, 64) == -1 ||
	    getsockname(fd, (struct sockaddr *)&listen_at, &len) == -1) {
		warn("port %u of 127.0.0.1", w->port);
		if (fd != -1)
			close(fd);
		return -1;
	}
	listen_names(w, ntohs(listen_at.sin_port));
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
