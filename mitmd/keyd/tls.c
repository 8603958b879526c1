/* SPDX-License-Identifier: ISC */
/*
 * The connection to the provider: TLS by OpenSSL over a descriptor that dialerd
 * connected, or plain text if the user's configuration names a plain upstream.
 * The peer must prove that it has the configured name; dialerd, name servers
 * and the network are not trusted. Holds the root certificates and the latest
 * session ticket of each host.
 *
 * Input of tls_write() may contain the credential: OpenSSL copies it into its
 * record buffer and encrypts it in place, and RELEASE_BUFFERS frees that
 * buffer, so no plain copy outlives the call (a test scans keyd's memory for
 * one).
 */
#include "keyd/keyd.h"

#include <sys/socket.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "wire/tls_client.h"

/* Trust dialerd only so far that this is a connection. */
bool
up_is_tcp(int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	int proto = 0;

	if (getpeername(fd, (struct sockaddr *)&ss, &len) == -1)
		return false;
	len = sizeof(proto);
	return getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &proto, &len) == 0 &&
	       proto == IPPROTO_TCP;
}

static int
tls_new_session(SSL *ssl, SSL_SESSION *session)
{
	struct keyd_host *h = SSL_get_app_data(ssl);

	/* Sessions with token endpoints are not kept. */
	if (h == NULL)
		return 0;
	SSL_SESSION_free(h->session);
	h->session = session;
	return 1;
}

static SSL_CTX *
tls_context(void)
{
	X509_VERIFY_PARAM *param;
	SSL_CTX *ctx;

	if ((ctx = tls_client_context("\x08http/1.1")) == NULL)
		return NULL;
	SSL_CTX_set_read_ahead(ctx, 1);
	SSL_CTX_set_default_read_buffer_len(ctx, KEYD_READ);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_session_cache_mode(
	    ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(ctx, tls_new_session);
	param = SSL_CTX_get0_param(ctx);
	X509_VERIFY_PARAM_set_hostflags(
	    param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
		       X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	return ctx;
}

void
tls_warm(void)
{
	if (tls_client_init() == -1 || (keyd_env.ctx = tls_context()) == NULL)
		fatalx("OpenSSL does not start");
}

/*
 * The first ones are for the server. Others, if they come, are trusted beside
 * them where one logs in.
 */
int
tls_roots(struct chan *c, const struct msg_ROOTS *m)
{
	struct keyd_env *e = &keyd_env;
	struct keyd_roots *r = &e->roots[e->have_roots];

	if (e->roots[1].len != 0)
		return chan_violation(c, "ROOTS a third time");
	e->have_roots = true;
	if (m->pem.len != 0) {
		/* Parsed before the first connection, not now. */
		if ((r->p = malloc(m->pem.len)) == NULL)
			fatal("roots");
		memcpy(r->p, m->pem.p, m->pem.len);
		r->len = m->pem.len;
	}
	return 0;
}

/* A PEM file with a password would ask for it on the terminal. */
static int
tls_no_password(char *buf, int size, int write, void *arg)
{
	return -1;
}

/* Add certificates to a store. Returns 0, or -1 if there is no memory. */
static int
tls_add_roots(struct keyd_roots *r, X509_STORE *store)
{
	unsigned n = 0;
	X509 *x;
	BIO *bio;

	if (r->p == NULL)
		return 0;
	if ((bio = BIO_new_mem_buf(r->p, (int)r->len)) == NULL)
		return -1;
	while (
	    (x = PEM_read_bio_X509(bio, NULL, tls_no_password, NULL)) != NULL) {
		n += X509_STORE_add_cert(store, x) == 1;
		X509_free(x);
	}
	BIO_free(bio);
	ERR_clear_error();
	free(r->p);
	r->p = NULL;
	if (n == 0)
		log_warnx("no root certificates: no provider can be trusted");
	return 0;
}

/*
 * Parse the roots on first use, so that start-up does not wait for it: the
 * larger ones only for a server that one logs in at.
 */
static int
tls_load_roots(bool issuer)
{
	struct keyd_env *e = &keyd_env;
	X509_STORE *store = SSL_CTX_get_cert_store(e->ctx);
	STACK_OF(X509_OBJECT) * objects;
	X509 *x;

	if (tls_add_roots(&e->roots[0], store) == -1)
		return -1;
	if (!issuer || e->roots[1].p == NULL)
		return 0;
	if ((e->issuers = X509_STORE_new()) == NULL)
		return -1;
	objects = X509_STORE_get0_objects(store);
	for (int i = 0; i < sk_X509_OBJECT_num(objects); i++) {
		x = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i));
		if (x != NULL)
			(void)X509_STORE_add_cert(e->issuers, x);
	}
	return tls_add_roots(&e->roots[1], e->issuers);
}

static bool
tls_is_literal(const char *host)
{
	uint8_t addr[16];

	return inet_pton(AF_INET, host, addr) == 1 ||
	       inet_pton(AF_INET6, host, addr) == 1;
}

int
tls_attach(struct up *up, const char *host, struct keyd_host *resume,
    bool issuer, const char **why)
{
	struct keyd_env *e = &keyd_env;
	SSL *ssl;

	*why = "no memory for a TLS connection";
	if (tls_load_roots(issuer) == -1 || (ssl = SSL_new(e->ctx)) == NULL)
		return -1;
	up->ssl = ssl;
	if (issuer && e->issuers != NULL &&
	    SSL_set1_verify_cert_store(ssl, e->issuers) != 1)
		return -1;
	up->drained = false;
	up->ended = TLS_OK;
	if (SSL_set_app_data(ssl, resume) != 1)
		return -1;
	/* Answers of token endpoints contain credentials. */
	if (resume == NULL)
		SSL_set_options(ssl, SSL_OP_CLEANSE_PLAINTEXT);
	SSL_set_connect_state(ssl);
	if (tls_out_attach(ssl, &up->out, up->fd) == -1)
		return -1;
	if (tls_is_literal(host)) {
		if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) !=
		    1)
			return -1;
	} else if (SSL_set1_host(ssl, host) != 1 ||
		   SSL_set_tlsext_host_name(ssl, host) != 1) {
		return -1;
	}
	if (resume != NULL && resume->session != NULL &&
	    SSL_SESSION_is_resumable(resume->session) &&
	    SSL_set_session(ssl, resume->session) != 1)
		return -1;
	return 0;
}

void
tls_detach(struct up *up)
{
	if (up->ssl == NULL)
		return;
	/* Send close_notify if it fits; do not wait for the peer's. */
	if (up->state == UP_IDLE || up->state == UP_BUSY) {
		ERR_clear_error();
		(void)SSL_shutdown(up->ssl);
	}
	SSL_free(up->ssl);
	ERR_clear_error();
	up->ssl = NULL;
}

/* Returns the reason as constant text: the certificate's, or the library's. */
static const char *
tls_reason(const SSL *ssl)
{
	long verified = SSL_get_verify_result(ssl);
	const char *text;

	if (verified != X509_V_OK)
		return X509_verify_cert_error_string(verified);
	text = ERR_reason_error_string(ERR_peek_last_error());
	return text != NULL ? text : "connection closed";
}

enum tls_result
tls_handshake(struct up *up, const char **why)
{
	int r;

	ERR_clear_error();
	r = SSL_do_handshake(up->ssl);
	up->tls_writes = false;
	if (r == 1)
		return TLS_OK;
	switch (SSL_get_error(up->ssl, r)) {
	case SSL_ERROR_WANT_WRITE:
		up->tls_writes = true;
		return TLS_AGAIN;
	case SSL_ERROR_WANT_READ:
		return TLS_AGAIN;
	default:
		*why = tls_reason(up->ssl);
		return TLS_ERROR;
	}
}

static enum tls_result
tls_failed(struct up *up, int r)
{
	switch (SSL_get_error(up->ssl, r)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return TLS_AGAIN;
	case SSL_ERROR_ZERO_RETURN:
		return TLS_EOF;
	case SSL_ERROR_SSL:
		if (ERR_GET_REASON(ERR_peek_last_error()) ==
		    SSL_R_UNEXPECTED_EOF_WHILE_READING)
			return TLS_CUT;
		return TLS_ERROR;
	default:
		return TLS_ERROR;
	}
}

static enum tls_result
plain_failed(ssize_t n)
{
	if (n == 0)
		return TLS_EOF;
	return errno == EAGAIN ? TLS_AGAIN : TLS_ERROR;
}

bool
tls_pending(const struct up *up)
{
	return up->ssl != NULL &&
	       (up->ended != TLS_OK ||
		   (!up->drained && SSL_has_pending(up->ssl) == 1));
}

enum tls_result
tls_read(struct up *up, uint8_t *dst, size_t cap, size_t *n)
{
	enum tls_result failed;
	ssize_t got;
	size_t more;
	int r;

	if (up->ssl == NULL) {
		do {
			got = read(up->fd, dst, cap);
		} while (got == -1 && errno == EINTR);
		if (got <= 0)
			return plain_failed(got);
		*n = (size_t)got;
		return TLS_OK;
	}
	*n = 0;
	if (up->ended != TLS_OK)
		return up->ended;
	do {
		ERR_clear_error();
		if ((r = SSL_read_ex(up->ssl, dst + *n, cap - *n, &more)) == 1)
			*n += more;
	} while (r == 1 && *n < cap && SSL_has_pending(up->ssl) == 1);
	failed = r == 1 ? TLS_OK : tls_failed(up, r);
	up->drained = failed == TLS_AGAIN &&
		      SSL_get_error(up->ssl, r) == SSL_ERROR_WANT_READ;
	if (*n == 0)
		return failed;
	/* The socket will not show this end again, so the next call does. */
	if (failed != TLS_AGAIN)
		up->ended = failed;
	return TLS_OK;
}

enum tls_result
tls_write(struct up *up, const uint8_t *p, size_t len, size_t *n)
{
	ssize_t put;
	int r;

	if (up->ssl == NULL) {
		do {
			put = write(up->fd, p, len);
		} while (put == -1 && errno == EINTR);
		if (put == -1)
			return plain_failed(put);
		*n = (size_t)put;
		return TLS_OK;
	}
	if ((r = tls_out_write(up->ssl, &up->out, p, len, n)) == 1)
		return TLS_OK;
	return tls_failed(up, r);
}
