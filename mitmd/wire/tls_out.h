/* SPDX-License-Identifier: ISC */
/*
 * Writing TLS records to a socket. OpenSSL writes every record by itself; here
 * records that directly follow each other are sent together, which saves most
 * of the wake-ups at the other end. A TCP socket is told that more follows, and
 * the kernel combines them. A Unix socket cannot do that: for it they are
 * collected here, in a buffer that all connections share, and sent with one
 * call; a part that the socket does not take waits with its connection.
 */
#ifndef TLS_OUT_H
#define TLS_OUT_H

#include <openssl/ssl.h>

#include "common/buf.h"

struct tls_out {
	int fd;
	bool collect;    /* collect records here */
	bool follows;    /* more is written directly after this record */
	struct buf rest; /* records that the socket has not taken yet */
};

/* Prepare, before confinement. Returns 0, or -1 if OpenSSL failed. */
int tls_out_init(void);
/*
 * Set both directions of the connection. `fd` stays the caller's, and `out`
 * must live as long as the connection, until tls_out_free(). `collect` is for
 * Unix sockets. Returns 0, or -1 if OpenSSL failed.
 */
int tls_out_attach(SSL *, struct tls_out *out, int fd, bool collect);
void tls_out_free(struct tls_out *);
/*
 * Write bytes, of which `*n` were taken. Returns 1 if that is all or a part of
 * them; otherwise what SSL_write_ex() returned. After a part, the caller must
 * either go on with the rest, or keep it and go on once the socket is writable.
 * Bytes that were taken may still wait here.
 */
int tls_out_write(
    SSL *, struct tls_out *, const uint8_t *p, size_t len, size_t *n);
/*
 * Send what waits here, when the socket is writable. Returns 0, or -1 if the
 * connection is broken.
 */
int tls_out_flush(struct tls_out *);
/* Returns true if something waits here for the socket. */
bool tls_out_waits(const struct tls_out *);

#endif
