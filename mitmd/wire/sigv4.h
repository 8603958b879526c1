/* SPDX-License-Identifier: ISC */
/*
 * AWS Signature Version 4: the Authorization of a request, from its parts as
 * they will stand on the wire.  Nothing is gathered in a buffer: the canonical
 * request, which may hold a session token, goes through the hash piece by
 * piece, and every intermediate key is wiped before the call returns.
 *
 * Path segments are encoded once more than they are on the wire, as every
 * service but S3 wants it; paths hold no dot segment here, so that there is
 * nothing to normalise.
 */
#ifndef SIGV4_H
#define SIGV4_H

#include "common/span.h"

#define SIGV4_DATE 17U /* "20150830T123600Z" and NUL */
#define SIGV4_HEX 65U  /* SHA-256 in hex and NUL */
#define SIGV4_MAX_FIELDS 272U
#define SIGV4_MAX_PARAMS 32U
#define SIGV4_SCHEME "AWS4-HMAC-SHA256"

struct sigv4_key {
	struct span id, secret;
	struct span token; /* of a session; empty: none */
};

struct sigv4_scope {
	struct span region, service;
};

struct sigv4_field {
	struct span name, value; /* name in lower case, none twice */
};

struct sigv4_request {
	struct span method;
	struct span prefix, path;         /* one behind the other */
	struct span query;                /* NAME=VALUE&..., nothing escaped */
	const struct sigv4_field *fields; /* all that are signed, any order */
	unsigned nfields;
	const char *date; /* as sigv4_date wrote it */
	const char *body; /* SHA-256 of the body, in hex */
};

/* Seconds since 1970 as the scheme wants them. -1: no such date. */
int sigv4_date(uint64_t seconds, char out[SIGV4_DATE]);
void sigv4_hex(const uint8_t sum[32], char out[SIGV4_HEX]);
/*
 * The value of Authorization into dst[cap]. -1 EINVAL: too many fields or
 * parameters, ENOBUFS: does not fit.
 */
int sigv4_sign(const struct sigv4_key *, const struct sigv4_scope *,
    const struct sigv4_request *, uint8_t *dst, size_t cap, size_t *len);

/*
 * The key's id out of such a value, if it is one for this scope; p NULL: it is
 * none.  The signature itself is not looked at: see sigv4.c.
 */
struct span sigv4_claimed(struct span value, const struct sigv4_scope *);

#endif
