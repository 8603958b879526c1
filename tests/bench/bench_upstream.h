/* SPDX-License-Identifier: ISC */
/* Connections and counters of bench_upstream. */
#ifndef BENCH_UPSTREAM_H
#define BENCH_UPSTREAM_H

#include <sys/queue.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/ssl.h>

#define UP_MAX_HEAD 16384U
#define UP_MAX_PEEK 256U /* start of a body, to find the mode */
#define UP_MAX_OUT 32768U
#define UP_ANSWER 330

struct conn {
	TAILQ_ENTRY(conn) entry; /* in the list of those sending events */
	int fd;
	SSL *ssl;
	bool shaken, refuse, streaming;
	char in[UP_MAX_HEAD];
	size_t have;
	uint64_t body; /* still to come, once a head was read */
	bool headed;
	char peek[UP_MAX_PEEK + 1];
	size_t peeked;
	char out[UP_MAX_OUT];
	size_t out_at, out_len;
	uint64_t bytes;         /* still to send */
	uint64_t events, every; /* still to send; interval in ns */
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

/* bench_upstream_http.c: each returns 0, or -1 if the connection ends */
/* Read and answer the input. */
int up_read(struct conn *);
/* Continue a bulk answer, as long as the socket accepts data. */
int up_bulk(struct conn *);
/* Send one event; the last one ends the answer. */
int up_event(struct conn *);

#endif
