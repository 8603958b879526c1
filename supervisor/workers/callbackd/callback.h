/* SPDX-License-Identifier: ISC */
/*
 * The answer that a browser brings back from a login, as pure functions: the
 * target of its
 * one request, or the address that a person pasted. Anything that can reach the
 * loopback port may have sent it, a page of another site included.
 */
#ifndef CALLBACK_H
#define CALLBACK_H

#include "common/http/http1.h"
#include "common/ipc/proto.h"

#define CALLBACK_PATH "/callback"
#define CALLBACK_HEAD 16384U /* bytes of a request */

/* The answer that is awaited. */
struct callback_want {
	char state[65], host[65];
	char issuer[PROTO_MAX_URL + 1];
	bool iss; /* the answer must name the issuer */
};

struct callback {
	char code[PROTO_MAX_CODE + 1];
	char issuer[PROTO_MAX_URL + 1];
	bool named; /* the issuer is named */
	char error[65], text[401]; /* an issuer refuses so; or "" */
	const char *why; /* for PROTO_SEEN_OTHER: a constant text */
};

/*
 * Read "/callback?NAME=VALUE&...", or a whole address that ends so. Whatever is
 * kept of it is in `c`, which the caller wipes.
 */
enum proto_seen callback_target(
    struct span target, const struct callback_want *, struct callback *c);
/*
 * Returns NULL if a browser that follows a link has sent this request, or why
 * it is refused.
 */
const char *callback_head(
    const struct http1_head *, const struct callback_want *);

#endif
