/* SPDX-License-Identifier: ISC */
/*
 * Connections of bench_tls_load: a non-blocking client that sends one request
 * after another and reads the answers.
 */
#ifndef BENCH_TLS_H
#define BENCH_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/ssl.h>

#include "bench.h"

#define TLS_MAX_HEAD 16384U
#define TLS_MAX_LINE 512U

enum tls_phase {
	TLS_CONNECT, /* waiting for the answer to CONNECT */
	TLS_SHAKE,
	TLS_SEND,
	TLS_HEAD,
	TLS_BODY,
	TLS_IDLE,
};

enum tls_chunk {
	CHUNK_SIZE,
	CHUNK_DATA,
	CHUNK_END, /* line end after the data */
	CHUNK_TRAILER,
};

/* The address and the request of all connections. */
struct tls_target {
	const char *unix_path; /* NULL: port on 127.0.0.1 */
	uint16_t port;
	const char *host;
	SSL_CTX *ctx;
	bool resumes;         /* connections resume the latest session */
	SSL_SESSION *session; /* the latest one */
	char connect[512];
	size_t connect_len; /* 0: no CONNECT */
	char *request;
	size_t request_len;
};

struct tls_conn {
	struct tls_target *target;
	int fd, epoll_fd;
	bool wants_write; /* EPOLLOUT */
	SSL *ssl;
	enum tls_phase phase;
	size_t sent;
	char in[TLS_MAX_HEAD];
	size_t have;
	unsigned status;
	bool chunked;
	enum tls_chunk chunk;
	uint64_t left, digits; /* remaining bytes of the body or chunk */
	uint64_t bytes;        /* bytes of the body so far */
	uint64_t begun;
	char line[TLS_MAX_LINE]; /* line of an event stream */
	size_t line_len;
	/* Called with the time in each event; may be NULL. */
	void (*event)(struct tls_conn *, uint64_t written);
	uint64_t events;
};

/*
 * Open a connection, and send CONNECT if configured. Exits on failure. The
 * connection sends its request as soon as it can.
 */
void tls_open(struct tls_conn *, struct tls_target *, int epoll_fd);
void tls_close(struct tls_conn *);
/* Send the next request, after an answer is complete. */
void tls_again(struct tls_conn *);
/*
 * Continue as far as possible. Returns 1 once an answer is complete, else 0.
 * Exits with the reason if the connection fails.
 */
int tls_step(struct tls_conn *);

#endif
