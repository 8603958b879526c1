/* SPDX-License-Identifier: ISC */
/*
 * The first token of a login at a remote MCP server, as pure functions over
 * spans in secret memory: dynamic registration (RFC 7591), the request for a
 * token with a code (RFC 6749 section 4.1.3, RFC 7636, RFC 8707), the login
 * file that is kept, and revocation (RFC 7009). Answers come from the network
 * and may be hostile.
 */
#ifndef KEYD_REGISTER_H
#define KEYD_REGISTER_H

#include "keyd/login/oauth.h"

#define GRANT_VERIFIER 43U /* 32 bytes in base64url */

struct grant {
	struct span client, secret; /* secret: empty if it has none */
	enum proto_auth auth;
	struct span redirect, resource, endpoint;
	struct span scopes; /* that it has; may be empty */
	struct span code, verifier;
};

/* The answer to a registration; spans into its text. */
struct grant_client {
	struct span id, secret;
	enum proto_auth auth;
};

/* Compose a registration. Returns 0, or -1 with ENOBUFS. */
int grant_register(struct span redirect, enum proto_auth, struct span scopes,
    uint8_t *dst, size_t cap, size_t *len);
/*
 * Parse the answer to it. `now`: seconds since 1970. Returns 0, or -1 with
 * `*why`, a constant text.
 */
int grant_registered(struct span text, struct span redirect, uint64_t now,
    struct grant_client *, const char **why);
/* Compose the request for a token. Returns 0, or -1 with ENOBUFS. */
int grant_ask(const struct grant *, uint8_t *dst, size_t cap, size_t *len);
/*
 * Parse the answer: `*scopes` is empty if it does not say which it grants.
 * Returns 0, or -1 with `*why`.
 */
int grant_answer(struct span text, struct oauth_answer *, struct span *scopes,
    const char **why);
/* Compose the login file. Returns 0, or -1 with ENOBUFS. */
int grant_file(const struct grant *, const struct oauth_answer *,
    uint64_t expires, uint8_t *dst, size_t cap, size_t *len);
/* Compose the revocation of a login whose file is parsed. */
int grant_revoke(
    const struct oauth_file *, uint8_t *dst, size_t cap, size_t *len);
/* Returns what an error answer says, a constant text, or "". */
const char *grant_error(struct span text);
/* Encode in base64url without padding; `dst` gets a NUL. */
void grant_base64url(struct span, char *dst);

#endif
