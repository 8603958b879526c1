/* SPDX-License-Identifier: ISC */
/* OpenSSL for connections to servers: what all of them have in common. */
#ifndef TLS_CLIENT_H
#define TLS_CLIENT_H

#include <openssl/ssl.h>

/*
 * Before confinement: do what OpenSSL and libc open or ask once, without a
 * configuration file, engines or anything from the environment. Returns 0, or
 * -1 if OpenSSL failed.
 */
int tls_client_init(void);
/*
 * Returns a context with the versions and suites of all connections, which asks
 * for the one protocol `alpn`, its length before it; or NULL.
 */
SSL_CTX *tls_client_context(const char *alpn);

#endif
