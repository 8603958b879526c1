/* SPDX-License-Identifier: ISC */
/*
 * The session's certificates: a CA that is made in memory, and a leaf for each
 * host of the list. mitmd destroys the CA's key once the leaves exist: from
 * then on no certificate for another name can be made. Only if the list stays
 * open is the key kept, for hosts that are added.
 */
#ifndef MITMD_CA_H
#define MITMD_CA_H

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <stdbool.h>

#include "common/span.h"

#define MITMD_CA_DAYS 30
#define MITMD_CA_HOSTS 192U

struct mitmd_leaf {
	X509 *cert;
	EVP_PKEY *key;
};

struct mitmd_ca {
	X509 *cert;
	EVP_PKEY *key;
};

/*
 * Make a CA for the `n` hosts (lower-case DNS names). `*der` receives its
 * certificate, to be freed with OPENSSL_free(). If the list is `open`, `n` may
 * be 0 and the CA is not constrained to names; its owner must otherwise free it
 * before the first byte of an agent is read. Returns 0, or -1 if OpenSSL
 * failed; then nothing is allocated.
 */
int mitmd_ca_make(const struct span *hosts, unsigned n, bool open,
    struct span *der, struct mitmd_ca *);
/* Wipe the CA's key, and forget the certificate. */
void mitmd_ca_free(struct mitmd_ca *);
/* Make a leaf for a host. Returns 0, or -1 if OpenSSL failed. */
int mitmd_ca_leaf(
    const struct mitmd_ca *, struct span host, struct mitmd_leaf *);
void mitmd_leaf_free(struct mitmd_leaf *);

#endif
