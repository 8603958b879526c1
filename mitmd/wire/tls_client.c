/* SPDX-License-Identifier: ISC */
#include "wire/tls_client.h"

#include <openssl/rand.h>

#include <stdint.h>
#include <string.h>
#include <time.h>

#include "wire/tls_out.h"

#define CLIENT_SUITES                                                          \
	"TLS_AES_128_GCM_SHA256:"                                              \
	"TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"

int
tls_client_init(void)
{
	time_t now = time(NULL);
	uint8_t seed[16];
	struct tm tm;

	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG |
				 OPENSSL_INIT_LOAD_SSL_STRINGS |
				 OPENSSL_INIT_LOAD_CRYPTO_STRINGS,
		NULL) != 1 ||
	    RAND_bytes(seed, sizeof(seed)) != 1 ||
	    RAND_priv_bytes(seed, sizeof(seed)) != 1 || tls_out_init() == -1)
		return -1;
	/* Certificate dates: libc reads its time zone file on first use. */
	(void)gmtime_r(&now, &tm);
	(void)localtime_r(&now, &tm);
	return 0;
}

SSL_CTX *
tls_client_context(const char *alpn)
{
	SSL_CTX *ctx;

	if ((ctx = SSL_CTX_new(TLS_client_method())) == NULL)
		return NULL;
	SSL_CTX_set_security_level(ctx, 2);
	SSL_CTX_set_options(
	    ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS |
				  SSL_MODE_ENABLE_PARTIAL_WRITE |
				  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	/*
	 * As on the agents' side: only AEAD with forward secrecy, and a key of
	 * 128 bits first, which takes the least time.
	 */
	if (SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1 ||
	    SSL_CTX_set_cipher_list(
		ctx, "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL:!PSK:!SRP") != 1 ||
	    SSL_CTX_set_ciphersuites(ctx, CLIENT_SUITES) != 1 ||
	    SSL_CTX_set_alpn_protos(ctx, (const unsigned char *)alpn,
		(unsigned)strlen(alpn)) != 0) {
		SSL_CTX_free(ctx);
		return NULL;
	}
	return ctx;
}
