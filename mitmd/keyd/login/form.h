/* SPDX-License-Identifier: ISC */
/*
 * A login that begins in the sandbox, as pure functions: the requests that the
 * agent's program may make to a token endpoint and those that keyd makes
 * instead, the answer and the part of it that the sandbox gets, and the login
 * file to keep. The request comes from the agent and the answer from the
 * network: either may be hostile.
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
enum form_member {
	FORM_MEMBERS(FORM_ENUM) FORM_COUNT
};
#undef FORM_ENUM

enum form_grant {
	FORM_BY_CODE,    /* authorization_code (RFC 6749 4.1.3) */
	FORM_BY_DEVICE,  /* device_code (RFC 8628 3.4) */
	FORM_BY_REFRESH, /* refresh_token */
};

/* Values point into `mem`; p NULL: absent. */
struct form {
	enum form_grant grant;
	struct span v[FORM_COUNT];
	uint8_t mem[PROVIDER_MAX_CAPTURE];
	size_t len;
};

/*
 * Parse a request. Returns 0, or -1 with `*why`, a constant text for the agent.
 */
int form_read(bool json, struct span body, struct form *, const char **why);
/*
 * Write the same members in keyd's own order and spelling. Returns 0, or -1
 * with ENOBUFS.
 */
int form_compose(
    bool json, const struct form *, uint8_t *dst, size_t cap, size_t *len);

/* A token endpoint's answer: spans into its text, empty if absent. */
struct form_grant_answer {
	struct oauth_answer tokens;
	uint64_t refresh_lifetime; /* seconds; 0: unknown */
	struct span scope;
	struct span account, email, organization, organization_name;
};

/*
 * Parse an answer. Returns 0, or -1 with `*why`, a constant text. An unknown
 * member that looks like a token is an error.
 */
int form_parse_grant(
    struct span text, struct form_grant_answer *, const char **why);
/*
 * Write the answer for the sandbox: each token is the placeholder, and an ID
 * token is the login's fake one. Returns 0, or -1 with ENOBUFS.
 */
int form_answer(const struct provider_login *, struct span sentinel,
    const struct form_grant_answer *, uint8_t *dst, size_t cap, size_t *len);
/* Returns the reason in an error answer (RFC 6749 5.2, RFC 8628 3.5). */
const char *form_error(unsigned status, struct span text);

/*
 * Copy a claim of an ID token to dst. Returns 0, or -1 if there is no such
 * text.
 */
int form_claim(
    struct span id, const struct span claim[2], char dst[OAUTH_MAX_ADD + 1]);
/* Write a login file in the vendor's layout; `adds` as in struct oauth_file. */
int form_file(const struct provider_login *, const struct oauth_new *,
    const struct span adds[PROVIDER_MAX_ADDS], uint8_t *dst, size_t cap,
    size_t *len);

#endif
