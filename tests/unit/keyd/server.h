/* SPDX-License-Identifier: ISC */
/*
 * A provider for tests of keyd: a separate process with TLS by OpenSSL, and a
 * child for each connection. It reports what it received, byte for byte, and
 * the last segment of a path decides how it answers.
 */
#ifndef KEYD_SERVER_H
#define KEYD_SERVER_H

#include <sys/types.h>

#include <openssl/ssl.h>

#include <stdbool.h>
#include <stdint.h>

struct server_seen {
	unsigned conn;		/* number of the connection, from 1 */
	bool resumed;		/* resumed an earlier TLS session */
	uint64_t body;		/* bytes of the body */
	uint64_t sum;		/* server_sum() of the body */
	size_t len;
	char head[8192];
};

struct server {
	pid_t pid;
	uint16_t port;
	int log;		/* has a struct server_seen for each request */
};

/*
 * So many connections of the servers started after this get close_notify right
 * behind their handshake, and no other event.
 */
extern unsigned server_ends_first;

/* A `ctx` of NULL means plain HTTP. */
void server_start(struct server *, SSL_CTX *ctx);
void server_stop(struct server *);
uint64_t server_sum(uint64_t sum, const uint8_t *, size_t);
/* Returns a byte of /t/big. */
uint8_t server_byte(size_t at);

/* Make a CA, with its certificate as PEM in pem[cap]. */
struct server_ca {
	EVP_PKEY *key;
	X509 *cert;
};
void server_ca_new(struct server_ca *, char *pem, size_t cap);
/*
 * Make a context for the name, valid between `from` and `to` seconds from now.
 * If `rsa`, with an RSA key and TLS 1.2 only.
 */
SSL_CTX *server_ctx(const struct server_ca *, const char *name, long from,
    long to, bool rsa);

#endif
