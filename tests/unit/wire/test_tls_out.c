/* SPDX-License-Identifier: ISC */
/*
 * TLS records over a Unix socket whose reader is slow: everything arrives, in
 * order, and records that follow each other leave with one call.
 */
#include "mitmd/wire/tls_out.h"

#include <sys/socket.h>

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define TOTAL ((size_t)3 << 20)
#define CALL 200000U /* bytes of a write, as large as the largest of mitmd */

static uint8_t text[TOTAL], got[TOTAL];

struct pair {
	int fd[2];
	SSL *server, *client;
	struct tls_out out, in;
};

/* Without a certificate: only records matter here. */
static SSL *
end_new(const SSL_METHOD *method, struct tls_out *out, int fd, bool collect)
{
	SSL_CTX *ctx = SSL_CTX_new(method);
	SSL *ssl;

	if (ctx == NULL ||
	    SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION) != 1 ||
	    SSL_CTX_set_cipher_list(ctx, "AECDH-AES128-SHA:@SECLEVEL=0") != 1)
		errx(1, "OpenSSL has no anonymous cipher");
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
				  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				  SSL_MODE_RELEASE_BUFFERS);
	if ((ssl = SSL_new(ctx)) == NULL ||
	    tls_out_attach(ssl, out, fd, collect) == -1)
		errx(1, "SSL_new");
	SSL_CTX_free(ctx);
	return ssl;
}

static void
pair_new(struct pair *p)
{
	bool done = false;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
		p->fd) == -1)
		errx(1, "socketpair");
	p->server = end_new(TLS_server_method(), &p->out, p->fd[0], true);
	p->client = end_new(TLS_client_method(), &p->in, p->fd[1], false);
	SSL_set_accept_state(p->server);
	SSL_set_connect_state(p->client);
	for (int i = 0; i < 8 && !done; i++) {
		(void)SSL_do_handshake(p->client);
		done = SSL_do_handshake(p->server) == 1 &&
		       SSL_is_init_finished(p->client);
	}
	ok(done, "a handshake");
}

static void
pair_free(struct pair *p)
{
	SSL_free(p->server);
	SSL_free(p->client);
	tls_out_free(&p->out);
	tls_out_free(&p->in);
	close(p->fd[0]);
	close(p->fd[1]);
}

/* Read at most `max` bytes. Returns them. */
static size_t
take(struct pair *p, uint8_t *to, size_t max)
{
	size_t all = 0, n;

	while (
	    all < max && SSL_read_ex(p->client, to + all, max - all, &n) == 1)
		all += n;
	return all;
}

/* Write until the socket is full. Returns the bytes taken. */
static size_t
give(struct pair *p, const uint8_t *from, size_t len)
{
	size_t all = 0, n;

	while (all < len && !tls_out_waits(&p->out)) {
		if (tls_out_write(p->server, &p->out, from + all,
			len - all < CALL ? len - all : CALL, &n) != 1)
			break;
		all += n;
	}
	return all;
}

static void
test_slow_reader(size_t step)
{
	struct pair p;
	size_t sent = 0, read = 0, waited = 0, before;
	bool broken = false;

	memset(got, 0, sizeof(got));
	pair_new(&p);
	while (read < TOTAL && !broken) {
		before = sent + read;
		broken = tls_out_flush(&p.out) == -1;
		sent += give(&p, text + sent, TOTAL - sent);
		waited += tls_out_waits(&p.out);
		read += take(
		    &p, got + read, step < TOTAL - read ? step : TOTAL - read);
		broken |= sent + read == before && !tls_out_waits(&p.out);
	}
	ok(!broken && sent == TOTAL && read == TOTAL,
	    "all bytes arrive, read %zu at a time", step);
	ok(memcmp(got, text, TOTAL) == 0, "in their order");
	ok(waited != 0, "some have waited for the socket");
	ok(!tls_out_waits(&p.out), "none does at the end");
	pair_free(&p);
}

/* Returns the number of whole records, or 0 if a part follows them. */
static unsigned
records(const uint8_t *p, size_t len)
{
	unsigned n = 0;
	size_t one;

	for (; len >= 5 && p[0] == SSL3_RT_APPLICATION_DATA; n++) {
		one = 5 + ((size_t)p[3] << 8 | p[4]);
		if (one > len)
			return 0;
		p += one;
		len -= one;
	}
	return len == 0 ? n : 0;
}

/* On a socket of packets, each call of send() is a packet. */
static void
test_one_call(void)
{
	uint8_t raw[80000];
	int packets[2];
	struct pair p;
	size_t n = 0;
	ssize_t r;

	pair_new(&p);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC,
		0, packets) == -1)
		errx(1, "socketpair");
	p.out.fd = packets[0];
	ok(tls_out_write(p.server, &p.out, text, 60000, &n) == 1 && n == 60000,
	    "60,000 bytes are taken");
	r = recv(packets[1], raw, sizeof(raw), 0);
	ok(r > 60000 && records(raw, (size_t)r) == 4, "four records, one call");
	ok(tls_out_write(p.server, &p.out, text, 100, &n) == 1 && n == 100 &&
		recv(packets[1], raw, sizeof(raw), 0) > 100,
	    "a short one does not wait");
	close(packets[0]);
	close(packets[1]);
	pair_free(&p);
}

/* The end of the reader is an error, not a wait. */
static void
test_broken(void)
{
	struct pair p;
	size_t sent, n;

	pair_new(&p);
	sent = give(&p, text, TOTAL);
	ok(sent < TOTAL && tls_out_waits(&p.out), "the socket is full");
	ok(tls_out_flush(&p.out) == 0, "which is no error");
	shutdown(p.fd[1], SHUT_RDWR);
	errno = 0;
	ok(tls_out_flush(&p.out) == -1 && errno == EPIPE, "a closed one is");
	ok(tls_out_write(p.server, &p.out, text + sent, 1000, &n) != 1 &&
		SSL_get_error(p.server, 0) != SSL_ERROR_WANT_WRITE,
	    "and a write to it");
	pair_free(&p);
}

int
main(void)
{
	for (size_t i = 0; i < TOTAL; i++)
		text[i] = (uint8_t)(i * 31 + i / 251);
	(void)signal(SIGPIPE, SIG_IGN);
	if (tls_out_init() == -1)
		errx(1, "tls_out_init");
	test_slow_reader(1000);
	test_slow_reader(16384);
	test_slow_reader(300000);
	test_one_call();
	test_broken();
	return tap_done();
}
