/* SPDX-License-Identifier: ISC */
/* Connections of bench_tls_load: CONNECT, TLS, HTTP/1.1 answers. */
#include "bench_tls.h"

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <openssl/err.h>

static int
tls_dial(const struct tls_target *t)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	struct sockaddr_in sin = {.sin_family = AF_INET};
	int fd, on = 1;

	if (t->unix_path != NULL) {
		if (strlen(t->unix_path) >= sizeof(sun.sun_path))
			errx(64, "%s: too long a path", t->unix_path);
		memcpy(sun.sun_path, t->unix_path, strlen(t->unix_path));
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd == -1 ||
		    connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1)
			err(1, "%s", t->unix_path);
		return fd;
	}
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sin.sin_port = htons(t->port);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1 || connect(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1)
		err(1, "port %u", t->port);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

void
tls_open(struct tls_conn *c, struct tls_target *t, int epoll_fd)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT | EPOLLET};
	int on = 1;

	memset(c, 0, offsetof(struct tls_conn, event));
	c->target = t;
	c->begun = bench_now();
	c->fd = tls_dial(t);
	if (t->connect_len != 0 &&
	    write(c->fd, t->connect, t->connect_len) != (ssize_t)t->connect_len)
		err(1, "CONNECT");
	if (ioctl(c->fd, FIONBIO, &on) == -1)
		err(1, "FIONBIO");
	if ((c->ssl = SSL_new(t->ctx)) == NULL ||
	    SSL_set_fd(c->ssl, c->fd) != 1 ||
	    SSL_set_tlsext_host_name(c->ssl, t->host) != 1 ||
	    SSL_set1_host(c->ssl, t->host) != 1 ||
	    SSL_set_app_data(c->ssl, t) != 1 ||
	    (t->session != NULL && SSL_set_session(c->ssl, t->session) != 1))
		errx(1, "SSL_new");
	SSL_set_connect_state(c->ssl);
	c->phase = t->connect_len != 0 ? TLS_CONNECT : TLS_SHAKE;
	c->epoll_fd = epoll_fd;
	c->wants_write = true;
	ev.data.ptr = c;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &ev) == -1)
		err(1, "epoll_ctl");
}

void
tls_close(struct tls_conn *c)
{
	SSL_shutdown(c->ssl);
	SSL_free(c->ssl);
	close(c->fd);
}

void
tls_again(struct tls_conn *c)
{
	c->phase = TLS_SEND;
	c->sent = 0;
	c->bytes = 0;
	c->begun = bench_now();
}

static int
tls_connect_read(struct tls_conn *c)
{
	ssize_t n;

	/* Read byte by byte: the next byte may belong to TLS. */
	for (;;) {
		n = recv(c->fd, c->in + c->have, 1, 0);
		if (n == -1 && errno == EAGAIN)
			return 0;
		if (n <= 0 || ++c->have == sizeof(c->in) - 1)
			errx(1, "CONNECT: %.*s", (int)c->have, c->in);
		if (c->have >= 4 &&
		    memcmp(c->in + c->have - 4, "\r\n\r\n", 4) == 0)
			break;
	}
	if (strncmp(c->in, "HTTP/1.1 200", 12) != 0)
		errx(1, "CONNECT: %.*s", (int)c->have, c->in);
	c->have = 0;
	c->phase = TLS_SHAKE;
	return 1;
}

/*
 * Ask to be woken when the socket takes bytes again, or no longer. Each read at
 * the other end of a Unix socket wakes those that ask, so this client does only
 * until its first request is sent and while it is blocked, as ic-bridge does.
 */
static void
tls_want_write(struct tls_conn *c, bool want)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.ptr = c};

	if (c->wants_write == want)
		return;
	c->wants_write = want;
	if (want)
		ev.events |= EPOLLOUT;
	if (epoll_ctl(c->epoll_fd, EPOLL_CTL_MOD, c->fd, &ev) == -1)
		err(1, "epoll_ctl");
}

/* Returns 0 if OpenSSL waits for the socket; exits otherwise. */
static int
tls_waits(struct tls_conn *c, int rv, const char *what)
{
	int e = SSL_get_error(c->ssl, rv);

	if (e == SSL_ERROR_WANT_WRITE)
		tls_want_write(c, true);
	if (e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE)
		return 0;
	errx(1, "%s: closed or failed (%d): %s", what, e,
	    ERR_error_string(ERR_get_error(), NULL));
}

static int
tls_send(struct tls_conn *c)
{
	size_t n;
	int rv;

	while (c->sent < c->target->request_len) {
		rv = SSL_write_ex(c->ssl, c->target->request + c->sent,
		    c->target->request_len - c->sent, &n);
		if (rv != 1)
			return tls_waits(c, rv, "request");
		c->sent += n;
	}
	tls_want_write(c, false);
	c->phase = TLS_HEAD;
	c->have = 0;
	return 1;
}

/* Parse bytes of an event stream. */
static void
tls_events(struct tls_conn *c, const char *p, size_t len)
{
	static const char mark[] = "data: {\"t\":";

	for (size_t i = 0; i < len; i++) {
		if (p[i] != '\n') {
			if (c->line_len < sizeof(c->line) - 1)
				c->line[c->line_len++] = p[i];
			continue;
		}
		c->line[c->line_len] = '\0';
		if (strncmp(c->line, mark, sizeof(mark) - 1) == 0) {
			c->events++;
			c->event(
			    c, strtoull(c->line + sizeof(mark) - 1, NULL, 10));
		}
		c->line_len = 0;
	}
}

static void
tls_data(struct tls_conn *c, const char *p, size_t len)
{
	c->bytes += len;
	if (c->event != NULL)
		tls_events(c, p, len);
}

/* Take a byte of chunked framing. Returns true for the last one. */
static bool
tls_framing(struct tls_conn *c, char b)
{
	switch (c->chunk) {
	case CHUNK_SIZE:
		if (b == '\n') {
			c->digits = 0;
			c->chunk = c->left == 0 ? CHUNK_TRAILER : CHUNK_DATA;
		} else if (b != '\r') {
			c->left = c->left * 16 +
				  (unsigned)(b <= '9' ? b - '0'
						      : (b | 32) - 'a' + 10);
		}
		return false;
	case CHUNK_END:
		if (b == '\n') {
			c->chunk = CHUNK_SIZE;
			c->left = 0;
		}
		return false;
	case CHUNK_TRAILER:
		c->digits++;
		if (b != '\n')
			return false;
		return c->digits <= 2;
	case CHUNK_DATA:
	default:
		errx(1, "framing");
	}
}

/* Take bytes of the body. Returns true if the answer is complete. */
static bool
tls_body(struct tls_conn *c, const char *p, size_t len)
{
	size_t n;

	while (len != 0) {
		if (c->chunked && c->chunk != CHUNK_DATA) {
			p++;
			len--;
			if (tls_framing(c, p[-1]))
				return true;
			continue;
		}
		n = len > c->left ? (size_t)c->left : len;
		tls_data(c, p, n);
		c->left -= n;
		p += n;
		len -= n;
		if (c->left == 0 && !c->chunked)
			return true;
		if (c->left == 0)
			c->chunk = CHUNK_END;
	}
	return c->left == 0 && !c->chunked;
}

static bool
tls_head(struct tls_conn *c, char *end)
{
	const char *p;
	size_t used = (size_t)(end + 4 - c->in);

	*end = '\0';
	if (strncmp(c->in, "HTTP/1.1 ", 9) != 0)
		errx(1, "answer: %s", c->in);
	c->status = (unsigned)strtoul(c->in + 9, NULL, 10);
	p = strcasestr(c->in, "\r\ncontent-length:");
	c->left = p == NULL ? 0 : strtoull(p + 17, NULL, 10);
	c->chunked = p == NULL;
	c->chunk = CHUNK_SIZE;
	c->digits = 0;
	c->phase = TLS_BODY;
	return tls_body(c, c->in + used, c->have - used);
}

static int
tls_receive(struct tls_conn *c)
{
	size_t n;
	char *end;
	bool done;
	int rv;

	for (;;) {
		if (c->phase == TLS_BODY)
			c->have = 0;
		rv = SSL_read_ex(
		    c->ssl, c->in + c->have, sizeof(c->in) - c->have, &n);
		if (rv != 1)
			return tls_waits(c, rv, "answer");
		c->have += n;
		if (c->phase == TLS_BODY) {
			done = tls_body(c, c->in, c->have);
		} else {
			end = memmem(c->in, c->have, "\r\n\r\n", 4);
			if (end == NULL && c->have == sizeof(c->in))
				errx(1, "too long a head");
			done = end != NULL && tls_head(c, end);
		}
		if (done) {
			c->phase = TLS_IDLE;
			return 1;
		}
	}
}

int
tls_step(struct tls_conn *c)
{
	int rv = 1;

	ERR_clear_error();
	while (rv == 1) {
		switch (c->phase) {
		case TLS_CONNECT:
			rv = tls_connect_read(c);
			break;
		case TLS_SHAKE:
			if ((rv = SSL_do_handshake(c->ssl)) != 1)
				return tls_waits(c, rv, "handshake");
			c->phase = TLS_SEND;
			break;
		case TLS_SEND:
			rv = tls_send(c);
			break;
		case TLS_HEAD:
		case TLS_BODY:
			return tls_receive(c);
		case TLS_IDLE:
			return 0;
		default:
			errx(1, "phase");
		}
	}
	return rv;
}
