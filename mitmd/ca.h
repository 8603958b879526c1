/* SPDX-License-Identifier: ISC */
/*
 * The session's certificates. mitmd_ca_make() makes a CA in memory, signs a
 * leaf for each host of the list, and destroys the CA's key before it returns:
 * from then on no certificate for another name can exist. Only if the list
 * stays open is the key kept, for hosts that are added.
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

/* The CA of a list that stays open. */
struct mitmd_ca {
	X509 *cert;
	EVP_PKEY *key;
};

/*
 * Make the CA and a leaf for each of the `n` hosts (lower-case DNS names).
 * `*der` receives the CA's certificate, to be freed with OPENSSL_free(). If the
 * list stays open, `n` may be 0 and `keep` receives the CA, which is then not
 * constrained to names; otherwise `keep` is NULL. Returns 0, or -1 if OpenSSL
 * failed; then nothing is allocated.
 */
int mitmd_ca_make(const struct span *hosts, unsigned n,
    struct mitmd_leaf *leaves, struct span *der, struct mitmd_ca *keep);
/* Make a leaf for one more host. Returns 0, or -1 if OpenSSL failed. */
int mitmd_ca_leaf(
    const struct mitmd_ca *, struct span host, struct mitmd_leaf *);
void mitmd_leaf_free(struct mitmd_leaf *);

#endif
