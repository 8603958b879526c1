/* SPDX-License-Identifier: ISC */
/*
 * The session's certificates.  A CA is made in memory, signs one leaf for
 * each host of the list, and its key is destroyed before mitmd_ca_make
 * returns: from then on no certificate for another name can exist.  Only
 * where the list stays open is it kept, for the hosts that are added.
 */
#ifndef MITMD_CA_H
#define MITMD_CA_H

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "common/span.h"

#define MITMD_CA_DAYS 30
#define MITMD_CA_HOSTS 192U

struct mitmd_leaf {
	X509 *cert;
	EVP_PKEY *key;
};

/* The CA of an open list. */
struct mitmd_ca {
	X509 *cert;
	EVP_PKEY *key;
};

/*
 * Makes the CA and a leaf for each of the n hosts (lower-case DNS names); the
 * CA's certificate, in DER, goes to *der, to be freed with OPENSSL_free. -1
 * when OpenSSL fails; then nothing is left behind.  keep: NULL, or the list is
 * open and may be empty: the CA, not constrained to any names.
 */
int mitmd_ca_make(const struct span *hosts, unsigned n,
    struct mitmd_leaf *leaves, struct span *der, struct mitmd_ca *keep);
/* A leaf for one more host. -1: OpenSSL fails. */
int mitmd_ca_leaf(
    const struct mitmd_ca *, struct span host, struct mitmd_leaf *);
void mitmd_leaf_free(struct mitmd_leaf *);

#endif
