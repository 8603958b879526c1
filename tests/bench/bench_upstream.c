/* SPDX-License-Identifier: ISC */
/*
 * A cheap model provider: TLS 1.3 on 127.0.0.1 with an ECDSA P-256 certificate,
 * HTTP/1.1 with keep-alive. Answers a POST with 330 bytes of JSON only if it
 * has the real key (else 403), so that each good answer proves the swap; counts
 * requests. A body with "events":N is answered with N server-sent events,
 * "every_us":T apart, each with the time of writing; one with "bytes":N by that
 * many bytes. Prints {"port":N}, runs until stdin closes, then prints its
 * counts.
 */
#include "bench_upstream.h"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>

#include "bench.h"

struct up up;

static void
up_close(struct conn *c)
{
	if (c->streaming)
		TAILQ_REMOVE(&up.streams, c, entry);
	SSL_free(c->ssl);
	close(c->fd);
	free(c);
}

static int
up_shake(struct conn *c)
{
	int rv;

	if ((rv = SSL_do_handshake(c->ssl)) == 1) {
		c->shaken = true;
		up.resumed += SSL_session_reused(c->ssl) ? 1 : 0;
		return 1;
	}
	rv = SSL_get_error(c->ssl, rv);
	return rv == SSL_ERROR_WANT_READ || rv == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

static void
up_ready(struct conn *c)
{
	int rv = 1;

	ERR_clear_error();
	if (!c->shaken)
		rv = up_shake(c);
	if (rv == 1)
		rv = up_read(c);
	if (rv != -1 && c->shaken)
		rv = up_bulk(c);
	if (rv == -1) {
		if (c->events != 0 || c->bytes != 0 || c->headed)
			up.dropped++;
		up_close(c);
	}
}

static void
up_accept(int listener)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT | EPOLLET};
	struct conn *c;
	int fd, on = 1;

	while ((fd = accept4(listener, NULL, NULL,
		    SOCK_NONBLOCK | SOCK_CLOEXEC)) != -1) {
		if ((c = calloc(1, sizeof(*c))) == NULL)
			err(1, "connection");
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		c->fd = fd;
		if ((c->ssl = SSL_new(up.ctx)) == NULL ||
		    SSL_set_fd(c->ssl, fd) != 1)
			errx(1, "SSL_new");
		SSL_set_accept_state(c->ssl);
		ev.data.ptr = c;
		if (epoll_ctl(up.ep, EPOLL_CTL_ADD, fd, &ev) == -1)
			err(1, "epoll_ctl");
		up.connections++;
		up_ready(c);
	}
}

/*
 * Send the events that are due. Returns nanoseconds until the next, or
 * UINT64_MAX.
 */
static uint64_t
up_tick(void)
{
	uint64_t now = bench_now(), next = UINT64_MAX;
	struct conn *c, *after;

	for (c = TAILQ_FIRST(&up.streams); c != NULL; c = after) {
		after = TAILQ_NEXT(c, entry);
		while (c->streaming && c->due <= now) {
			c->due += c->every;
			if (up_event(c) == -1) {
				up.dropped++;
				up_close(c);
				c = NULL;
				break;
			}
		}
		if (c != NULL && c->streaming && c->due < next)
			next = c->due;
	}
	now = bench_now();
	return next == UINT64_MAX ? next : next > now ? next - now : 0;
}

static SSL_CTX *
up_ctx(const char *cert, const char *key)
{
	SSL_CTX *ctx;

	if ((ctx = SSL_CTX_new(TLS_server_method())) == NULL ||
	    SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_use_certificate_chain_file(ctx, cert) != 1 ||
	    SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1)
		errx(1, "%s, %s: %s", cert, key,
		    ERR_error_string(ERR_get_error(), NULL));
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
				  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	return ctx;
}

static int
up_listen(void)
{
	struct sockaddr_in sin = {.sin_family = AF_INET};
	struct epoll_event ev = {.events = EPOLLIN};
	socklen_t len = sizeof(sin);
	int fd;

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd == -1 || bind(fd, (struct sockaddr *)&sin, len) == -1 ||
	    listen(fd, 511) == -1 ||
	    getsockname(fd, (struct sockaddr *)&sin, &len) == -1)
		err(1, "listen");
	ev.data.ptr = &up.ep; /* marks the listener */
	if (epoll_ctl(up.ep, EPOLL_CTL_ADD, fd, &ev) == -1)
		err(1, "epoll_ctl");
	ev.data.ptr = NULL; /* marks stdin */
	if (epoll_ctl(up.ep, EPOLL_CTL_ADD, STDIN_FILENO, &ev) == -1)
		err(1, "stdin must be a pipe");
	printf("{\"port\":%u}\n", ntohs(sin.sin_port));
	fflush(stdout);
	return fd;
}

static void
up_report(void)
{
	printf("{\"connections\":%llu,\"resumed\":%llu,\"requests\":%llu,"
	       "\"accepted\":%llu,\"refused\":%llu,\"dropped\":%llu}\n",
	    (unsigned long long)up.connections, (unsigned long long)up.resumed,
	    (unsigned long long)up.requests, (unsigned long long)up.accepted,
	    (unsigned long long)up.refused, (unsigned long long)up.dropped);
}

static void
up_loop(int listener)
{
	struct epoll_event evs[64];
	struct timespec ts;
	uint64_t wait;
	int n;

	for (;;) {
		wait = up_tick();
		ts.tv_sec = (time_t)(wait / 1000000000);
		ts.tv_nsec = (long)(wait % 1000000000);
		n = epoll_pwait2(
		    up.ep, evs, 64, wait == UINT64_MAX ? NULL : &ts, NULL);
		if (n == -1 && errno != EINTR)
			err(1, "epoll_wait");
		for (int i = 0; i < n; i++) {
			if (evs[i].data.ptr == NULL)
				return;
			if (evs[i].data.ptr == &up.ep)
				up_accept(listener);
			else
				up_ready(evs[i].data.ptr);
		}
	}
}

int
main(int argc, char **argv)
{
	if (argc != 4)
		errx(64, "usage: bench_upstream CERT.pem KEY.pem REAL-KEY");
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_TIMERSLACK, 1UL);
	TAILQ_INIT(&up.streams);
	up.ctx = up_ctx(argv[1], argv[2]);
	up.key = argv[3];
	memset(up.answer, 'x', UP_ANSWER);
	memcpy(up.answer, "{\"text\":\"", 9);
	memcpy(up.answer + UP_ANSWER - 2, "\"}", 2);
	memset(up.filler, 'y', sizeof(up.filler));
	if ((up.ep = epoll_create1(EPOLL_CLOEXEC)) == -1)
		err(1, "epoll_create1");
	up_loop(up_listen());
	up_report();
	return 0;
}
