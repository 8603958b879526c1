/* SPDX-License-Identifier: ISC */
/*
 * The session's CA and leaves, verified as a strict client would: name,
 * constraints, usage, chain, serials; and the limits of the CA's key, had it
 * survived.
 */
#include <openssl/x509v3.h>

#include <stdlib.h>

#include "mitmd/ca.h"
#include "tap.h"

static const struct span hosts[] = {
	{(const uint8_t *)"api.example.com", 15},
	{(const uint8_t *)"models.example.org", 18},
};

/* Returns X509_V_OK or the reason for the failure. */
static int
verify(X509 *leaf, X509 *ca, const char *host, int purpose)
{
	X509_STORE_CTX *ctx = X509_STORE_CTX_new();
	X509_STORE *store = X509_STORE_new();
	int r;

	X509_STORE_add_cert(store, ca);
	X509_STORE_CTX_init(ctx, store, leaf, NULL);
	X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(ctx),
	    X509_V_FLAG_X509_STRICT);
	X509_VERIFY_PARAM_set1_host(X509_STORE_CTX_get0_param(ctx), host, 0);
	X509_STORE_CTX_set_purpose(ctx, purpose);
	X509_verify_cert(ctx);
	r = X509_STORE_CTX_get_error(ctx);
	X509_STORE_CTX_free(ctx);
	X509_STORE_free(store);
	return r;
}

/*
 * Make a certificate like another one, with a different name or different
 * rights.
 */
static X509 *
forge(X509 *like, EVP_PKEY *key, X509 *issuer, EVP_PKEY *signer,
    const char *san, const char *constraints)
{
	X509 *x = X509_dup(like);
	X509_EXTENSION *e;
	X509V3_CTX v;

	for (int i = X509_get_ext_count(x); i-- > 0;)
		X509_EXTENSION_free(X509_delete_ext(x, i));
	X509_set_pubkey(x, key);
	X509_set_issuer_name(x, X509_get_subject_name(issuer));
	X509V3_set_ctx(&v, issuer, x, NULL, NULL, 0);
	e = X509V3_EXT_conf_nid(NULL, &v, NID_subject_alt_name, san);
	X509_add_ext(x, e, -1);
	X509_EXTENSION_free(e);
	e = X509V3_EXT_conf_nid(NULL, &v, NID_basic_constraints, constraints);
	X509_add_ext(x, e, -1);
	X509_EXTENSION_free(e);
	X509_sign(x, signer, EVP_sha256());
	return x;
}

static bool
has_text(X509 *x, int nid, const char *want, bool critical)
{
	X509_EXTENSION *e;
	char *text = NULL;
	BIO *b = BIO_new(BIO_s_mem());
	bool r = false;
	int at;

	at = X509_get_ext_by_NID(x, nid, -1);
	if (at >= 0) {
		e = X509_get_ext(x, at);
		X509V3_EXT_print(b, e, 0, 0);
		BIO_write(b, "", 1);
		BIO_get_mem_data(b, &text);
		r = strstr(text, want) != NULL &&
		    X509_EXTENSION_get_critical(e) == critical;
	}
	BIO_free(b);
	return r;
}

static void
test_cert(X509 *x, int max_days)
{
	const ASN1_INTEGER *serial = X509_get0_serialNumber(x);
	int days, seconds;

	ok(serial->type == V_ASN1_INTEGER && serial->length == 16 &&
	    (serial->data[0] & 0x80) == 0, "serial: positive, 128 bits");
	is_int(X509_get_version(x), X509_VERSION_3, "version 3");
	is_int(EVP_PKEY_bits(X509_get0_pubkey(x)), 256, "P-256");
	ok(X509_cmp_current_time(X509_get0_notBefore(x)) < 0 &&
	    X509_cmp_current_time(X509_get0_notAfter(x)) > 0, "valid now");
	ok(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(x),
	    X509_get0_notAfter(x)) == 1 && days <= max_days,
	    "no longer than a session");
}

/*
 * Make a CA and a leaf for each host. If `keep` is not NULL, the list is open
 * and its CA is kept.
 */
static int
make(unsigned n, struct mitmd_leaf *leaf, struct span *der,
    struct mitmd_ca *keep)
{
	struct mitmd_ca ca;
	int r = 0;

	if (mitmd_ca_make(hosts, n, keep != NULL, der, &ca) == -1)
		return -1;
	for (unsigned i = 0; i < n; i++)
		r |= mitmd_ca_leaf(&ca, hosts[i], &leaf[i]);
	if (keep != NULL)
		*keep = ca;
	else
		mitmd_ca_free(&ca);
	return r;
}

/*
 * If the list stays open, any name can be signed later, with a key of its own.
 */
static void
test_open(void)
{
	struct mitmd_ca keep = {NULL, NULL};
	struct mitmd_leaf leaf[1], late;
	struct span der;

	ok(make(1, leaf, &der, &keep) == 0 &&
	    keep.cert != NULL && keep.key != NULL, "open: the CA is kept");
	ok(X509_get_ext_by_NID(keep.cert, NID_name_constraints, -1) == -1,
	    "open: its names are not constrained");
	is_int(verify(leaf[0].cert, keep.cert, "api.example.com",
	    X509_PURPOSE_SSL_SERVER), X509_V_OK, "open: the first verifies");
	ok(mitmd_ca_leaf(&keep, SPAN("docs.example.net"), &late) == 0,
	    "open: one more host");
	is_int(verify(late.cert, keep.cert, "docs.example.net",
	    X509_PURPOSE_SSL_SERVER), X509_V_OK, "open: it verifies");
	is_int(verify(late.cert, keep.cert, "api.example.com",
	    X509_PURPOSE_SSL_SERVER), X509_V_ERR_HOSTNAME_MISMATCH,
	    "open: and not for another");
	mitmd_leaf_free(&leaf[0]);
	mitmd_leaf_free(&late);
	mitmd_ca_free(&keep);
	OPENSSL_free((void *)(uintptr_t)der.p);
	ok(make(0, NULL, &der, &keep) == 0,
	    "open: a list that is empty yet");
	mitmd_ca_free(&keep);
	OPENSSL_free((void *)(uintptr_t)der.p);
}

int
main(void)
{
	struct mitmd_leaf leaf[2], again[2], none[1];
	struct span der, der2;
	const uint8_t *p;
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *ca, *forged;

	ok(make(2, leaf, &der, NULL) == 0, "two hosts");
	p = der.p;
	ca = d2i_X509(NULL, &p, (long)der.len);
	ok(ca != NULL && p == der.p + der.len, "the CA is DER");
	test_cert(ca, 31);
	test_cert(leaf[0].cert, 31);
	test_cert(leaf[1].cert, 31);
	ok(has_text(ca, NID_basic_constraints, "CA:TRUE, pathlen:0", true),
	    "CA: true, no CA below it, critical");
	ok(has_text(ca, NID_key_usage, "Certificate Sign", true),
	    "CA: signs certificates");
	ok(has_text(ca, NID_name_constraints, "DNS:api.example.com", true) &&
	    has_text(ca, NID_name_constraints, "DNS:models.example.org", true),
	    "CA: names constrained, critical");
	ok(X509_get0_subject_key_id(ca) != NULL, "CA: key identifier");
	ok(has_text(leaf[0].cert, NID_basic_constraints, "CA:FALSE", true) &&
	    has_text(leaf[0].cert, NID_key_usage, "Digital Signature", true) &&
	    has_text(leaf[0].cert, NID_ext_key_usage, "Server", false) &&
	    has_text(leaf[0].cert, NID_subject_alt_name, "DNS:api.example.com",
	    false) && X509_get0_authority_key_id(leaf[0].cert) != NULL,
	    "leaf: a server's, for its host");
	is_int(X509_check_private_key(leaf[0].cert, leaf[0].key), 1,
	    "the leaf's key is its own");
	ok(EVP_PKEY_eq(leaf[0].key, leaf[1].key) != 1 &&
	    EVP_PKEY_eq(X509_get0_pubkey(ca), leaf[0].key) != 1,
	    "a key for each");
	is_int(verify(leaf[0].cert, ca, "api.example.com",
	    X509_PURPOSE_SSL_SERVER), X509_V_OK, "verifies, strictly");
	is_int(verify(leaf[1].cert, ca, "models.example.org",
	    X509_PURPOSE_SSL_SERVER), X509_V_OK, "the other one too");
	is_int(verify(leaf[0].cert, ca, "models.example.org",
	    X509_PURPOSE_SSL_SERVER), X509_V_ERR_HOSTNAME_MISMATCH,
	    "not for another host");
	is_int(verify(leaf[0].cert, ca, "api.example.com",
	    X509_PURPOSE_SSL_CLIENT), X509_V_ERR_INVALID_PURPOSE,
	    "not as a client");
	/* A leaf cannot sign, and the constraints bind even the CA's key. */
	forged = forge(leaf[1].cert, key, leaf[0].cert, leaf[0].key,
	    "DNS:evil.example.net", "critical,CA:FALSE");
	ok(verify(forged, ca, "evil.example.net", X509_PURPOSE_SSL_SERVER) !=
	    X509_V_OK, "a leaf cannot sign");
	X509_free(forged);
	OPENSSL_free((void *)(uintptr_t)der.p);
	ok(make(2, again, &der2, NULL) == 0, "another session");
	ok(X509_cmp(leaf[0].cert, again[0].cert) != 0 &&
	    ASN1_INTEGER_cmp(X509_get0_serialNumber(leaf[0].cert),
	    X509_get0_serialNumber(again[0].cert)) != 0 &&
	    verify(again[0].cert, ca, "api.example.com",
	    X509_PURPOSE_SSL_SERVER) != X509_V_OK, "has nothing in common");
	OPENSSL_free((void *)(uintptr_t)der2.p);
	ok(make(0, none, &der, NULL) == -1, "no host: no CA");
	for (unsigned i = 0; i < 2; i++) {
		mitmd_leaf_free(&leaf[i]);
		mitmd_leaf_free(&again[i]);
	}
	X509_free(ca);
	EVP_PKEY_free(key);
	test_open();
	return tap_done();
}
