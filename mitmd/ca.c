/* SPDX-License-Identifier: ISC */
/*
 * Makes the session's CA and leaves: P-256, SHA-256, positive random serials,
 * valid for the longest session. A CA is constrained to the names on the list,
 * unless the list stays open. All input comes from icsupervisor.
 */
#include "ca.h"

#include <openssl/ec.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define CA_NAME "IronCurtain session CA"
#define CA_DAY (24L * 60 * 60)
/* The sandbox uses the same clock; this is for tools that round. */
#define CA_BACKDATE (5L * 60)

/* 128 bits, the first two 01: positive, and never shorter. */
static int
ca_serial(X509 *x)
{
	uint8_t bytes[16];
	BIGNUM *n;
	int r = -1;

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return -1;
	bytes[0] = (uint8_t)((bytes[0] & 0x3f) | 0x40);
	if ((n = BN_bin2bn(bytes, sizeof(bytes), NULL)) == NULL)
		return -1;
	if (BN_to_ASN1_INTEGER(n, X509_get_serialNumber(x)) != NULL)
		r = 0;
	BN_free(n);
	return r;
}

static int
ca_name(X509_NAME *name, struct span cn)
{
	return X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_ASC,
		   cn.p, (int)cn.len, -1, 0) == 1
		   ? 0
		   : -1;
}

static int
ca_extend(X509 *x, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *e;
	int r;

	X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
	if ((e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value)) == NULL)
		return -1;
	r = X509_add_ext(x, e, -1) == 1 ? 0 : -1;
	X509_EXTENSION_free(e);
	return r;
}

/* Add an extension with "DNS:host" for each host, each preceded by `word`. */
static int
ca_extend_hosts(X509 *x, X509 *issuer, int nid, const char *flags,
    const char *word, const struct span *hosts, unsigned n)
{
	static char value[MITMD_CA_HOSTS * 272 + 16];
	size_t len;
	int more;

	len = (size_t)snprintf(value, sizeof(value), "%s", flags);
	for (unsigned i = 0; i < n; i++) {
		if (hosts[i].len > 253 || len > sizeof(value) - 272)
			return -1;
		more = snprintf(value + len, sizeof(value) - len,
		    "%s%sDNS:%.*s", len == 0 ? "" : ",", word,
		    (int)hosts[i].len, (const char *)hosts[i].p);
		if (more < 0)
			return -1;
		len += (size_t)more;
	}
	return ca_extend(x, issuer, nid, value);
}

/*
 * Set version, serial, validity, subject and public key. An `issuer` of NULL
 * means self-signed.
 */
static X509 *
ca_begin(struct span cn, X509 *issuer, EVP_PKEY *key)
{
	X509 *x;

	if ((x = X509_new()) == NULL)
		return NULL;
	if (X509_set_version(x, X509_VERSION_3) != 1 || ca_serial(x) == -1 ||
	    X509_gmtime_adj(X509_getm_notBefore(x), -CA_BACKDATE) == NULL ||
	    X509_gmtime_adj(X509_getm_notAfter(x), MITMD_CA_DAYS * CA_DAY) ==
		NULL ||
	    ca_name(X509_get_subject_name(x), cn) == -1 ||
	    X509_set_issuer_name(
		x, X509_get_subject_name(issuer != NULL ? issuer : x)) != 1 ||
	    X509_set_pubkey(x, key) != 1) {
		X509_free(x);
		return NULL;
	}
	return x;
}

/* Make the CA's certificate; n == 0 allows any name. */
static X509 *
ca_cert(EVP_PKEY *key, const struct span *hosts, unsigned n)
{
	X509 *x;

	if ((x = ca_begin(SPAN(CA_NAME), NULL, key)) == NULL)
		return NULL;
	if (ca_extend(x, x, NID_basic_constraints,
		"critical,CA:TRUE,pathlen:0") == -1 ||
	    ca_extend(x, x, NID_key_usage, "critical,keyCertSign") == -1 ||
	    (n != 0 && ca_extend_hosts(x, x, NID_name_constraints, "critical",
			   "permitted;", hosts, n) == -1) ||
	    ca_extend(x, x, NID_subject_key_identifier, "hash") == -1 ||
	    X509_sign(x, key, EVP_sha256()) == 0) {
		X509_free(x);
		return NULL;
	}
	return x;
}

static X509 *
ca_leaf_cert(EVP_PKEY *key, X509 *ca, EVP_PKEY *cakey, struct span host)
{
	/* A common name is limited to 64 bytes; clients use the SAN. */
	struct span cn = host.len <= 64 ? host : SPAN("IronCurtain");
	X509 *x;

	if ((x = ca_begin(cn, ca, key)) == NULL)
		return NULL;
	if (ca_extend(x, ca, NID_basic_constraints, "critical,CA:FALSE") ==
		-1 ||
	    ca_extend(x, ca, NID_key_usage, "critical,digitalSignature") ==
		-1 ||
	    ca_extend(x, ca, NID_ext_key_usage, "serverAuth") == -1 ||
	    ca_extend_hosts(x, ca, NID_subject_alt_name, "", "", &host, 1) ==
		-1 ||
	    ca_extend(x, ca, NID_subject_key_identifier, "hash") == -1 ||
	    ca_extend(x, ca, NID_authority_key_identifier, "keyid:always") ==
		-1 ||
	    X509_sign(x, cakey, EVP_sha256()) == 0) {
		X509_free(x);
		return NULL;
	}
	return x;
}

void
mitmd_leaf_free(struct mitmd_leaf *l)
{
	X509_free(l->cert);
	EVP_PKEY_free(l->key);
	*l = (struct mitmd_leaf){NULL, NULL};
}

int
mitmd_ca_leaf(
    const struct mitmd_ca *ca, struct span host, struct mitmd_leaf *leaf)
{
	*leaf = (struct mitmd_leaf){NULL, EVP_EC_gen("P-256")};
	if (leaf->key != NULL && (leaf->cert = ca_leaf_cert(leaf->key, ca->cert,
				      ca->key, host)) != NULL)
		return 0;
	mitmd_leaf_free(leaf);
	errno = EIO;
	return -1;
}

void
mitmd_ca_free(struct mitmd_ca *ca)
{
	/* This is the only reference: OpenSSL wipes the private key. */
	EVP_PKEY_free(ca->key);
	X509_free(ca->cert);
	*ca = (struct mitmd_ca){NULL, NULL};
}

int
mitmd_ca_make(const struct span *hosts, unsigned n, bool open,
    struct span *der, struct mitmd_ca *out)
{
	struct mitmd_ca ca = {NULL, NULL};
	uint8_t *bytes = NULL;
	int len;

	/* Without a name constraint the CA would be valid for any name. */
	if ((n == 0 && !open) || n > MITMD_CA_HOSTS) {
		errno = EINVAL;
		return -1;
	}
	if ((ca.key = EVP_EC_gen("P-256")) == NULL ||
	    (ca.cert = ca_cert(ca.key, hosts, open ? 0 : n)) == NULL ||
	    (len = i2d_X509(ca.cert, &bytes)) <= 0) {
		mitmd_ca_free(&ca);
		errno = EIO;
		return -1;
	}
	*der = span_of(bytes, (size_t)len);
	*out = ca;
	return 0;
}
