/* SPDX-License-Identifier: ISC */
/*
 * TLS on the agent's side: 1.2 and 1.3, one certificate per connection, chosen
 * by CONNECT and never by the client; the server name must be present and equal
 * to it; resumption in TLS 1.3 and of the same host alone, no early data, no
 * renegotiation, no protocols except HTTP/2 and HTTP/1.1. Owns the leaf keys.
 * OpenSSL parses the agent's bytes here.
 */
#include "tls.h"

#include <openssl/err.h>
#include <openssl/rand.h>

#include <errno.h>
#include <time.h>

#include "common/log.h"

#define TLS_CIPHERS                                                            \
	"ECDHE-ECDSA-AES128-GCM-SHA256:"                                       \
	"ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305"
/*
 * The order is ours: 128 bits take a sixth less time than 256. An agent that
 * offers ChaCha20 first has no instructions for AES, and gets it.
 */
#define TLS_SUITES                                                             \
	"TLS_AES_128_GCM_SHA256:"                                              \
	"TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
#define TLS_SESSIONS 64 /* that the agent may resume, of one host */

/* Called for every handshake, even if the client sends no name. */
static int
tls_server_name(SSL *ssl, int *alert, void *arg)
{
	const struct span *host = arg;
	const char *name;

	name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	if (name != NULL && span_ieq(span_str(name), *host))
		return SSL_TLSEXT_ERR_OK;
	*alert = SSL_AD_UNRECOGNIZED_NAME;
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* Called only if the client offers protocols: choose h2 if permitted. */
static int
tls_alpn(SSL *ssl, const unsigned char **out, unsigned char *outlen,
    const unsigned char *in, unsigned int inlen, void *arg)
{
	static const char *const known[] = {"h2", "http/1.1"};
	const bool *http1 = arg;
	struct span offer;

	for (size_t k = *http1; k < nitems(known); k++) {
		for (unsigned i = 0; i < inlen; i += in[i] + 1U) {
			if (in[i] > inlen - i - 1)
				break;
			offer = span_of(in + i + 1, in[i]);
			if (span_is(offer, known[k])) {
				*out = offer.p;
				*outlen = in[i];
				return SSL_TLSEXT_ERR_OK;
			}
		}
	}
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/*
 * Returns true for a session of TLS 1.2, which would resume without new keys.
 */
static int
tls_used_once(SSL *ssl, int forward_secret)
{
	return SSL_version(ssl) != TLS1_3_VERSION;
}

/*
 * Let the agent resume: its connection then costs no signature and no check of
 * the certificate. Each host has a context, and so a cache, of its own, and a
 * handshake that resumes checks the name and the protocol again. A ticket is
 * only the number of an entry: there is no key that opens many sessions.
 */
static int
tls_resumption(SSL_CTX *ctx, const struct span *host)
{
	uint8_t name[32];

	mitmd_sha256(*host, name);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_SERVER);
	SSL_CTX_sess_set_cache_size(ctx, TLS_SESSIONS);
	SSL_CTX_set_not_resumable_session_callback(ctx, tls_used_once);
	return SSL_CTX_set_session_id_context(ctx, name, sizeof(name)) == 1 &&
		       SSL_CTX_set_num_tickets(ctx, 1) == 1
		   ? 0
		   : -1;
}

SSL_CTX *
mitmd_tls_ctx(
    const struct mitmd_leaf *leaf, const struct span *host, bool http1)
{
	static bool only[] = {false, true};
	SSL_CTX *ctx;

	if ((ctx = SSL_CTX_new(TLS_server_method())) == NULL)
		return NULL;
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION |
				     SSL_OP_NO_COMPRESSION |
				     SSL_OP_CIPHER_SERVER_PREFERENCE |
				     SSL_OP_PRIORITIZE_CHACHA |
				     SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS |
				  SSL_MODE_ENABLE_PARTIAL_WRITE |
				  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_read_ahead(ctx, 1);
	/* Client certificates are never requested; other messages are short. */
	SSL_CTX_set_max_cert_list(ctx, 4096);
	SSL_CTX_set_tlsext_servername_arg(ctx, (void *)(uintptr_t)host);
	if (SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1 ||
	    tls_resumption(ctx, host) == -1 ||
	    SSL_CTX_set_max_early_data(ctx, 0) != 1 ||
	    SSL_CTX_set_cipher_list(ctx, TLS_CIPHERS) != 1 ||
	    SSL_CTX_set_ciphersuites(ctx, TLS_SUITES) != 1 ||
	    SSL_CTX_set1_groups_list(ctx, "X25519:P-256") != 1 ||
	    SSL_CTX_set_tlsext_servername_callback(ctx, tls_server_name) != 1 ||
	    SSL_CTX_use_certificate(ctx, leaf->cert) != 1 ||
	    SSL_CTX_use_PrivateKey(ctx, leaf->key) != 1) {
		SSL_CTX_free(ctx);
		return NULL;
	}
	SSL_CTX_set_alpn_select_cb(ctx, tls_alpn, &only[http1]);
	return ctx;
}

void
mitmd_sha256(struct span s, uint8_t out[32])
{
	static EVP_MD_CTX *ctx;
	static EVP_MD *md;

	if (md == NULL && ((md = EVP_MD_fetch(NULL, "SHA256", NULL)) == NULL ||
			      (ctx = EVP_MD_CTX_new()) == NULL))
		fatalx("OpenSSL has no SHA-256: %s", mitmd_tls_error());
	if (EVP_DigestInit_ex2(ctx, md, NULL) != 1 ||
	    EVP_DigestUpdate(ctx, s.p, s.len) != 1 ||
	    EVP_DigestFinal_ex(ctx, out, NULL) != 1)
		fatalx("OpenSSL: SHA-256: %s", mitmd_tls_error());
}

int
mitmd_tls_begin(struct agent *a)
{
	SSL_CTX *ctx = mitmd_env.providers[a->provider].ctx[a->host];

	if ((a->ssl = SSL_new(ctx)) == NULL ||
	    mitmd_tls_attach(a) == -1)
		return -1;
	SSL_set_accept_state(a->ssl);
	return 0;
}

bool
mitmd_tls_is_h2(const struct agent *a)
{
	const unsigned char *p;
	unsigned len;

	SSL_get0_alpn_selected(a->ssl, &p, &len);
	return span_is(span_of(p, len), "h2");
}

const char *
mitmd_tls_error(void)
{
	const char *reason;

	reason = ERR_reason_error_string(ERR_peek_last_error());
	return reason != NULL ? reason : "the connection ended";
}

/*
 * OpenSSL before 3.0.14, 3.1.6 and 3.2.2 may cache a session that it can never
 * remove; from then on the cache would grow without a limit (CVE-2024-2511).
 * Such a host's sessions are no longer resumed.
 */
static void
tls_bound(SSL_CTX *ctx)
{
	if (SSL_CTX_sess_number(ctx) <= TLS_SESSIONS)
		return;
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	(void)SSL_CTX_set_num_tickets(ctx, 0);
}

int
mitmd_tls_handshake(struct agent *a)
{
	int r;

	ERR_clear_error();
	if ((r = SSL_do_handshake(a->ssl)) == 1) {
		tls_bound(SSL_get_SSL_CTX(a->ssl));
		return 1;
	}
	return SSL_get_error(a->ssl, r) == SSL_ERROR_WANT_READ ? 0 : -1;
}

ssize_t
mitmd_tls_read(struct agent *a, uint8_t *dst, size_t cap)
{
	size_t n;
	int r;

	ERR_clear_error();
	r = SSL_read_ex(a->ssl, dst, cap, &n);
	/* Only then must the socket show more: an end is reported at once. */
	a->drained = r != 1 && SSL_get_error(a->ssl, r) == SSL_ERROR_WANT_READ;
	if (r == 1)
		return (ssize_t)n;
	return a->drained ? 0 : -1;
}

/*
 * Perform a handshake with `server` in memory. Returns 0, or -1 if OpenSSL
 * failed.
 */
static int
tls_rehearse(SSL_CTX *server, struct span host)
{
	char name[256];
	SSL_CTX *cctx;
	SSL *s = NULL, *c = NULL;
	BIO *sb, *cb;
	uint8_t byte;
	size_t n;
	bool done = false;

	if ((cctx = SSL_CTX_new(TLS_client_method())) == NULL ||
	    (s = SSL_new(server)) == NULL || (c = SSL_new(cctx)) == NULL ||
	    span_copy(host, name, sizeof(name)) == -1 ||
	    BIO_new_bio_pair(&sb, 32768, &cb, 32768) != 1)
		goto out;
	SSL_set_bio(s, sb, sb);
	SSL_set_bio(c, cb, cb);
	SSL_set_accept_state(s);
	SSL_set_connect_state(c);
	if (SSL_set_tlsext_host_name(c, name) != 1)
		goto out;
	for (int i = 0; i < 8 && !done; i++) {
		(void)SSL_do_handshake(c);
		done = SSL_do_handshake(s) == 1 && SSL_is_init_finished(c);
	}
	done = done && SSL_write_ex(c, "x", 1, &n) == 1 &&
	       SSL_read_ex(s, &byte, 1, &n) == 1 &&
	       SSL_write_ex(s, "y", 1, &n) == 1;
out:
	SSL_free(s);
	SSL_free(c);
	SSL_CTX_free(cctx);
	return done ? 0 : -1;
}

void
mitmd_tls_rehearse(void)
{
	const struct mitmd_provider *pv;

	for (unsigned i = 0; i < PROTO_FIRST_ADDED; i++) {
		pv = &mitmd_env.providers[i];
		if (pv->p == NULL || pv->p->nhosts == 0)
			continue;
		if (tls_rehearse(pv->ctx[0], pv->p->hosts[0]) == -1)
			fatalx("OpenSSL: no handshake: %s", mitmd_tls_error());
		break;
	}
}

void
mitmd_warm(void)
{
	static const struct span host = {(const uint8_t *)"warm.invalid", 12};
	struct mitmd_ca ca;
	struct span der;
	uint8_t byte, sum[32];

	tzset();
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG |
				 OPENSSL_INIT_NO_ATEXIT |
				 OPENSSL_INIT_LOAD_SSL_STRINGS |
				 OPENSSL_INIT_LOAD_CRYPTO_STRINGS,
		NULL) != 1 ||
	    RAND_bytes(&byte, 1) != 1 || RAND_priv_bytes(&byte, 1) != 1 ||
	    mitmd_tls_send_init() == -1)
		fatalx("OpenSSL does not start: %s", mitmd_tls_error());
	/* icsupervisor waits for the CA: find all that it needs now. */
	if (mitmd_ca_make(&host, 1, false, &der, &ca) == -1)
		fatalx("OpenSSL: %s", mitmd_tls_error());
	mitmd_sha256(host, sum);
	/* A failed handshake looks up and prints these texts. */
	(void)ERR_reason_error_string(ERR_peek_last_error());
	ERR_clear_error();
	mitmd_ca_free(&ca);
	OPENSSL_free((void *)(uintptr_t)der.p);
}
