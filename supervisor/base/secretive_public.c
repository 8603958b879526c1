/* SPDX-License-Identifier: ISC */
/*
 * Tells certificates from keys in the form of PEM. A file of certificates may
 * have comments between them.
 */
#include "base/secretive.h"

#define PEM_BEGIN "-----BEGIN "

static const char *const pem_public[] = {"CERTIFICATE-----",
    "TRUSTED CERTIFICATE-----", "X509 CERTIFICATE-----", "X509 CRL-----",
    "PUBLIC KEY-----", "RSA PUBLIC KEY-----", "PGP PUBLIC KEY BLOCK-----",
    "SSH2 PUBLIC KEY----", "DH PARAMETERS-----", "EC PARAMETERS-----"};

bool
secretive_private_key(struct span s)
{
	return s.len != 0 &&
	       (memmem(s.p, s.len, "PRIVATE KEY", 11) != NULL ||
		   memmem(s.p, s.len, "PuTTY-User-Key-File", 19) != NULL);
}

bool
secretive_public(struct span s)
{
	const uint8_t *p = s.p, *end = s.p + s.len;
	bool one = false, known;
	size_t n;

	if (s.len == 0 || secretive_private_key(s))
		return false;
	while ((p = memmem(p, (size_t)(end - p), PEM_BEGIN,
		    sizeof(PEM_BEGIN) - 1)) != NULL) {
		p += sizeof(PEM_BEGIN) - 1;
		known = false;
		for (size_t i = 0; i < nitems(pem_public) && !known; i++) {
			n = strlen(pem_public[i]);
			known = (size_t)(end - p) >= n &&
				memcmp(p, pem_public[i], n) == 0;
		}
		if (!known)
			return false;
		one = true;
	}
	return one;
}
