/* SPDX-License-Identifier: ISC */
/* A store of certificates in Java's own form. */
#ifndef BOX_CLIENTS_JKS_H
#define BOX_CLIENTS_JKS_H

#include "common/buf.h"

/* The password that Java's own store has, which is public. */
#define JKS_PASSWORD "changeit"
#define JKS_MAX 4194304U /* bytes */

/*
 * Append a store with the certificates of a text in the form of PEM, which may
 * hold other text between them; empty ones are skipped, since a session without
 * providers has no CA. Returns their number, or -1 with errno EINVAL if one is
 * not valid PEM.
 */
int jks_put(struct buf *b, struct span pem);

#endif
