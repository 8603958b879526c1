/* SPDX-License-Identifier: ISC */
/*
 * The socket between pgkeyd and the process that ends TLS for it: messages of a
 * fixed form, each with at most one descriptor. Both ends are of one program
 * and one fork; the protocol of workers has no part in it.
 */
#ifndef TLS_LINK_H
#define TLS_LINK_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#define TLS_LINK_PIECE 16384U
#define TLS_LINK_HASH 64U
#define TLS_LINK_WHY 200U
/* As worker names are, and /proc shows it. */
#define TLS_END_NAME "pgkeyd-tls"

/* Make TLS of the connection that comes with it; id 0: a piece of roots. */
struct tls_link_ask {
	uint32_t id;
	uint32_t npem;
	char pem[TLS_LINK_PIECE]; /* sent as far as it is filled */
};

/* The outcome: a socket comes with it, or `why` says why there is none. */
struct tls_link_told {
	uint32_t id;
	uint32_t nhash;
	uint8_t
	    hash[TLS_LINK_HASH]; /* the certificate's, for channel binding */
	char why[TLS_LINK_WHY];
};

/* Send, with `fd` unless that is -1. Returns 0, or -1. */
int tls_link_send(int link, const void *, size_t, int fd);
/*
 * Receive without waiting. `*fd` is the descriptor that came with it, or -1.
 * Returns like recv(2).
 */
ssize_t tls_link_receive(int link, void *, size_t, int *fd);

#endif
