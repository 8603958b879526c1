/* SPDX-License-Identifier: ISC */
/*
 * TLS towards the agent: the contexts of a session's hosts, and the bytes of a
 * connection.
 */
#ifndef MITMD_TLS_H
#define MITMD_TLS_H

#include "mitmd.h"

/* SHA-256 without looking the algorithm up each time. */
void mitmd_sha256(struct span, uint8_t out[32]);
/* All that OpenSSL loads and opens, before lock-down. */
void mitmd_warm(void);
/*
 * NULL when OpenSSL fails. host lives as long as the context. http1: nothing
 * else is offered.
 */
SSL_CTX *mitmd_tls_ctx(
    const struct mitmd_leaf *, const struct span *host, bool http1);
int mitmd_tls_begin(struct agent *);
/* 1: done, 0: not yet, -1: failed. */
int mitmd_tls_handshake(struct agent *);
/* What the handshake agreed on. */
bool mitmd_tls_is_h2(const struct agent *);
/* Bytes read, 0: none now, -1: closed or broken. */
ssize_t mitmd_tls_read(struct agent *, uint8_t *, size_t);
/* For the agent: written, or queued. -1: broken, or it takes nothing. */
int mitmd_tls_put(struct agent *, struct span);
/* What was composed in a turn's buffer, which is empty then. */
int mitmd_tls_put_buf(struct agent *, struct buf *);
int mitmd_tls_flush(struct agent *);
const char *mitmd_tls_error(void);

#endif
