/* SPDX-License-Identifier: ISC */
/*
 * The head of a request to the provider, always in this order:
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
 * A signed request has Authorization, x-amz-content-sha256, x-amz-date and,
 * with a session token, x-amz-security-token in place of the credential.
 *
 * The head contains the credential, so it is composed in secret memory.
 */
#ifndef KEYD_HEAD_H
#define KEYD_HEAD_H

#include "common/span.h"
#include "wire/sigv4.h"

/*
 * A header that accompanies a login: replaces the agent's own, or is appended
 * to it.
 */
struct keyd_head_add {
	struct span name, value;
	bool append; /* append to the agent's list */
};

struct keyd_head {
	struct span method;
	struct span prefix, path, query; /* query may be empty */
	struct span host;
	uint16_t port;
	bool tls;
	struct span auth_header; /* the credential's header; empty: none */
	struct span auth_prefix; /* text before the credential: "Bearer " */
	struct span credential;  /* the real key */
	/* NULL: send the credential; else sign with `key` */
	const struct sigv4_scope *sign;
	struct sigv4_key key;
	const char *date;    /* as written by sigv4_date() */
	const uint8_t *body; /* SHA-256 of the body */
	uint64_t length;
	bool close;
	struct span ws_key;               /* WebSocket handshake; empty: none */
	struct span headers;              /* packed; see provider_pack */
	const struct keyd_head_add *adds; /* at most 32 */
	unsigned nadds;
};

/*
 * Write the head to dst[cap]; the same input always gives the same bytes.
 * Returns 0, or -1 with ENOBUFS (no room) or EBADMSG (a control character or a
 * malformed list); dst is wiped then.
 */
int keyd_head_compose(
    const struct keyd_head *, uint8_t *dst, size_t cap, size_t *len);

/*
 * keyd/sign.c: Write the header lines that sign the request to dst[cap]. `host`
 * is the value of Host as written. Errors as for keyd_head_compose().
 */
int keyd_sign_compose(const struct keyd_head *, struct span host, uint8_t *dst,
    size_t cap, size_t *len);

#endif
