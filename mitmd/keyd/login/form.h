/* SPDX-License-Identifier: ISC */
/*
 * A login that begins in the box, as pure functions: what the agent's program
 * may ask of a token endpoint and how keyd asks instead, what the answer may
 * hold and what the box is told of it, and the login file that is kept.  The
 * request is the agent's, the answer the network's: either may be anything.
 */
#ifndef KEYD_FORM_H
#define KEYD_FORM_H

#include "keyd/login/oauth.h"

/* clang-format off */
#define FORM_MEMBERS(M)							\
	M(GRANT_TYPE, "grant_type")					\
	M(CLIENT_ID, "client_id")					\
	M(CODE, "code")							\
	M(REDIRECT_URI, "redirect_uri")					\
	M(CODE_VERIFIER, "code_verifier")				\
	M(STATE, "state")						\
	M(DEVICE_CODE, "device_code")					\
	M(EXPIRES_IN, "expires_in")					\
	M(SCOPE, "scope")						\
	M(REFRESH_TOKEN, "refresh_token")
/* clang-format on */

#define FORM_ENUM(name, text) FORM_##name,
enum form_member { FORM_MEMBERS(FORM_ENUM) FORM_COUNT };
#undef FORM_ENUM

enum form_grant {
	FORM_BY_CODE,	 /* authorization_code (RFC 6749 4.1.3) */
	FORM_BY_DEVICE,	 /* device_code (RFC 8628 3.4) */
	FORM_BY_REFRESH, /* refresh_token */
};

/* Values lie in mem; p NULL: not there. */
struct form {
	enum form_grant grant;
	struct span v[FORM_COUNT];
	uint8_t mem[PROVIDER_MAX_CAPTURE];
	size_t len;
};

/* -1: *why is constant text that the agent may be told. */
int form_read(bool json, struct span body, struct form *, const char **why);
/* The same members in our order and spelling. -1 ENOBUFS. */
int form_compose(
    bool json, const struct form *, uint8_t *dst, size_t cap, size_t *len);

/* A token endpoint's answer: spans into its text, empty where there is none. */
struct form_grant_answer {
	struct oauth_answer tokens;
	uint64_t refresh_lifetime; /* seconds; 0: it does not say */
	struct span scope;
	struct span account, email, organization, organization_name;
};

/* -1: *why is constant text. What is not known and looks like a token: -1. */
int form_parse_grant(
    struct span text, struct form_grant_answer *, const char **why);
/*
 * What the box gets of it: each token is the sentinel, an ID token the
 * login's made-up one. -1 ENOBUFS.
 */
int form_answer(const struct provider_login *, struct span sentinel,
    const struct form_grant_answer *, uint8_t *dst, size_t cap, size_t *len);
/* The word of RFC 6749 5.2 or RFC 8628 3.5 that says why not. */
const char *form_error(unsigned status, struct span text);

/* A claim of an ID token into dst: 0, or -1: there is no such word. */
int form_claim(
    struct span id, const struct span claim[2], char dst[OAUTH_MAX_ADD + 1]);
/* A login file in the vendor's layout. adds: as in struct oauth_file. */
int form_file(const struct provider_login *, const struct oauth_new *,
    const struct span adds[PROVIDER_MAX_ADDS], uint8_t *dst, size_t cap,
    size_t *len);

#endif
