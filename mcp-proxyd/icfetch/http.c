/* SPDX-License-Identifier: ISC */
/*
 * One GET: CONNECT at the proxy, TLS with the host's certificate verified, and
 * HTTP/1.1 on a connection of its own, parsed by the same strict parser as
 * everywhere.  Blocking, with one deadline for everything.
 */
#include "icfetch/icfetch.h"

#include <sys/socket.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "common/loop.h"

static struct {
	struct sockaddr_in proxy;
	SSL_CTX *ctx;
} env;

struct conn {
	int fd;
	SSL *ssl;
	struct fetch *f;
};

static int __attribute__((format(printf, 2, 3)))
fail(struct fetch *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->why, sizeof(f->why), fmt, ap);
	va_end(ap);
	return -1;
}

/* Load all root certificates now: later no file can be opened. */
static int
fetch_roots(void)
{
	const char *places[] = {getenv("SSL_CERT_FILE"),
	    "/etc/ssl/certs/ca-certificates.crt",
	    "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"};

	for (size_t i = 0; i < nitems(places); i++) {
		if (places[i] != NULL &&
		    SSL_CTX_load_verify_file(env.ctx, places[i]) == 1)
			return 0;
		ERR_clear_error();
	}
	return -1;
}

const char *
fetch_prepare(const char *proxy)
{
	const time_t now = time(NULL);
	unsigned char seed[16];
	char host[64];
	unsigned port;
	struct tm tm;

	if (proxy == NULL ||
	    sscanf(proxy, "http://%63[0-9.]:%5u", host, &port) != 2 ||
	    inet_pton(AF_INET, host, &env.proxy.sin_addr) != 1)
		return "it has no network: name hosts in "
		       "sandbox.network.allowedDomains of its entry in "
		       "mcp-servers.json";
	env.proxy.sin_family = AF_INET;
	env.proxy.sin_port = htons((uint16_t)port);
	/* Load what is opened only once, while files can still be opened. */
	(void)localtime_r(&now, &tm);
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1 ||
	    RAND_bytes(seed, sizeof(seed)) != 1 ||
	    RAND_priv_bytes(seed, sizeof(seed)) != 1 ||
	    (env.ctx = SSL_CTX_new(TLS_client_method())) == NULL)
		return "OpenSSL does not begin";
	SSL_CTX_set_security_level(env.ctx, 2);
	SSL_CTX_set_options(
	    env.ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_min_proto_version(env.ctx, TLS1_2_VERSION);
	SSL_CTX_set_verify(env.ctx, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_session_cache_mode(env.ctx, SSL_SESS_CACHE_OFF);
	return fetch_roots() == -1 ? "there are no root certificates" : NULL;
}

/* Wait for the socket.  Returns 0, or -1 with f->why set at the deadline. */
static int
conn_wait(struct conn *c, short events)
{
	struct pollfd p = {.fd = c->fd, .events = events};
	uint64_t now = clock_mono_us();
	int n;

	if (now >= c->f->deadline)
		return fail(c->f, "the time that the call allowed is over");
	n = poll(&p, 1, (int)((c->f->deadline - now) / 1000) + 1);
	if (n == -1 && errno != EINTR)
		return fail(c->f, "poll: %s", strerror(errno));
	return 0;
}

/* Returns true if the only fault is that no trusted authority signed it. */
static bool
conn_stranger(long verify)
{
	return verify == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
	       verify == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE ||
	       verify == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT ||
	       verify == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN;
}

/*
 * Handle a result of OpenSSL.  Returns 1 to try again, 0 if the peer closed the
 * connection properly, or -1 with f->why set.
 */
static int
conn_ssl(struct conn *c, int rv)
{
	long verify;

	switch (SSL_get_error(c->ssl, rv)) {
	case SSL_ERROR_WANT_READ:
		return conn_wait(c, POLLIN) == -1 ? -1 : 1;
	case SSL_ERROR_WANT_WRITE:
		return conn_wait(c, POLLOUT) == -1 ? -1 : 1;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	default:
		break;
	}
	verify = SSL_get_verify_result(c->ssl);
	ERR_clear_error();
	if (verify != X509_V_OK)
		return fail(c->f, "the host's certificate is not good: %s%s",
		    X509_verify_cert_error_string(verify),
		    conn_stranger(verify)
			? ". If a corporate proxy signs it, its certificate "
			  "belongs into config.json: \"proxy\":{\"ca\":...}"
			: "");
	return fail(c->f, "the connection broke");
}

static ssize_t
conn_read(struct conn *c, uint8_t *dst, size_t cap)
{
	ssize_t n;
	int rv;

	for (;;) {
		if (c->ssl != NULL) {
			rv = SSL_read(
			    c->ssl, dst, cap > 65536 ? 65536 : (int)cap);
			if (rv > 0)
				return rv;
			if ((rv = conn_ssl(c, rv)) != 1)
				return rv;
			continue;
		}
		n = recv(c->fd, dst, cap, MSG_DONTWAIT);
		if (n >= 0)
			return n;
		if (errno != EAGAIN && errno != EINTR)
			return fail(
			    c->f, "the connection broke: %s", strerror(errno));
		if (conn_wait(c, POLLIN) == -1)
			return -1;
	}
}

static int
conn_write(struct conn *c, struct span s)
{
	ssize_t n;
	int rv;

	while (s.len != 0) {
		if (c->ssl != NULL) {
			rv = SSL_write(c->ssl, s.p, (int)s.len);
			n = rv;
			if (rv <= 0) {
				if (conn_ssl(c, rv) != 1)
					return -1;
				continue;
			}
		} else {
			n = send(
			    c->fd, s.p, s.len, MSG_NOSIGNAL | MSG_DONTWAIT);
			if (n == -1) {
				if (errno != EAGAIN && errno != EINTR)
					return fail(c->f,
					    "the connection broke: %s",
					    strerror(errno));
				if (conn_wait(c, POLLOUT) == -1)
					return -1;
				continue;
			}
		}
		s.p += n;
		s.len -= (size_t)n;
	}
	return 0;
}

/* Read until the head of an answer is complete; the rest stays in `in`. */
static int
conn_head(struct conn *c, struct buf *in, struct http1_head *h)
{
	uint8_t *room;
	size_t seen = 0;
	ssize_t n;

	for (;;) {
		switch (http1_response_more(buf_span(in), &seen, h)) {
		case HTTP1_OK:
			return 0;
		case HTTP1_BAD:
			return fail(
			    c->f, "the answer is no good HTTP: %s", h->reason);
		case HTTP1_MORE:
			break;
		}
		if ((room = buf_room(in, 16384)) == NULL)
			return fail(c->f, "the head of the answer is too "
					  "large");
		if ((n = conn_read(c, room, 16384)) == -1)
			return -1;
		if (n == 0)
			return fail(c->f, "the answer ended within its head");
		buf_grow(in, (size_t)n);
	}
}

static int
conn_open(struct conn *c, const struct url *u)
{
	char where[300], text[800];
	struct http1_head *h;
	struct buf in;
	int rv = -1;

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd == -1)
		return fail(c->f, "socket: %s", strerror(errno));
	if (connect(c->fd, (struct sockaddr *)&env.proxy, sizeof(env.proxy)) ==
		-1 &&
	    errno != EINPROGRESS)
		return fail(c->f, "the way out is closed: %s", strerror(errno));
	url_authority(u, true, where, sizeof(where));
	snprintf(text, sizeof(text), "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n",
	    where, where);
	if (conn_wait(c, POLLOUT) == -1 || conn_write(c, span_str(text)) == -1)
		return -1;
	buf_init(&in, HTTP1_MAX_HEAD + 16384);
	if ((h = malloc(sizeof(*h))) == NULL)
		(void)fail(c->f, "out of memory");
	else if (conn_head(c, &in, h) == 0) {
		rv = h->status == 200 ? 0 : -1;
		if (rv == -1 && h->status == 403)
			(void)fail(c->f,
			    "%s is not among the hosts of this server. Do not "
			    "retry; the user can add it to "
			    "sandbox.network.allowedDomains",
			    where);
		else if (rv == -1)
			(void)fail(c->f, "%s: %.*s", where,
			    (int)(in.len - h->size < 180 ? in.len - h->size
							 : 180),
			    (const char *)buf_span(&in).p + h->size);
	}
	free(h);
	buf_free(&in);
	return rv;
}

static int
conn_tls(struct conn *c, const struct url *u)
{
	bool address = strspn(u->host, "0123456789.") == strlen(u->host) ||
		       strchr(u->host, ':') != NULL;
	int rv;

	if ((c->ssl = SSL_new(env.ctx)) == NULL ||
	    SSL_set_fd(c->ssl, c->fd) != 1)
		return fail(c->f, "out of memory");
	if (address) {
		if (X509_VERIFY_PARAM_set1_ip_asc(
			SSL_get0_param(c->ssl), u->host) != 1)
			return fail(c->f, "out of memory");
	} else if (SSL_set1_host(c->ssl, u->host) != 1 ||
		   SSL_set_tlsext_host_name(c->ssl, u->host) != 1) {
		return fail(c->f, "out of memory");
	}
	while ((rv = SSL_connect(c->ssl)) != 1) {
		if ((rv = conn_ssl(c, rv)) == 0)
			return fail(c->f, "the connection broke");
		if (rv == -1)
			return -1;
	}
	return 0;
}

static int
conn_request(struct conn *c, const struct url *u)
{
	char where[300];
	struct buf b;
	int rv;

	url_authority(u, false, where, sizeof(where));
	buf_init(&b, 65536);
	buf_printf(&b, "GET %s HTTP/1.1\r\nHost: %s\r\n", u->path, where);
	buf_addspan(&b, buf_span(&c->f->request));
	buf_adds(&b, "Accept-Encoding: identity\r\nConnection: close\r\n\r\n");
	rv = b.failed ? fail(c->f, "the headers are too large")
		      : conn_write(c, buf_span(&b));
	buf_free(&b);
	return rv;
}

/* Take from the head the fields that are needed. */
static int
conn_answer(struct fetch *f, const struct http1_head *h)
{
	struct span v;

	f->status = h->status;
	f->type[0] = f->location[0] = '\0';
	if (http1_header(h, "content-encoding", &v) != 0 &&
	    !span_is(v, "identity"))
		return fail(f, "the answer is compressed, which was not asked "
			       "for");
	if (http1_header(h, "content-type", &v) == 1 &&
	    span_copy(v, f->type, sizeof(f->type)) == -1)
		f->type[0] = '\0';
	if (http1_header(h, "location", &v) == 1 &&
	    span_copy(v, f->location, sizeof(f->location)) == -1)
		return fail(f, "the redirect is longer than 4 KiB");
	return 0;
}

static int
conn_body(struct conn *c, struct buf *in, struct http1_body *body)
{
	struct fetch *f = c->f;
	struct span data;
	uint8_t *room;
	size_t used, take;
	ssize_t n;

	while (!body->done) {
		while (in->len != 0 && !body->done) {
			if (http1_body_next(body, buf_span(in), &data, &used) ==
			    HTTP1_BAD)
				return fail(f, "the answer is no good HTTP: %s",
				    body->reason);
			take = ICFETCH_MAX_BODY - f->body.len;
			if (data.len > take) {
				f->cut = true;
				data.len = take;
			}
			buf_addspan(&f->body, data);
			if (f->body.failed)
				return fail(f, "out of memory");
			if (f->cut)
				return 0;
			buf_drain(in, used);
			if (used == 0)
				break;
		}
		if (body->done)
			break;
		if ((room = buf_room(in, 65536)) == NULL)
			return fail(f, "out of memory");
		if ((n = conn_read(c, room, 65536)) == -1)
			return -1;
		if (n == 0)
			return http1_body_eof(body) == HTTP1_OK
				   ? 0
				   : fail(f, "the answer ended early");
		buf_grow(in, (size_t)n);
	}
	return 0;
}

static int
conn_exchange(struct conn *c, const struct url *u, struct http1_head *h)
{
	struct http1_body body;
	struct buf in;
	unsigned interim = 0;
	int rv = -1;

	buf_init(&in, HTTP1_MAX_HEAD + 2 * 65536);
	if (conn_open(c, u) == -1 || (u->tls && conn_tls(c, u) == -1) ||
	    conn_request(c, u) == -1)
		goto out;
	while ((rv = conn_head(c, &in, h)) == 0 && h->status < 200) {
		buf_drain(&in, h->size);
		if (++interim > HTTP1_MAX_INTERIM || h->status == 101) {
			rv = fail(c->f, "the answer is no good HTTP");
			goto out;
		}
	}
	if (rv == 0 && http1_response_body(h, false, &body) != HTTP1_OK)
		rv = fail(c->f, "the answer is no good HTTP: %s", body.reason);
	if (rv == 0 && (rv = conn_answer(c->f, h)) == 0) {
		buf_drain(&in, h->size);
		rv = conn_body(c, &in, &body);
	}
out:
	buf_free(&in);
	return rv;
}

int
fetch_get(struct fetch *f, const struct url *u)
{
	struct conn c = {.fd = -1, .f = f};
	struct http1_head *h = malloc(sizeof(*h));
	int rv;

	f->cut = false;
	f->why[0] = '\0';
	buf_reset(&f->body, 0);
	rv = h == NULL ? fail(f, "out of memory") : conn_exchange(&c, u, h);
	SSL_free(c.ssl);
	if (c.fd != -1)
		close(c.fd);
	free(h);
	return rv;
}
