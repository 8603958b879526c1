/* SPDX-License-Identifier: ISC */
/*
 * A request head as the provider gets it, always in this order:
 *
 *	POST /prefix/path?query HTTP/1.1
 *	host: name[:port]
 *	x-api-key: <credential>		(or authorization: Bearer ..., as the
 *					provider file says)
 *	accept-encoding: identity
 *	content-length: 123		(not where there is no body)
 *	connection: close		(only when connections are single-use)
 *	<what the provider file allows, in the agent's order>
 *	<what goes along with a login>
 *
 * Where it is signed, Authorization, x-amz-content-sha256, x-amz-date and, of a
 * session, x-amz-security-token stand in the credential's place.
 *
 * It holds the credential, so it is composed in secret memory.
 */
#ifndef KEYD_HEAD_H
#define KEYD_HEAD_H

#include "common/span.h"
#include "wire/sigv4.h"

/* A header that goes along: the agent's own is replaced, or added to. */
struct keyd_head_add {
	struct span name, value;
	bool append;		/* one more entry of the agent's list */
};

struct keyd_head {
	struct span method;
	struct span prefix, path, query;	/* query may be empty */
	struct span host;
	uint16_t port;
	bool tls;
	struct span auth_header;		/* of the credential; empty: none */
	struct span auth_prefix;		/* before it: "Bearer " */
	struct span credential;			/* the real key */
	const struct sigv4_scope *sign;	/* NULL: written as it is; else: */
	struct sigv4_key key;
	const char *date;		/* as sigv4_date wrote it */
	const uint8_t *body;		/* SHA-256 of it */
	uint64_t length;
	bool close;
	struct span ws_key;	/* a WebSocket is asked for; empty: none */
	struct span headers;			/* packed; see provider_pack */
	const struct keyd_head_add *adds;	/* at most 32 */
	unsigned nadds;
};

/*
 * Into dst[cap]; same input, same bytes. -1 ENOBUFS: does not fit, EBADMSG:
 * a control character or a malformed list; dst is wiped then.
 */
int keyd_head_compose(const struct keyd_head *, uint8_t *dst, size_t cap,
    size_t *len);

/*
 * keyd/sign.c: the lines that sign it, at dst; host: the value of Host, as it
 * was written. Errors as above.
 */
int keyd_sign_compose(const struct keyd_head *, struct span host, uint8_t *dst,
    size_t cap, size_t *len);

#endif
