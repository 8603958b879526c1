/* SPDX-License-Identifier: ISC */
/*
 * A provider for tests of keyd: a process of its own, TLS by OpenSSL, one
 * child for each connection.  It says what it received, byte for byte, and
 * answers as the path's last segment says.
 */
#ifndef KEYD_SERVER_H
#define KEYD_SERVER_H

#include <sys/types.h>

#include <openssl/ssl.h>

#include <stdbool.h>
#include <stdint.h>

struct server_seen {
	unsigned conn;		/* of this server, from 1 */
	bool resumed;		/* an earlier TLS session */
	uint64_t body;		/* bytes */
	uint64_t sum;		/* of them, server_sum */
	size_t len;
	char head[8192];
};

struct server {
	pid_t pid;
	uint16_t port;
	int log;		/* one struct server_seen for each request */
};

/* ctx NULL: plain HTTP. */
void server_start(struct server *, SSL_CTX *ctx);
void server_stop(struct server *);
uint64_t server_sum(uint64_t sum, const uint8_t *, size_t);
/* Bytes of /t/big, at any offset. */
uint8_t server_byte(size_t at);

/* A CA; its certificate as PEM in pem[cap]. */
struct server_ca {
	EVP_PKEY *key;
	X509 *cert;
};
void server_ca_new(struct server_ca *, char *pem, size_t cap);
/* For the name, valid from..to seconds from now. rsa: and TLS 1.2 only. */
SSL_CTX *server_ctx(const struct server_ca *, const char *name, long from,
    long to, bool rsa);

#endif
