/* SPDX-License-Identifier: ISC */
/*
 * Writing TLS records to a socket. OpenSSL writes every record by itself; here
 * the kernel combines records that directly follow each other into large
 * segments, which saves most of the wake-ups at the other end.
 */
#ifndef TLS_OUT_H
#define TLS_OUT_H

#include <openssl/ssl.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tls_out {
	int fd;
	bool follows; /* more is written directly after this record */
	bool more; /* set by the caller: its next call follows at once */
};

/* Prepare, before confinement. Returns 0, or -1 if OpenSSL failed. */
int tls_out_init(void);
/*
 * Set both directions of the connection. `fd` stays the caller's, and `out`
 * must live as long as the connection. Returns 0, or -1 if OpenSSL failed.
 */
int tls_out_attach(SSL *, struct tls_out *out, int fd);
/*
 * Write a part of `len` bytes, of which `*n` were taken. Returns what
 * SSL_write_ex() returns. If that is 1 and bytes are left, the caller must go
 * on at once, until all are taken or SSL_write_ex() has failed.
 */
int tls_out_write(
    SSL *, struct tls_out *, const uint8_t *p, size_t len, size_t *n);

#endif
