/* SPDX-License-Identifier: ISC */
/*
 * OpenSSL for pgkeyd's TLS: as keyd's, but certificates are checked against
 * named roots or not at all, because a login is bound to the certificate.
 */
#include "pgkeyd/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <time.h>

#include "common/log.h"
#include "wire/tls_out.h"

#define CONTEXT_SUITES                                                         \
	"TLS_AES_128_GCM_SHA256:"                                              \
	"TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"

static SSL_CTX *
context_new(void)
{
	static const unsigned char alpn[] = "\x0apostgresql";
	SSL_CTX *ctx;

	if ((ctx = SSL_CTX_new(TLS_client_method())) == NULL)
		return NULL;
	SSL_CTX_set_security_level(ctx, 2);
	SSL_CTX_set_options(ctx,
	    SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS |
				  SSL_MODE_ENABLE_PARTIAL_WRITE |
				  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	if (SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1 ||
	    SSL_CTX_set_cipher_list(
		ctx, "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL:!PSK:!SRP") != 1 ||
	    SSL_CTX_set_ciphersuites(ctx, CONTEXT_SUITES) != 1 ||
	    SSL_CTX_set_alpn_protos(ctx, alpn, sizeof(alpn) - 1) != 0) {
		SSL_CTX_free(ctx);
		return NULL;
	}
	return ctx;
}

SSL_CTX *
tls_context_warm(void)
{
	time_t now = time(NULL);
	uint8_t seed[16];
	SSL_CTX *ctx;
	struct tm tm;

	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG |
				 OPENSSL_INIT_LOAD_SSL_STRINGS |
				 OPENSSL_INIT_LOAD_CRYPTO_STRINGS,
		NULL) != 1 ||
	    RAND_bytes(seed, sizeof(seed)) != 1 ||
	    RAND_priv_bytes(seed, sizeof(seed)) != 1 ||
	    (ctx = context_new()) == NULL || tls_out_init() == -1)
		fatalx("OpenSSL does not start");
	(void)gmtime_r(&now, &tm);
	(void)localtime_r(&now, &tm);
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
