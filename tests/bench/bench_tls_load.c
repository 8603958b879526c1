/* SPDX-License-Identifier: ISC */
/*
 * Load for the model path: over a Unix socket with CONNECT, or to a port, with
 * CONNECT if its port is given.
 *
 * Modes: post (closed loop on kept-alive connections), new (a connection for
 * each request), sse (time from writing an event to reading it), bulk (one
 * large answer), hold (streams that stay open until stdin closes). Prints one
 * line of JSON.
 */
#include "bench_tls.h"

#include <sys/epoll.h>

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>

#define LOAD_MAX_CONNS 1024U

static struct {
	struct tls_target target;
	uint16_t connect; /* port in CONNECT; 0: 443, if any */
	const char *mode, *pids, *key, *ca, *path;
	unsigned nconns;
	size_t body;
	uint64_t warm_ns, run_ns;
	uint64_t count;    /* number of events, or bytes */
	uint64_t every_us; /* between events */
	int ep;
	struct tls_conn *conns;
	struct bench_samples samples;
	uint64_t begin, from, until;
	uint64_t answered, errors;
	uint64_t first_us; /* from the request to the first event */
	uint64_t cpu, own;
} load;

static void
load_from(void)
{
	load.cpu = bench_cpu_of(load.pids);
	load.own = bench_cpu_own();
	load.from = bench_now();
}

/* ---- requests --------------------------------------------------------- */

static void
load_compose(void)
{
	char *body, head[1024], port[8] = "";
	int n, k;

	if ((body = calloc(1, load.body + 512)) == NULL)
		err(1, "body");
	k = snprintf(body, 512, "{\"model\":\"bench\",");
	if (strcmp(load.mode, "sse") == 0 || strcmp(load.mode, "hold") == 0)
		k += snprintf(body + k, 256,
		    "\"stream\":true,"
		    "\"events\":%llu,\"every_us\":%llu,",
		    (unsigned long long)load.count,
		    (unsigned long long)load.every_us);
	if (strcmp(load.mode, "bulk") == 0)
		k += snprintf(body + k, 256, "\"bytes\":%llu,",
		    (unsigned long long)load.count);
	k += snprintf(body + k, 256,
	    "\"messages\":[{\"role\":\"user\","
	    "\"content\":\"");
	if (load.body < (size_t)k + 4)
		load.body = (size_t)k + 4;
	memset(body + k, 'a', load.body - (size_t)k - 4);
	memcpy(body + load.body - 4, "\"}]}", 4);
	if (load.connect != 0)
		snprintf(port, sizeof(port), ":%u", load.connect);
	n = snprintf(head, sizeof(head),
	    "POST %s HTTP/1.1\r\nhost: %s%s\r\n"
	    "content-type: application/json\r\naccept: application/json\r\n"
	    "user-agent: bench/1\r\nanthropic-version: 2023-06-01\r\n"
	    "x-api-key: %s\r\ncontent-length: %zu\r\n\r\n",
	    load.path, load.target.host, port, load.key, load.body);
	if (n < 0 || (size_t)n >= sizeof(head))
		errx(64, "too long a key");
	load.target.request_len = (size_t)n + load.body;
	if ((load.target.request = malloc(load.target.request_len)) == NULL)
		err(1, "request");
	memcpy(load.target.request, head, (size_t)n);
	memcpy(load.target.request + n, body, load.body);
	free(body);
	if (load.target.unix_path == NULL && load.connect == 0)
		return;
	if (load.connect == 0)
		load.connect = 443;
	n = snprintf(load.target.connect, sizeof(load.target.connect),
	    "CONNECT %s:%u HTTP/1.1\r\nHost: %s:%u\r\n\r\n", load.target.host,
	    load.connect, load.target.host, load.connect);
	load.target.connect_len = (size_t)n;
}

/* Keep the latest session for the connections that follow. */
static int
load_session(SSL *ssl, SSL_SESSION *session)
{
	struct tls_target *t = SSL_get_app_data(ssl);

	SSL_SESSION_free(t->session);
	t->session = session;
	return 1;
}

static SSL_CTX *
load_ctx(void)
{
	SSL_CTX *ctx;

	if ((ctx = SSL_CTX_new(TLS_client_method())) == NULL ||
	    SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_load_verify_locations(ctx, load.ca, NULL) != 1)
		errx(1, "%s: %s", load.ca,
		    ERR_error_string(ERR_get_error(), NULL));
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_session_cache_mode(ctx,
	    load.target.resumes
		? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL
		: SSL_SESS_CACHE_OFF);
	SSL_CTX_sess_set_new_cb(ctx, load_session);
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
				  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	return ctx;
}

/* ---- answers ---------------------------------------------------------- */

static void
load_event(struct tls_conn *c, uint64_t written)
{
	uint64_t now = bench_now();

	if (c->events == 1) {
		load.first_us = (now - c->begun) / 1000;
		if (load.from == 0 && strcmp(load.mode, "sse") == 0)
			load_from();
		return;
	}
	bench_samples_add(&load.samples, now - written);
}

/* Count a complete answer, and send the next request if the mode does so. */
static void
load_done(struct tls_conn *c)
{
	uint64_t now = bench_now();

	if (c->status != 200)
		load.errors++;
	if (load.from != 0) {
		load.answered++;
		if (c->begun >= load.from && c->event == NULL)
			bench_samples_add(&load.samples, now - c->begun);
	}
	if (strcmp(load.mode, "post") == 0) {
		tls_again(c);
	} else if (strcmp(load.mode, "new") == 0) {
		tls_close(c);
		tls_open(c, &load.target, load.ep);
	} else {
		load.until = now;
	}
}

static void
load_clock(void)
{
	uint64_t now = bench_now();

	if (load.from == 0 && load.run_ns != 0 &&
	    now - load.begin >= load.warm_ns)
		load_from();
	else if (load.from != 0 && load.run_ns != 0 &&
		 now - load.from >= load.run_ns)
		load.until = now;
}

static void
load_ready(struct tls_conn *c)
{
	while (load.until == 0 && tls_step(c) == 1) {
		load_done(c);
		load_clock();
	}
}

static void
load_loop(void)
{
	struct epoll_event evs[64];
	int n;

	load.begin = bench_now();
	while (load.until == 0) {
		if ((n = epoll_wait(load.ep, evs, 64, 30000)) == -1)
			err(1, "epoll_wait");
		if (n == 0)
			errx(1, "30 s without an answer");
		for (int i = 0; i < n && load.until == 0; i++)
			load_ready(evs[i].data.ptr);
		if (load.until == 0)
			load_clock();
	}
}

/* Keep streams open, and read them, until stdin closes. */
static void
load_hold(void)
{
	struct epoll_event evs[64], ev = {.events = EPOLLIN};
	unsigned open = 0;
	bool said = false;
	int n;

	ev.data.ptr = NULL;
	if (epoll_ctl(load.ep, EPOLL_CTL_ADD, STDIN_FILENO, &ev) == -1)
		err(1, "stdin must be a pipe");
	for (;;) {
		if ((n = epoll_wait(load.ep, evs, 64, 30000)) <= 0)
			errx(1, "%u of %u streams are open", open, load.nconns);
		for (int i = 0; i < n; i++) {
			struct tls_conn *c = evs[i].data.ptr;
			uint64_t before;

			if (c == NULL)
				return;
			before = c->events;
			if (tls_step(c) == 1)
				errx(1, "a stream ended: status %u", c->status);
			open += before == 0 && c->events != 0;
		}
		if (open == load.nconns && !said) {
			printf("{\"open\":%u}\n", open);
			fflush(stdout);
			said = true;
		}
	}
}

/* ---- command line and report ------------------------------------------ */

static void
load_report(void)
{
	double s = (double)(load.until - load.from) / 1e9;
	double cpu = (double)(bench_cpu_of(load.pids) - load.cpu);
	double own = (double)(bench_cpu_own() - load.own);
	double n = load.answered == 0 ? 1 : (double)load.answered;
	double bytes = (double)load.conns[0].bytes;

	if (strcmp(load.mode, "sse") == 0)
		n = load.samples.n == 0 ? 1 : (double)load.samples.n;
	printf("{\"n\":%.0f,\"errors\":%llu,\"p50_us\":%.1f,\"p99_us\":%.1f,"
	       "\"rate\":%.0f,\"cpu_us\":%.2f,\"client_cpu_us\":%.2f",
	    n, (unsigned long long)load.errors,
	    bench_samples_us(&load.samples, .5),
	    bench_samples_us(&load.samples, .99), n / s, cpu / n / 1000,
	    own / n / 1000);
	if (strcmp(load.mode, "sse") == 0)
		printf(",\"first_us\":%llu", (unsigned long long)load.first_us);
	if (strcmp(load.mode, "bulk") == 0)
		printf(",\"bytes\":%.0f,\"mb_s\":%.0f,\"ns_byte\":%.3f", bytes,
		    bytes / s / 1e6, cpu / bytes);
	printf("}\n");
}

static const struct option load_options[] = {
    {"unix", required_argument, NULL, 'u'},
    {"port", required_argument, NULL, 'p'},
    {"connect", required_argument, NULL, 'C'},
    {"host", required_argument, NULL, 'h'},
    {"ca", required_argument, NULL, 'a'},
    {"key", required_argument, NULL, 'k'},
    {"path", required_argument, NULL, 'P'},
    {"mode", required_argument, NULL, 'm'},
    {"conns", required_argument, NULL, 'n'},
    {"body", required_argument, NULL, 'b'},
    {"count", required_argument, NULL, 'N'},
    {"every-us", required_argument, NULL, 'e'},
    {"warm-ms", required_argument, NULL, 'w'},
    {"run-ms", required_argument, NULL, 'r'},
    {"cpu-of", required_argument, NULL, 'c'},
    {"resume", no_argument, NULL, 'R'},
    {NULL, 0, NULL, 0},
};

static void
load_option(int opt, const char *s)
{
	switch (opt) {
	case 'u':
		load.target.unix_path = s;
		return;
	case 'p':
		load.target.port = (uint16_t)bench_number("port", s, 65535);
		return;
	case 'C':
		load.connect = (uint16_t)bench_number("connect", s, 65535);
		return;
	case 'h':
		load.target.host = s;
		return;
	case 'a':
		load.ca = s;
		return;
	case 'k':
		load.key = s;
		return;
	case 'P':
		load.path = s;
		return;
	case 'm':
		load.mode = s;
		return;
	case 'n':
		load.nconns =
		    (unsigned)bench_number("conns", s, LOAD_MAX_CONNS);
		return;
	case 'b':
		load.body = bench_number("body", s, 16U << 20);
		return;
	case 'N':
		load.count = bench_number("count", s, UINT32_MAX);
		return;
	case 'e':
		load.every_us = bench_number("every-us", s, UINT32_MAX);
		return;
	case 'w':
		load.warm_ns = bench_number("warm-ms", s, 1000000) * 1000000;
		return;
	case 'r':
		load.run_ns = bench_number("run-ms", s, 1000000) * 1000000;
		return;
	case 'c':
		load.pids = s;
		return;
	case 'R':
		load.target.resumes = true;
		return;
	default:
		exit(64);
	}
}

int
main(int argc, char **argv)
{
	int opt;

	load.mode = "post";
	load.nconns = 1;
	load.body = 200;
	load.path = "/v1/messages";
	while ((opt = getopt_long(argc, argv, "", load_options, NULL)) != -1)
		load_option(opt, optarg);
	if (load.ca == NULL || load.key == NULL || load.target.host == NULL ||
	    optind != argc)
		errx(64, "usage: bench_tls_load --unix PATH | --port N "
			 "[--connect N] --host NAME --ca FILE --key KEY "
			 "[--mode MODE] ...");
	signal(SIGPIPE, SIG_IGN);
	if (load.run_ns == 0 &&
	    (strcmp(load.mode, "post") == 0 || strcmp(load.mode, "new") == 0))
		load.run_ns = 1500000000;
	load_compose();
	load.target.ctx = load_ctx();
	bench_samples_init(&load.samples);
	if ((load.ep = epoll_create1(EPOLL_CLOEXEC)) == -1 ||
	    (load.conns = calloc(load.nconns, sizeof(*load.conns))) == NULL)
		err(1, "connections");
	for (unsigned i = 0; i < load.nconns; i++) {
		if (strcmp(load.mode, "sse") == 0 ||
		    strcmp(load.mode, "hold") == 0)
			load.conns[i].event = load_event;
		tls_open(&load.conns[i], &load.target, load.ep);
	}
	if (strcmp(load.mode, "hold") == 0) {
		load_hold();
		return 0;
	}
	if (strcmp(load.mode, "bulk") == 0)
		load_from();
	load_loop();
	load_report();
	bench_samples_free(&load.samples);
	return 0;
}
