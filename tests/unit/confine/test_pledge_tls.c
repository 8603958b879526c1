/* SPDX-License-Identifier: ISC */
/*
 * TLS works with the system calls that a worker may make.  After a warm-up,
 * both ends of a handshake run in one process under PLEDGE_STDIO alone: P-256
 * key and certificate made, signed and verified, TLS 1.2 and 1.3, data both
 * ways, a wrong name refused.
 */
#include "common/confine/confine.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "tap.h"

#define HOST "api.example.test"
#define STEPS 64
#define BULK 300000U

struct identity {
	EVP_PKEY *key;
	X509 *cert;
};

static uint8_t sent[BULK], got[BULK];

/* Make a P-256 key and a certificate that signs itself. */
static bool
identity_make(struct identity *id)
{
	X509_EXTENSION *san;
	X509_NAME *name;
	bool good;

	id->key = EVP_EC_gen("P-256");
	id->cert = X509_new();
	san =
	    X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "DNS:" HOST);
	if (id->key == NULL || id->cert == NULL || san == NULL)
		return false;
	name = X509_get_subject_name(id->cert);
	good = X509_set_version(id->cert, X509_VERSION_3) == 1 &&
	       ASN1_INTEGER_set(X509_get_serialNumber(id->cert), 1) == 1 &&
	       X509_gmtime_adj(X509_getm_notBefore(id->cert), -60) != NULL &&
	       X509_gmtime_adj(X509_getm_notAfter(id->cert), 3600) != NULL &&
	       X509_set_pubkey(id->cert, id->key) == 1 &&
	       X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
		   (const unsigned char *)"test", -1, -1, 0) == 1 &&
	       X509_set_issuer_name(id->cert, name) == 1 &&
	       X509_add_ext(id->cert, san, -1) == 1 &&
	       X509_sign(id->cert, id->key, EVP_sha256()) > 0;
	X509_EXTENSION_free(san);
	return good;
}

static void
identity_free(struct identity *id)
{
	X509_free(id->cert);
	EVP_PKEY_free(id->key);
}

static SSL *
end_make(bool server, int fd, const struct identity *id, int version,
    const char *host)
{
	SSL_CTX *ctx;
	SSL *ssl = NULL;

	ctx = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
	if (ctx == NULL || SSL_CTX_set_min_proto_version(ctx, version) != 1 ||
	    SSL_CTX_set_max_proto_version(ctx, version) != 1)
		goto out;
	if (server && (SSL_CTX_use_certificate(ctx, id->cert) != 1 ||
			  SSL_CTX_use_PrivateKey(ctx, id->key) != 1))
		goto out;
	if (!server) {
		SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
		X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), id->cert);
	}
	if ((ssl = SSL_new(ctx)) == NULL || SSL_set_fd(ssl, fd) != 1)
		goto out;
	if (server) {
		SSL_set_accept_state(ssl);
	} else {
		SSL_set_connect_state(ssl);
		SSL_set1_host(ssl, host);
		SSL_set_tlsext_host_name(ssl, host);
	}
out:
	SSL_CTX_free(ctx);
	return ssl;
}

/* Carry one chunk from `a` to `b`; both ends are non-blocking. */
static bool
carry(SSL *a, SSL *b)
{
	size_t out = 0, in = 0, n;

	while (in < BULK) {
		if (out < BULK &&
		    SSL_write_ex(a, sent + out, BULK - out, &n) == 1)
			out += n;
		if (SSL_read_ex(b, got + in, BULK - in, &n) == 1)
			in += n;
		else if (SSL_get_error(b, 0) != SSL_ERROR_WANT_READ)
			return false;
	}
	return memcmp(sent, got, BULK) == 0;
}

/*
 * Returns 0 if data was exchanged, 1 if there was no handshake, 2 for other
 * failures.
 */
static int
talk(int version, const char *host)
{
	struct identity id = {NULL, NULL};
	SSL *server = NULL, *client = NULL;
	int p[2] = {-1, -1}, a = 0, b = 0, r = 2;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
		p) == -1 ||
	    !identity_make(&id))
		goto out;
	server = end_make(true, p[0], &id, version, host);
	client = end_make(false, p[1], &id, version, host);
	if (server == NULL || client == NULL)
		goto out;
	for (int i = 0; i < STEPS && (a != 1 || b != 1); i++) {
		a = SSL_do_handshake(client);
		b = SSL_do_handshake(server);
	}
	r = 1;
	if (a != 1 || b != 1)
		goto out;
	r = carry(client, server) && carry(server, client) ? 0 : 2;
	(void)SSL_shutdown(client);
	(void)SSL_shutdown(server);
out:
	ERR_clear_error();
	SSL_free(client);
	SSL_free(server);
	identity_free(&id);
	close(p[0]);
	close(p[1]);
	return r;
}

/* Do what mitmd and keyd do before they are confined. */
static bool
warm_up(void)
{
	uint8_t byte;

	tzset();
	return OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG |
				    OPENSSL_INIT_LOAD_SSL_STRINGS |
				    OPENSSL_INIT_LOAD_CRYPTO_STRINGS,
		   NULL) == 1 &&
	       RAND_bytes(&byte, 1) == 1 && RAND_priv_bytes(&byte, 1) == 1;
}

static int
locked(int version, const char *host)
{
	static const enum pledge_promise promises[] = {
	    PLEDGE_STDIO, PLEDGE_PAIR};
	static const struct confine c = {
	    0, {64, 1 << 20, 256 << 20, 64 << 10}, {promises, 2, NULL, 0}};
	struct confine_state st;
	int status;
	pid_t pid;

	fflush(stdout);
	if ((pid = fork()) == 0) {
		confine_early();
		if (!warm_up() || confine_apply(&c, &st) == -1)
			_exit(3);
		/*
		 * Talk twice: the second time uses objects that the first one
		 * made.
		 */
		status = talk(version, host);
		exit(status != 0 ? status : talk(version, host));
	}
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

int
main(void)
{
	if (!pledge_enforced()) {
		printf("1..0 # SKIP sanitized: no filter to test\n");
		return 0;
	}
	for (size_t i = 0; i < BULK; i++)
		sent[i] = (uint8_t)(i * 7 + i / 251);
	is_int(locked(TLS1_3_VERSION, HOST), 0, "TLS 1.3 under the filter");
	is_int(locked(TLS1_2_VERSION, HOST), 0, "TLS 1.2 under the filter");
	is_int(locked(TLS1_3_VERSION, "127.0.0.1x"), 1, "a wrong name is none");
	return tap_done();
}
