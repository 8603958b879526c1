/* SPDX-License-Identifier: ISC */
/*
 * How the process that ends TLS for pgkeyd uses OpenSSL: versions and suites,
 * roots, and the hash to which a login is bound.
 */
#ifndef TLS_CONTEXT_H
#define TLS_CONTEXT_H

#include <openssl/ssl.h>

#include "common/span.h"
#include "pgkeyd/tls_link.h"

/*
 * Before confinement: do what OpenSSL and libc open or ask once. Returns the
 * context of all connections.
 */
SSL_CTX *tls_context_warm(void);
/* From now on a server's certificate must be from one of these, or be one. */
void tls_context_roots(SSL_CTX *, struct span pem);
/*
 * Write the hash of the server's certificate by RFC 5929, 4.1. Returns its
 * length, or 0 if none is defined.
 */
unsigned tls_context_hash(const SSL *, uint8_t hash[TLS_LINK_HASH]);

#endif
