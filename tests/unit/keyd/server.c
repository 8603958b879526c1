/* SPDX-License-Identifier: ISC */
/* The test's provider, in blocking code. It dies with the test. */
#include "unit/keyd/server.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"
#include "tls_end.h"

unsigned server_ends_first;

struct conn {
	int fd;
	SSL *ssl;
	unsigned number;
	int log;
	char in[1 << 16];
	size_t len;
};

uint64_t
server_sum(uint64_t sum, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum = (sum ^ p[i]) * 0x100000001b3ULL;
	return sum;
}

uint8_t
server_byte(size_t at)
{
	return (uint8_t)(at * 7 + at / 251);
}

static ssize_t
conn_read(struct conn *c, void *p, size_t n)
{
	if (c->ssl != NULL)
		return SSL_read(c->ssl, p, (int)n);
	return read(c->fd, p, n);
}

static void
conn_write(struct conn *c, const void *p, size_t n)
{
	ssize_t r;

	while (n > 0) {
		r = c->ssl != NULL ? SSL_write(c->ssl, p, (int)n)
				   : write(c->fd, p, n);
		if (r <= 0)
			_exit(0);
		p = (const char *)p + r;
		n -= (size_t)r;
	}
}

static void
conn_say(struct conn *c, const char *s)
{
	conn_write(c, s, strlen(s));
}

static void
conn_end(struct conn *c)
{
	if (c->ssl != NULL)
		SSL_shutdown(c->ssl);
	_exit(0);
}

/* Read the head into seen->head; bytes after it stay in c->in. */
static void
conn_head(struct conn *c, struct server_seen *seen)
{
	ssize_t n;
	char *end;

	while ((end = memmem(c->in, c->len, "\r\n\r\n", 4)) == NULL) {
		if (c->len == sizeof(c->in) ||
		    (n = conn_read(c, c->in + c->len,
		    sizeof(c->in) - c->len)) <= 0)
			_exit(0);
		c->len += (size_t)n;
	}
	seen->len = (size_t)(end + 4 - c->in);
	memcpy(seen->head, c->in, seen->len);
	seen->head[seen->len] = '\0';
	c->len -= seen->len;
	memmove(c->in, end + 4, c->len);
}

static void
conn_body(struct conn *c, struct server_seen *seen)
{
	const char *p = strstr(seen->head, "content-length: ");
	uint64_t left = p == NULL ? 0 : strtoull(p + 16, NULL, 10);
	ssize_t n;
	size_t k;

	seen->body = 0;
	seen->sum = 0;
	while (left > 0) {
		if (c->len == 0) {
			if ((n = conn_read(c, c->in, sizeof(c->in))) <= 0)
				break;
			c->len = (size_t)n;
		}
		k = c->len < left ? c->len : (size_t)left;
		seen->sum = server_sum(seen->sum, (uint8_t *)c->in, k);
		seen->body += k;
		left -= k;
		c->len -= k;
		memmove(c->in, c->in + k, c->len);
	}
	(void)send(c->log, seen, sizeof(*seen), MSG_NOSIGNAL);
}

static void
answer_big(struct conn *c)
{
	static uint8_t block[65536];
	size_t at = 0;

	conn_say(c, "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"
	    "content-length: 8388608\r\n\r\n");
	while (at < 8388608) {
		for (size_t i = 0; i < sizeof(block); i++)
			block[i] = server_byte(at + i);
		conn_write(c, block, sizeof(block));
		at += sizeof(block);
	}
}

/* Paths that are answered before the body is read, or without reading it. */
static bool
answer_early(struct conn *c, struct server_seen *seen, const char *what)
{
	if (strcmp(what, "early") == 0) {
		conn_say(c,
		    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nearly");
		conn_body(c, seen);
		return true;
	}
	if (strcmp(what, "slam") == 0) {
		conn_say(c, "HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n"
		    "connection: close\r\n\r\n");
		conn_end(c);
	}
	if (strcmp(what, "hang-up") == 0)
		conn_end(c);
	return false;
}

/* Wait until keyd closes: nothing else happens on this connection. */
static void
conn_wait(struct conn *c)
{
	char byte[256];

	while (read(c->fd, byte, sizeof(byte)) > 0)
		;
	_exit(0);
}

/*
 * HOW-FRAMING-SIZE: an answer and the end of the connection at once. Returns
 * false if that is another path.
 */
static bool
answer_end(struct conn *c, const char *what)
{
	static char text[1 << 19];
	char how[16], framing[16];
	unsigned size, n;
	size_t len;

	if (sscanf(what, "%15[a-z]-%15[a-z]-%u%n", how, framing, &size, &n) !=
		3 ||
	    what[n] != '\0' || size > sizeof(text) / 2)
		return false;
	len = (size_t)sprintf(text, "HTTP/1.1 200 OK\r\n");
	if (strcmp(framing, "length") == 0)
		len += (size_t)sprintf(
		    text + len, "content-length: %u\r\n\r\n", size);
	else if (strcmp(framing, "close") == 0)
		len += (size_t)sprintf(text + len, "\r\n");
	else
		len += (size_t)sprintf(text + len,
		    "transfer-encoding: chunked\r\n\r\n%x\r\n", size);
	for (size_t i = 0; i < size; i++)
		text[len++] = (char)server_byte(i);
	if (strcmp(framing, "chunks") == 0)
		len += (size_t)sprintf(text + len, "\r\n0\r\n\r\n");
	for (unsigned i = 0; i < TLS_ENDS; i++)
		if (strcmp(how, tls_end_names[i]) == 0)
			(void)tls_end_write(c->ssl, text, len, (enum tls_end)i);
	conn_wait(c);
	return true;
}

static const struct {
	const char *what, *text;
	bool close;
} answers[] = {
    {"chunked", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"
	"content-type: text/event-stream\r\nset-cookie: s=1\r\n"
	"transfer-encoding: chunked\r\n\r\n6\r\ndata: \r\n2\r\n\n\n\r\n"
	"0\r\nx-a-t: 1\r\n\r\n", false},
    {"until-close", "HTTP/1.1 200 OK\r\n\r\nbody", true},
    {"short", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nbody", true},
    {"redirect", "HTTP/1.1 302 Found\r\nlocation: https://evil.example/\r\n"
	"content-length: 0\r\n\r\n", false},
    {"gzip", "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n"
	"content-length: 2\r\n\r\nxx", false},
    {"refused", "HTTP/1.1 401 No\r\ncontent-length: 2\r\n\r\nno", false},
    {"error", "HTTP/1.1 500 Oops\r\ncontent-length: 2\r\n\r\nno", false},
    {"babble", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 "
	"OK\r\ncontent-length: 3\r\n\r\nbad", false},
};

static void
answer(struct conn *c, const struct server_seen *seen, const char *what)
{
	char text[16384];
	const char *key;

	for (size_t i = 0; i < nitems(answers); i++) {
		if (strcmp(what, answers[i].what) != 0)
			continue;
		conn_say(c, answers[i].text);
		if (answers[i].close)
			conn_end(c);
		return;
	}
	if (strcmp(what, "big") == 0) {
		answer_big(c);
		return;
	}
	if ((key = strstr(seen->head, "x-api-key: ")) == NULL)
		key = "x-api-key: none\r\n";
	key += 11;
	if (strcmp(what, "reflect") == 0) {
		snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\n"
		    "transfer-encoding: chunked\r\n\r\n"
		    "7\r\nbefore \r\n6\r\n%.6s\r\n%x\r\n%.*s\r\n0\r\n\r\n", key,
		    (unsigned)strcspn(key, "\r") - 6,
		    (int)strcspn(key, "\r") - 6,
		    key + 6);
	} else {
		snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\n"
		    "content-type: text/plain\r\nx-a-conn: %u\r\n"
		    "content-length: 2\r\n\r\nok", c->number);
	}
	conn_say(c, text);
	if (strcmp(what, "late") == 0) {
		struct pollfd never = {.fd = -1};

		(void)poll(&never, 1, 100);
		conn_say(c, "X");
	}
}

static void
conn_serve(struct conn *c)
{
	static struct server_seen seen;
	char path[256] = "", *what;

	for (;;) {
		conn_head(c, &seen);
		seen.conn = c->number;
		seen.resumed = c->ssl != NULL && SSL_session_reused(c->ssl);
		if (sscanf(seen.head, "%*s %255s", path) != 1)
			_exit(1);
		path[strcspn(path, "?")] = '\0';
		if ((what = strrchr(path, '/')) == NULL)
			_exit(1);
		if (answer_early(c, &seen, what + 1))
			continue;
		conn_body(c, &seen);
		if (!answer_end(c, what + 1))
			answer(c, &seen, what + 1);
	}
}

/*
 * Do the handshake. If so asked, the first connections end with the very
 * segment that ends their handshake.
 */
static void
server_accept(struct conn *c)
{
	bool ends = c->number <= server_ends_first;
	int on = 1, off = 0;

	if (ends)
		(void)setsockopt(c->fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
	if (SSL_accept(c->ssl) != 1)
		_exit(0);
	if (!ends)
		return;
	(void)SSL_shutdown(c->ssl);
	(void)setsockopt(c->fd, IPPROTO_TCP, TCP_CORK, &off, sizeof(off));
	conn_wait(c);
}

static void
server_run(int listener, SSL_CTX *ctx, int log)
{
	static struct conn c;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGCHLD, SIG_IGN);
	c.log = log;
	for (;;) {
		if ((c.fd = accept(listener, NULL, NULL)) == -1)
			continue;
		c.number++;
		if (fork() != 0) {
			close(c.fd);
			continue;
		}
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(listener);
		if (ctx != NULL) {
			c.ssl = SSL_new(ctx);
			SSL_set_fd(c.ssl, c.fd);
			server_accept(&c);
		}
		conn_serve(&c);
	}
}

void
server_start(struct server *s, SSL_CTX *ctx)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sin);
	int fd, pair[2];

	if ((fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1 ||
	    bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1 ||
	    listen(fd, 64) == -1 ||
	    getsockname(fd, (struct sockaddr *)&sin, &len) == -1 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == -1)
		err(1, "server");
	s->port = ntohs(sin.sin_port);
	if ((s->pid = fork()) == -1)
		err(1, "fork");
	if (s->pid == 0) {
		close(pair[0]);
		server_run(fd, ctx, pair[1]);
	}
	close(fd);
	close(pair[1]);
	s->log = pair[0];
}

void
server_stop(struct server *s)
{
	kill(s->pid, SIGKILL);
	(void)waitpid(s->pid, NULL, 0);
	close(s->log);
}

static void
cert_extend(X509 *x, X509 *issuer, int nid, const char *value)
{
	X509_EXTENSION *ext;
	X509V3_CTX ctx;

	X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
	if ((ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value)) == NULL)
		errx(1, "extension %s", value);
	X509_add_ext(x, ext, -1);
	X509_EXTENSION_free(ext);
}

static X509 *
cert_new(EVP_PKEY *key, const char *name, X509 *issuer, long from, long to)
{
	X509 *x = X509_new();
	X509_NAME *n = X509_get_subject_name(x);

	X509_set_version(x, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(x), issuer == NULL ? 1 : 2);
	X509_gmtime_adj(X509_getm_notBefore(x), from);
	X509_gmtime_adj(X509_getm_notAfter(x), to);
	X509_NAME_add_entry_by_txt(n, "CN", MBSTRING_ASC,
	    (const unsigned char *)name, -1, -1, 0);
	X509_set_issuer_name(x, issuer == NULL ? n
					       : X509_get_subject_name(issuer));
	X509_set_pubkey(x, key);
	return x;
}

void
server_ca_new(struct server_ca *ca, char *pem, size_t cap)
{
	BIO *bio = BIO_new(BIO_s_mem());
	int n;

	ca->key = EVP_EC_gen("P-256");
	ca->cert = cert_new(ca->key, "Test CA", NULL, -3600, 36000);
	cert_extend(ca->cert, ca->cert, NID_basic_constraints,
	    "critical,CA:TRUE");
	cert_extend(ca->cert, ca->cert, NID_key_usage, "critical,keyCertSign");
	X509_sign(ca->cert, ca->key, EVP_sha256());
	PEM_write_bio_X509(bio, ca->cert);
	if ((n = BIO_read(bio, pem, (int)cap - 1)) <= 0)
		errx(1, "PEM");
	pem[n] = '\0';
	BIO_free(bio);
}

SSL_CTX *
server_ctx(const struct server_ca *ca, const char *name, long from, long to,
    bool rsa)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	EVP_PKEY *key = rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");
	char san[256];
	X509 *x;

	x = cert_new(key, "leaf", ca->cert, from, to);
	snprintf(san, sizeof(san), "DNS:%s", name);
	cert_extend(x, ca->cert, NID_subject_alt_name, san);
	cert_extend(x, ca->cert, NID_ext_key_usage, "serverAuth");
	X509_sign(x, ca->key, EVP_sha256());
	if (SSL_CTX_use_certificate(ctx, x) != 1 ||
	    SSL_CTX_use_PrivateKey(ctx, key) != 1)
		errx(1, "server certificate");
	if (rsa)
		SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
	X509_free(x);
	EVP_PKEY_free(key);
	return ctx;
}
