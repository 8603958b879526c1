/* SPDX-License-Identifier: ISC */
/*
 * pgkeyd's half of TLS: it forks the process that ends it before there is a
 * password, hands connections over, and gets sockets back. It reads nothing
 * that a server wrote but the hash of a certificate and a reason, each bounded.
 */
#include "pgkeyd/pgkeyd.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/ipc/sibling.h"
#include "common/log.h"
#include "pgkeyd/tls_end.h"
#include "pgkeyd/tls_link.h"

#define TLS_MIN_HASH 20U

static struct {
	int link; /* -1: the process has ended, because there is no TLS */
	struct loop_io io;
	char *roots;
	size_t nroots;
	bool rooted; /* that process has the roots */
} tls_env;

/*
 * A death of that process may be an attack of the server's, and no new one can
 * be forked: the session ends.
 */
static void __attribute__((noreturn)) tls_lost(void)
{
	log_warnx("the process that ends the database's TLS has ended");
	worker_exit(&pgkeyd_env.w, 1);
}

void
tls_fork(void)
{
	const pid_t pid = sibling_fork(&tls_env.link);

	if (pid == -1)
		fatal("the process that ends TLS");
	if (pid == 0)
		tls_end_run(tls_env.link);
	tls_env.io.fd = -1;
}

static void
tls_tell_roots(void)
{
	struct tls_link_ask ask = {.id = 0};
	size_t at = 0, n;

	while (at < tls_env.nroots) {
		n = tls_env.nroots - at;
		if (n > TLS_LINK_PIECE)
			n = TLS_LINK_PIECE;
		ask.npem = (uint32_t)n;
		memcpy(ask.pem, tls_env.roots + at, n);
		if (tls_link_send(tls_env.link, &ask,
			offsetof(struct tls_link_ask, pem) + n, -1) == -1)
			tls_lost();
		at += n;
	}
	/* These are all: certificates are checked against them alone. */
	ask.npem = 0;
	if (tls_link_send(tls_env.link, &ask,
		offsetof(struct tls_link_ask, pem), -1) == -1)
		tls_lost();
}

/* Tell the roots, and ask for the connections that waited for that. */
static void
tls_rooted(void)
{
	struct login *l;
	int fd;

	tls_tell_roots();
	free(tls_env.roots);
	tls_env.roots = NULL;
	tls_env.rooted = true;
	TAILQ_FOREACH (l, &pgkeyd_env.logins, entry) {
		if (l->state != LOGIN_TLS || l->fd == -1)
			continue;
		fd = l->fd;
		l->fd = -1;
		tls_ask(l, fd);
	}
}

int
tls_take_roots(struct chan *c, const struct msg_ROOTS *m)
{
	(void)c;
	/* The first ones are those that the login names, if it names any. */
	if (tls_env.roots != NULL || tls_env.rooted || m->pem.len == 0)
		return 0;
	if (pgkeyd_env.w.started && !pgkeyd_env.ca)
		return 0;
	if ((tls_env.roots = malloc(m->pem.len)) == NULL)
		fatal("roots");
	memcpy(tls_env.roots, m->pem.p, m->pem.len);
	tls_env.nroots = m->pem.len;
	if (pgkeyd_env.w.started)
		tls_rooted();
	return 0;
}

static void
tls_told(const struct tls_link_told *t, int fd)
{
	char why[TLS_LINK_WHY];

	if (fd != -1 && t->nhash >= TLS_MIN_HASH && t->nhash <= TLS_LINK_HASH) {
		pgkeyd_env.secured(t->id, span_of(t->hash, t->nhash), fd);
		return;
	}
	if (fd != -1)
		close(fd);
	memcpy(why, t->why, sizeof(why));
	why[sizeof(why) - 1] = '\0';
	pgkeyd_env.insecure(t->id, why);
}

static void
tls_ready(struct loop_io *io, uint32_t events)
{
	struct tls_link_told told;
	ssize_t n;
	int fd;

	(void)io;
	(void)events;
	n = tls_link_receive(tls_env.link, &told, sizeof(told), &fd);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != (ssize_t)sizeof(told))
		tls_lost();
	tls_told(&told, fd);
}

void
tls_start(void)
{
	if (!pgkeyd_env.tls) {
		close(tls_env.link);
		tls_env.link = -1;
	} else if (loop_add(&pgkeyd_env.w.loop, &tls_env.io, tls_env.link,
		       EPOLLIN, tls_ready, NULL) == -1) {
		fatal("epoll");
	}
	if (!pgkeyd_env.ca) {
		free(tls_env.roots);
		tls_env.roots = NULL;
	} else if (tls_env.roots != NULL) {
		tls_rooted(); /* otherwise they come later */
	}
}

void
tls_ask(struct login *l, int fd)
{
	const struct tls_link_ask ask = {.id = l->dial};

	if (pgkeyd_env.ca && !tls_env.rooted) {
		l->fd = fd;
		return;
	}
	if (tls_link_send(tls_env.link, &ask,
		offsetof(struct tls_link_ask, pem), fd) == -1)
		tls_lost();
	close(fd);
}
