/* SPDX-License-Identifier: ISC */
/*
 * ic-asker: sends one request through a session's mitm-proxy.sock, as an agent
 * would, and prints the status of the answer. `icctl doctor --check-api` starts
 * it, because icctl itself has no TLS. It gets the connected socket and the
 * session's certificate as descriptors, and the request, whose key is the
 * placeholder, on standard input. It holds no secret, and nothing of an answer
 * but the status leaves it; of a forge also a token's scopes, and names of
 * repositories.
 */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/confine/confine.h"
#include "common/log.h"
#include "workers/asker/asker.h"
#include "workers/asker/list.h"

#define ASKER_MAX_CERT 65536U
#define ASKER_MAX_HEAD 8192U

/* clang-format off */
static const enum pledge_promise asker_promises[] = {
	PLEDGE_STDIO,		/* the socket, and one line of output */
};

static const struct confine asker_confine = {
	.limits = {
		.nofile = 16,
		.fsize = 0,
		.data = 64U << 20,	/* OpenSSL */
		.memlock = 0,
	},
	.pledge = {
		.promises = asker_promises,
		.npromises = nitems(asker_promises),
	},
};
/* clang-format on */

/* Print the result, and exit. */
static void __attribute__((noreturn, format(printf, 1, 2)))
asker_end(const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text) - 1, fmt, ap);
	va_end(ap);
	if (n < 0)
		_exit(1);
	if ((size_t)n > sizeof(text) - 2)
		n = (int)sizeof(text) - 2;
	text[n++] = '\n';
	_exit(write(STDOUT_FILENO, text, (size_t)n) == n ? 0 : 1);
}

/* Read until the end, or until `cap` is full. Returns the length. */
static size_t
asker_read(int fd, char *dst, size_t cap)
{
	size_t len = 0;
	ssize_t n;

	while (len < cap) {
		if ((n = read(fd, dst + len, cap - len)) == -1 &&
		    errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	return len;
}

/* Make the context: no configuration file, and only the session's CA. */
static SSL_CTX *
asker_context(void)
{
	static char pem[ASKER_MAX_CERT];
	time_t now = time(NULL);
	SSL_CTX *ctx = NULL;
	X509 *x = NULL;
	uint8_t seed[16];
	struct tm tm;
	BIO *bio;
	size_t n;

	/* libc and OpenSSL read files on first use: before confinement. */
	(void)gmtime_r(&now, &tm);
	(void)localtime_r(&now, &tm);
	n = asker_read(ASKER_FD_CA, pem, sizeof(pem));
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG |
				 OPENSSL_INIT_LOAD_SSL_STRINGS |
				 OPENSSL_INIT_LOAD_CRYPTO_STRINGS,
		NULL) != 1 ||
	    RAND_bytes(seed, sizeof(seed)) != 1 ||
	    (ctx = SSL_CTX_new(TLS_client_method())) == NULL ||
	    (bio = BIO_new_mem_buf(pem, (int)n)) == NULL)
		fatalx("OpenSSL does not start");
	x = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	BIO_free(bio);
	if (x == NULL ||
	    X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), x) != 1)
		fatalx("no certificate of a session");
	X509_free(x);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	return ctx;
}

/* Returns the status of an answer's first line, or 0. */
static unsigned
asker_status(const char *head)
{
	unsigned status = 0;

	return sscanf(head, "HTTP/1.1 %3u", &status) == 1 && status < 600
		   ? status
		   : 0;
}

/* Open the tunnel to `host`. The answer ends with the first empty line. */
static void
asker_connect(const char *host)
{
	char text[1024];
	size_t len = 0;
	unsigned status;
	int n;

	n = snprintf(text, sizeof(text),
	    "CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n", host, host);
	if (n < 0 || (size_t)n >= sizeof(text) ||
	    write(ASKER_FD_PROXY, text, (size_t)n) != n)
		asker_end("failed the session does not take the request");
	/* One byte at a time: what follows is TLS. */
	while (len < 4 || memcmp(text + len - 4, "\r\n\r\n", 4) != 0) {
		if (len == sizeof(text) - 1 ||
		    read(ASKER_FD_PROXY, text + len, 1) != 1)
			asker_end("failed the session closed the connection");
		len++;
	}
	text[len] = '\0';
	if ((status = asker_status(text)) != 200)
		asker_end("failed the session does not let %s through "
			  "(status %u)",
		    host, status);
}

static void
asker_write(struct span s)
{
	if (span_write(STDOUT_FILENO, s) == -1)
		_exit(1);
}

/* Send a request, and write what the whole answer says. Returns its status. */
static unsigned
asker_page(SSL *ssl, struct span request, struct list_page *page)
{
	static uint8_t answer[LIST_MAX_ANSWER];
	struct buf lines;
	unsigned status;
	size_t have = 0;
	int n;

	*page = (struct list_page){.n = 0};
	if (SSL_write(ssl, request.p, (int)request.len) != (int)request.len)
		return 0;
	do {
		n = SSL_read(
		    ssl, answer + have, (int)(sizeof(answer) - 1 - have));
		have += n > 0 ? (size_t)n : 0;
	} while (n > 0 && have < sizeof(answer) - 1 &&
		 !list_complete(span_of(answer, have)));
	answer[have] = '\0';
	status = asker_status((const char *)answer);
	if (status != 200)
		return status;
	buf_init(&lines, LIST_MAX_NAMES * 256 + 1024);
	if (list_read(span_of(answer, have), &lines, page) == -1)
		asker_end("failed the answer is no list of repositories");
	asker_write(buf_span(&lines));
	buf_free(&lines);
	return status;
}

/* Send one request after the other, until a page is the last one. */
static void __attribute__((noreturn))
asker_list(SSL *ssl, struct span requests, unsigned limit)
{
	struct list_page page;
	unsigned status = 0, seen = 0, now;
	const uint8_t *end;
	bool more = true;
	size_t len;

	while (more && (end = memmem(requests.p, requests.len, "\r\n\r\n",
			    4)) != NULL) {
		len = (size_t)(end - requests.p) + 4;
		now = asker_page(ssl, span_of(requests.p, len), &page);
		requests = span_of(requests.p + len, requests.len - len);
		if (status == 0 && (status = now) == 0)
			asker_end("failed the answer has no status");
		seen += page.n;
		more = page.more || page.n >= limit || seen < page.total;
		/* The pages before one that fails are known all the same. */
		if (now != 200) {
			more = status == 200;
			break;
		}
	}
	if (more)
		asker_write(SPAN("rest\n"));
	asker_end("status %u", status);
}

/* Send the request, and read the first line of the answer. */
static void __attribute__((noreturn))
asker_ask(SSL *ssl, const char *request, size_t len)
{
	char head[ASKER_MAX_HEAD];
	size_t have = 0;
	unsigned status;
	int n;

	if (SSL_write(ssl, request, (int)len) != (int)len)
		asker_end("failed the session closed the connection");
	while (memchr(head, '\n', have) == NULL) {
		n = SSL_read(ssl, head + have, (int)(sizeof(head) - 1 - have));
		if (n <= 0)
			asker_end("failed the session closed the connection");
		have += (size_t)n;
	}
	head[have] = '\0';
	if ((status = asker_status(head)) == 0)
		asker_end("failed the answer has no status");
	asker_end("status %u", status);
}

int
main(void)
{
	static char input[ASKER_MAX_INPUT + 1];
	struct confine_state state;
	char *host = input, *request, *mode;
	unsigned limit;
	SSL_CTX *ctx;
	SSL *ssl;
	size_t len;

	confine_early();
	ctx = asker_context();
	if (confine_apply(&asker_confine, &state) == -1)
		fatalx("not confined");
	len = asker_read(STDIN_FILENO, input, ASKER_MAX_INPUT);
	if ((request = memchr(input, '\n', len)) == NULL)
		fatalx("no request");
	*request++ = '\0';
	if ((mode = strchr(host, ' ')) != NULL)
		*mode++ = '\0';
	if ((ssl = SSL_new(ctx)) == NULL || SSL_set1_host(ssl, host) != 1 ||
	    SSL_set_tlsext_host_name(ssl, host) != 1 ||
	    SSL_set_fd(ssl, ASKER_FD_PROXY) != 1)
		fatalx("OpenSSL does not start");
	asker_connect(host);
	if (SSL_connect(ssl) != 1)
		asker_end("failed no TLS with the session");
	len -= (size_t)(request - input);
	if (mode != NULL && sscanf(mode, "list %3u", &limit) == 1)
		asker_list(ssl, span_of(request, len), limit);
	asker_ask(ssl, request, len);
}
