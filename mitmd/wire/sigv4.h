/* SPDX-License-Identifier: ISC */
/*
 * AWS Signature Version 4: the Authorization of a request, computed from its
 * parts as they will be sent. Nothing is collected in a buffer: the canonical
 * request, which may contain a session token, is hashed piece by piece, and
 * every intermediate key is wiped before the call returns.
 *
 * Path segments are encoded once more than they are sent, as every service
 * except S3 requires. Paths have no dot segments here, so nothing needs to be
 * normalised.
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
	struct span token; /* session token; may be empty */
};

struct sigv4_scope {
	struct span region, service;
};

struct sigv4_field {
	struct span name, value; /* name in lower case, without repetition */
};

struct sigv4_request {
	struct span method;
	struct span prefix, path;         /* concatenated */
	struct span query;                /* NAME=VALUE&..., without escapes */
	const struct sigv4_field *fields; /* all signed fields, in any order */
	unsigned nfields;
	const char *date; /* as written by sigv4_date() */
	const char *body; /* SHA-256 of the body, in hex */
};

/*
 * Format seconds since 1970 as the scheme requires. Returns 0, or -1 if there
 * is no such date.
 */
int sigv4_date(uint64_t seconds, char out[SIGV4_DATE]);
void sigv4_hex(const uint8_t sum[32], char out[SIGV4_HEX]);
/*
 * Write the value of Authorization into dst[cap]. Returns 0, or -1 with EINVAL
 * (too many fields or parameters) or ENOBUFS (no room).
 */
int sigv4_sign(const struct sigv4_key *, const struct sigv4_scope *,
    const struct sigv4_request *, uint8_t *dst, size_t cap, size_t *len);

/*
 * Returns the key's id from a value of Authorization, or p NULL unless it has
 * this form and scope. The signature itself is not checked: see sigv4.c.
 */
struct span sigv4_claimed(struct span value, const struct sigv4_scope *);

#endif
