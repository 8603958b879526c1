/* SPDX-License-Identifier: ISC */
/*
 * TLS on the agent's side: the contexts of a session's hosts, and reading and
 * writing of a connection.
 */
#ifndef MITMD_TLS_H
#define MITMD_TLS_H

#include "mitmd.h"

/* Compute SHA-256 without looking the algorithm up each time. */
void mitmd_sha256(struct span, uint8_t out[32]);
/* Make OpenSSL load and open everything it needs, before confinement. */
void mitmd_warm(void);
/*
 * Perform a handshake in memory, so that OpenSSL has fetched all algorithms
 * when the agent begins its first one. Nothing waits for this at START.
 */
void mitmd_tls_rehearse(void);
/*
 * Create a context. `host` must live as long as the context. If `http1`, HTTP/2
 * is not offered. Returns NULL if OpenSSL failed.
 */
SSL_CTX *mitmd_tls_ctx(
    const struct mitmd_leaf *, const struct span *host, bool http1);
int mitmd_tls_begin(struct agent *);
/* Returns 1 if done, 0 if not yet, -1 if it failed. */
int mitmd_tls_handshake(struct agent *);
/* Returns true if the handshake chose HTTP/2. */
bool mitmd_tls_is_h2(const struct agent *);
/*
 * Returns the number of bytes read, 0 if there are none now, -1 if closed or
 * broken.
 */
ssize_t mitmd_tls_read(struct agent *, uint8_t *, size_t);
const char *mitmd_tls_error(void);

/* mitmd/tls_send.c */
/* Prepare, before confinement. Returns 0, or -1 if OpenSSL failed. */
int mitmd_tls_send_init(void);
/* Connect a->ssl to the socket. Returns 0, or -1 if OpenSSL failed. */
int mitmd_tls_attach(struct agent *);
/*
 * Write to the agent, or queue. Returns 0, or -1 if the connection is broken or
 * the queue full.
 */
int mitmd_tls_put(struct agent *, struct span);
/* Write a turn's buffer, and empty it. */
int mitmd_tls_put_buf(struct agent *, struct buf *);
/*
 * The same in two steps: mitmd_tls_add() encrypts, and mitmd_tls_push() sends
 * or queues. Another connection's mitmd_tls_add() and the end of this one push,
 * too.
 */
int mitmd_tls_add(struct agent *, struct span);
int mitmd_tls_push(struct agent *);
/* Write the queue. Returns 0, or -1 if the connection is broken. */
int mitmd_tls_flush(struct agent *);

#endif
