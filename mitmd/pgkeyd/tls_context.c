/* SPDX-License-Identifier: ISC */
/*
 * OpenSSL for pgkeyd's TLS: as keyd's, but certificates are checked against
 * named roots or not at all, because a login is bound to the certificate.
 */
#include "pgkeyd/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "common/log.h"
#include "wire/tls_client.h"

SSL_CTX *
tls_context_warm(void)
{
	SSL_CTX *ctx;

	if (tls_client_init() == -1 ||
	    (ctx = tls_client_context("\x0apostgresql")) == NULL)
		fatalx("OpenSSL does not start");
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	return ctx;
}

/* A PEM file with a password would ask for it on the terminal. */
static int
context_no_password(char *buf, int size, int write, void *arg)
{
	(void)buf;
	(void)size;
	(void)write;
	(void)arg;
	return -1;
}

void
tls_context_roots(SSL_CTX *ctx, struct span pem)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	BIO *bio;
	X509 *x;

	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	X509_VERIFY_PARAM_set_flags(
	    SSL_CTX_get0_param(ctx), X509_V_FLAG_PARTIAL_CHAIN);
	if ((bio = BIO_new_mem_buf(pem.p, (int)pem.len)) == NULL)
		fatalx("no memory for roots");
	while ((x = PEM_read_bio_X509(bio, NULL, context_no_password, NULL)) !=
	       NULL) {
		(void)X509_STORE_add_cert(store, x);
		X509_free(x);
	}
	BIO_free(bio);
	ERR_clear_error();
}

unsigned
tls_context_hash(const SSL *ssl, uint8_t hash[TLS_LINK_HASH])
{
	X509 *cert = SSL_get1_peer_certificate(ssl);
	const EVP_MD *md = NULL;
	int kind = NID_undef;
	unsigned n = 0;

	if (cert != NULL &&
	    X509_get_signature_info(cert, &kind, NULL, NULL, NULL) == 1) {
		if (kind == NID_md5 || kind == NID_sha1)
			kind = NID_sha256;
		md = kind == NID_undef ? NULL : EVP_get_digestbynid(kind);
	}
	if (md == NULL || EVP_MD_get_size(md) > (int)TLS_LINK_HASH ||
	    X509_digest(cert, md, hash, &n) != 1)
		n = 0;
	X509_free(cert);
	ERR_clear_error();
	return n;
}
