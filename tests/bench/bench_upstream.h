/* SPDX-License-Identifier: ISC */
/* Inside bench_upstream: one struct conn per connection, and the counts. */
#ifndef BENCH_UPSTREAM_H
#define BENCH_UPSTREAM_H

#include <sys/queue.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/ssl.h>

#define UP_MAX_HEAD 16384U
#define UP_MAX_PEEK 256U /* of a body, to see what is asked for */
#define UP_MAX_OUT 32768U
#define UP_ANSWER 330

struct conn {
	TAILQ_ENTRY(conn) entry; /* of those that send events */
	int fd;
	SSL *ssl;
	bool shaken, refuse, streaming;
	char in[UP_MAX_HEAD];
	size_t have;
	uint64_t body; /* still to come; only with a head read */
	bool headed;
	char peek[UP_MAX_PEEK + 1];
	size_t peeked;
	char out[UP_MAX_OUT];
	size_t out_at, out_len;
	uint64_t bytes;         /* still to send */
	uint64_t events, every; /* still to send; ns */
	uint64_t due;
};

struct up {
	int ep;
	SSL_CTX *ctx;
	const char *key;
	TAILQ_HEAD(, conn) streams;
	uint64_t connections, resumed, requests, accepted, refused, dropped;
	char answer[UP_ANSWER + 1];
	char filler[16384];
};

extern struct up up;

/* bench_upstream_http.c: each 0, or -1 when the connection ends */
/* Reads and answers what has come in. */
int up_read(struct conn *);
/* Sends what a bulk answer still owes, as long as the socket takes it. */
int up_bulk(struct conn *);
/* Sends one event, the last with the end of the answer. */
int up_event(struct conn *);

#endif
