/* SPDX-License-Identifier: ISC */
/*
 * mcp-grantd's messages, in the order of a login: REGISTER or CLIENT_SECRET,
 * LOGIN_BEGIN, CALLBACK; or LOGOUT alone. One request is under way at a time.
 * Whatever does not fit is refused, and nothing of an answer but a few checked
 * words leaves this process.
 */
#include "grantd/grantd.h"

#include <openssl/sha.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "keyd/login/oauth.h"
#include "keyd/login/register.h"

static struct {
	bool asked;                        /* a request is under way */
	char client[PROTO_MAX_CLIENT + 1]; /* registered, or named by icctl */
	char redirect[257], resource[PROTO_MAX_URL + 1];
	char issuer[PROTO_MAX_URL + 1], scopes[PROTO_MAX_SCOPES + 1];
	char state[GRANT_VERIFIER + 1];
	enum proto_auth auth;
	bool iss;              /* the answer must name the issuer */
	bool begun, answered;  /* LOGIN_BEGIN, CALLBACK came */
	struct secret *secret; /* the client's, or NULL */
	size_t secret_len;
	struct secret *verifier, *code;
	size_t code_len;
	int out; /* the login file */
	/* The token endpoint, for when the code comes. */
	char host[254], path[PROTO_MAX_PLACE + 1];
	uint16_t port;
	char endpoint[PROTO_MAX_PLACE + 280];
} grant = {.out = -1};

static struct span
grant_bytes(struct secret *s, size_t len)
{
	size_t cap;

	return s == NULL ? span_of(NULL, 0)
			 : span_of(secret_bytes(s, &cap), len);
}

/* Copy a text into new secret memory. Returns -1 if there is no room. */
static int
grant_keep(struct secret **s, size_t *len, struct span text)
{
	size_t cap;

	secret_free(*s);
	*len = 0;
	if ((*s = secret_new(text.len + 1)) == NULL)
		return -1;
	memcpy(secret_bytes(*s, &cap), text.p, text.len);
	*len = text.len;
	return 0;
}

static void
grant_done(const struct msg_LOGIN_DONE *m)
{
	struct msg_LOGIN_DONE d = *m;

	if (d.scopes.p == NULL)
		d.scopes = SPAN("");
	if (d.why.p == NULL)
		d.why = SPAN("");
	worker_send(&keyd_env.w, ROLE_SUP, 0, MSG_LOGIN_DONE, &d, -1);
	if (grant.out != -1)
		close(grant.out);
	grant.out = -1;
}

static void
grant_failed(unsigned status, const char *why)
{
	const struct msg_LOGIN_DONE m = {
	    .status = (uint16_t)status, .why = span_str(why)};

	grant_done(&m);
}

/* Say why an endpoint refused. Returns `dst`. */
static const char *
grant_refusal(
    unsigned status, struct span body, const char *why, char *dst, size_t cap)
{
	const char *word = status != 0 ? grant_error(body) : "";

	if (status == 0)
		snprintf(dst, cap, "%s", why);
	else
		snprintf(dst, cap, "it answered with status %u%s%s", status,
		    word[0] != '\0' ? ", " : "", word);
	return dst;
}

/* See token_done. */
static void
grant_on_registered(unsigned status, struct span body, const char *why)
{
	struct msg_REGISTERED m = {
	    .status = (uint16_t)status, .client = SPAN(""), .why = SPAN("")};
	struct grant_client c;
	char text[257];

	grant.asked = false;
	if (status != 200 && status != 201) {
		m.why = span_str(
		    grant_refusal(status, body, why, text, sizeof(text)));
	} else if (grant_registered(body, span_str(grant.redirect),
		       clock_wall_us() / 1000000, &c, &why) == -1 ||
		   (c.secret.len != 0 &&
		       grant_keep(&grant.secret, &grant.secret_len, c.secret) ==
			   -1)) {
		snprintf(text, sizeof(text), "its answer %s", why);
		m.why = span_str(text);
	} else {
		(void)span_copy(c.id, grant.client, sizeof(grant.client));
		grant.auth = c.auth;
		m.client = span_str(grant.client);
		m.auth = (uint8_t)c.auth;
	}
	worker_send(&keyd_env.w, ROLE_SUP, 0, MSG_REGISTERED, &m, -1);
}

static int
on_register(struct chan *c, const struct msg_REGISTER *m)
{
	struct token_how how = {.type = "application/json"};
	const char *why = "the registration is too long";
	uint8_t *body;
	size_t cap, len;

	if (grant.asked || grant.begun ||
	    !oauth_is_token(m->redirect, sizeof(grant.redirect) - 1) ||
	    (m->scopes.len != 0 &&
		!oauth_is_text(m->scopes, PROTO_MAX_SCOPES)) ||
	    span_copy(m->redirect, grant.redirect, sizeof(grant.redirect)) ==
		-1 ||
	    token_place(m->host, m->port, m->path, GRANTD_REGISTRATION) == -1)
		return chan_violation(c, "REGISTER is impossible");
	if ((body = token_room(&cap)) == NULL)
		return chan_violation(c, "REGISTER out of place");
	(void)span_copy(m->scopes, grant.scopes, sizeof(grant.scopes));
	grant.asked = true;
	if (grant_register(m->redirect, (enum proto_auth)m->auth, m->scopes,
		body, cap, &len) == -1 ||
	    token_send(&how, len, grant_on_registered, &why) == -1)
		grant_on_registered(0, span_of(NULL, 0), why);
	return 0;
}

/* Read a file or a pipe of the user's, which may block for a moment. */
static int
grant_read(int fd)
{
	int r;

	while ((r = secret_read_fd(keyd_env.file, fd)) == 1)
		;
	close(fd);
	return r;
}

static int
on_client_secret(struct chan *c, const struct msg_CLIENT_SECRET *m, int fd)
{
	struct span s;

	if (grant.begun || grant.secret != NULL) {
		close(fd);
		return chan_violation(c, "CLIENT_SECRET out of place");
	}
	if (grant_read(fd) == 0) {
		s = secret_span(keyd_env.file);
		while (s.len != 0 && s.p[s.len - 1] == '\n')
			s.len--;
		if (oauth_is_token(s, OAUTH_MAX_ADD) &&
		    grant_keep(&grant.secret, &grant.secret_len, s) == 0) {
			keyd_file_wipe();
			return 0;
		}
	}
	keyd_file_wipe();
	log_warnx("the client's secret cannot be read, or is none");
	return 0;
}

/* Make 32 random bytes, as base64url in secret memory. */
static int
grant_random(struct secret **s)
{
	uint8_t raw[32];
	size_t cap;

	if (*s == NULL && (*s = secret_new(GRANT_VERIFIER + 1)) == NULL)
		return -1;
	arc4random_buf(raw, sizeof(raw));
	grant_base64url(
	    span_of(raw, sizeof(raw)), (char *)secret_bytes(*s, &cap));
	explicit_bzero(raw, sizeof(raw));
	return 0;
}

static void
grant_challenge(void)
{
	uint8_t raw[SHA256_DIGEST_LENGTH], state[16];
	char challenge[GRANT_VERIFIER + 1];
	struct msg_CHALLENGE m;
	struct span verifier = grant_bytes(grant.verifier, GRANT_VERIFIER);

	SHA256(verifier.p, verifier.len, raw);
	grant_base64url(span_of(raw, sizeof(raw)), challenge);
	arc4random_buf(state, sizeof(state));
	grant_base64url(span_of(state, sizeof(state)), grant.state);
	m = (struct msg_CHALLENGE){
	    .state = span_str(grant.state), .challenge = span_str(challenge)};
	worker_send(&keyd_env.w, ROLE_SUP, 0, MSG_CHALLENGE, &m, -1);
}

static int
on_login_begin(struct chan *c, const struct msg_LOGIN_BEGIN *m, int fd)
{
	if (grant.asked || grant.begun || m->port == 0 || m->host.len == 0 ||
	    !oauth_is_token(m->client, sizeof(grant.client) - 1) ||
	    !oauth_is_token(m->redirect, sizeof(grant.redirect) - 1) ||
	    !oauth_is_token(m->resource, sizeof(grant.resource) - 1) ||
	    !oauth_is_token(m->issuer, sizeof(grant.issuer) - 1)) {
		close(fd);
		return chan_violation(c, "LOGIN_BEGIN is impossible");
	}
	(void)span_copy(m->client, grant.client, sizeof(grant.client));
	(void)span_copy(m->redirect, grant.redirect, sizeof(grant.redirect));
	(void)span_copy(m->resource, grant.resource, sizeof(grant.resource));
	(void)span_copy(m->issuer, grant.issuer, sizeof(grant.issuer));
	(void)span_copy(m->host, grant.host, sizeof(grant.host));
	(void)span_copy(m->path, grant.path, sizeof(grant.path));
	grant.port = m->port;
	snprintf(grant.endpoint, sizeof(grant.endpoint), "https://%s:%u%s",
	    grant.host, (unsigned)grant.port, grant.path);
	grant.auth = (enum proto_auth)m->auth;
	grant.iss = m->iss != 0;
	grant.begun = true;
	grant.out = fd;
	if (grant.auth != PROTO_AUTH_NONE && grant.secret == NULL)
		grant_failed(0, "the client's secret cannot be read");
	else if (grant_random(&grant.verifier) == -1)
		grant_failed(0, "out of secret memory");
	else
		grant_challenge();
	return 0;
}

/* Compose the login file and write it. Returns NULL, or the error. */
static const char *
grant_write(
    const struct grant *g, const struct oauth_answer *a, uint64_t expires)
{
	static char text[128];
	size_t cap, len;
	uint8_t *p = secret_bytes(keyd_env.file, &cap);
	int rv;

	if (grant_file(g, a, expires, p, cap, &len) == -1)
		return "the login does not fit into a file";
	rv = span_write(grant.out, span_of(p, len));
	explicit_bzero(p, len);
	if (rv == 0)
		return NULL;
	snprintf(text, sizeof(text), "the login file cannot be written: %s",
	    strerror(errno));
	return text;
}

static struct grant
grant_now(void)
{
	return (struct grant){.client = span_str(grant.client),
	    .secret = grant.auth == PROTO_AUTH_NONE
			  ? span_of(NULL, 0)
			  : grant_bytes(grant.secret, grant.secret_len),
	    .auth = grant.auth,
	    .redirect = span_str(grant.redirect),
	    .resource = span_str(grant.resource),
	    .endpoint = span_str(grant.endpoint),
	    .code = grant_bytes(grant.code, grant.code_len),
	    .verifier = grant_bytes(grant.verifier, GRANT_VERIFIER)};
}

/* See token_done. */
static void
grant_on_token(unsigned status, struct span body, const char *why)
{
	struct msg_LOGIN_DONE m = {.good = 1, .status = (uint16_t)status};
	uint64_t now = clock_wall_us() / 1000000;
	struct grant g = grant_now();
	struct oauth_answer a;
	char text[257];

	grant.asked = false;
	secret_free(grant.code);
	secret_free(grant.verifier);
	grant.code = grant.verifier = NULL;
	if (status != 200) {
		grant_failed(status,
		    grant_refusal(status, body, why, text, sizeof(text)));
		return;
	}
	if (grant_answer(body, &a, &m.scopes, &why) == -1) {
		snprintf(text, sizeof(text), "its answer %s", why);
		grant_failed(status, text);
		return;
	}
	m.expires = oauth_jwt_expires(a.access);
	if (a.lifetime != 0 || m.expires <= now)
		m.expires = a.lifetime == 0 ? 0 : now + a.lifetime;
	m.renews = a.refresh.len != 0;
	/* RFC 6749, section 5.1: it has all that was asked for, or says which.
	 */
	g.scopes = m.scopes.len != 0 ? m.scopes : span_str(grant.scopes);
	if ((why = grant_write(&g, &a, m.expires)) != NULL)
		grant_failed(0, why);
	else
		grant_done(&m);
}

/* Send a form to the place that is set, with the client's header if it has one.
 */
static void
grant_send(size_t len, struct span client, struct span secret, bool basic,
    token_done *done)
{
	struct token_how how = {.type = TOKEN_FORM};
	const char *why = "the client's secret is too long";
	size_t cap, n = 0;
	uint8_t *head = secret_bytes(keyd_env.head, &cap);

	grant.asked = true;
	if (basic && oauth_basic(client, secret, head, cap, &n) == -1) {
		done(0, span_of(NULL, 0), why);
		return;
	}
	how.authorization = span_of(head, n);
	if (token_send(&how, len, done, &why) == -1)
		done(0, span_of(NULL, 0), why);
	explicit_bzero(head, n);
}

static bool
grant_same(struct span a, struct span b)
{
	uint8_t odd = 0;

	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++)
		odd |= (uint8_t)(a.p[i] ^ b.p[i]);
	return odd == 0;
}

/* The code has come. It is good once, and only from the issuer. */
static int
on_callback(struct chan *c, const struct msg_CALLBACK *m)
{
	struct grant g;
	uint8_t *body;
	size_t cap, len;

	if (!grant.begun || grant.answered || grant.out == -1 ||
	    !grant_same(m->state, span_str(grant.state)))
		return chan_violation(c, "CALLBACK of another login");
	grant.answered = true;
	if ((m->named == 0 && grant.iss) ||
	    (m->named != 0 && !span_is(m->issuer, grant.issuer))) {
		grant_failed(0, "the answer does not come from the issuer");
		return 0;
	}
	if (!oauth_is_text(m->code, PROTO_MAX_CODE) ||
	    grant_keep(&grant.code, &grant.code_len, m->code) == -1 ||
	    token_place(span_str(grant.host), grant.port, span_str(grant.path),
		GRANTD_TOKEN) == -1 ||
	    (body = token_room(&cap)) == NULL) {
		grant_failed(0, "the code cannot be used");
		return 0;
	}
	g = grant_now();
	if (grant_ask(&g, body, cap, &len) == -1)
		grant_failed(0, "the code is too long");
	else
		grant_send(len, g.client, g.secret, g.auth == PROTO_AUTH_BASIC,
		    grant_on_token);
	return 0;
}

/* See token_done. */
static void
grant_on_revoked(unsigned status, struct span body, const char *why)
{
	const struct msg_LOGIN_DONE m = {.good = 1, .status = (uint16_t)status};
	char text[257];

	grant.asked = false;
	if (status == 200)
		grant_done(&m);
	else
		grant_failed(status,
		    grant_refusal(status, body, why, text, sizeof(text)));
}

static int
on_logout(struct chan *c, const struct msg_LOGOUT *m, int fd)
{
	static const struct provider_login layout = {
	    .access = {(const uint8_t *)"access_token", 12},
	    .refresh = {(const uint8_t *)"refresh_token", 13},
	    .expires = {(const uint8_t *)"expires_at", 10},
	    .client_at = {(const uint8_t *)"client_id", 9},
	    .secret = {(const uint8_t *)"client_secret", 13},
	    .resource = {(const uint8_t *)"resource", 8},
	    .auth = {(const uint8_t *)"auth", 4},
	    .endpoint = {(const uint8_t *)"token_endpoint", 14},
	    .unit = PROVIDER_EXPIRES_S};
	const char *why = "cannot be read";
	struct oauth_file f;
	uint8_t *body;
	size_t cap, len;
	char text[257];

	if (grant.asked || grant.begun ||
	    token_place(m->host, m->port, m->path, GRANTD_REVOCATION) == -1 ||
	    (body = token_room(&cap)) == NULL) {
		close(fd);
		return chan_violation(c, "LOGOUT is impossible");
	}
	grant.begun = true;
	if (grant_read(fd) != 0 ||
	    oauth_parse_file(&layout, secret_span(keyd_env.file), &f, &why) ==
		-1 ||
	    grant_revoke(&f, body, cap, &len) == -1) {
		snprintf(text, sizeof(text), "the login file %s", why);
		grant_failed(0, text);
	} else {
		grant_send(len, f.client, f.secret, f.basic, grant_on_revoked);
	}
	keyd_file_wipe();
	return 0;
}

/* clang-format off */
static const struct chan_handler serve_handlers[] = {
	HANDLER(ROOTS,		token_on_roots),
	HANDLER(DIALED,		token_on_dialed),
	HANDLER(DIAL_FAIL,	token_on_dial_fail),
	HANDLER(REGISTER,	on_register),
	HANDLER(CLIENT_SECRET,	on_client_secret),
	HANDLER(LOGIN_BEGIN,	on_login_begin),
	HANDLER(CALLBACK,	on_callback),
	HANDLER(LOGOUT,		on_logout),
};
/* clang-format on */

static void
serve_lost(enum role role, unsigned index)
{
	log_info("%s is gone", role_name(role));
	worker_exit(&keyd_env.w, 1);
}

void
grantd_serve(void)
{
	keyd_env.w.lost = serve_lost;
	worker_serve(&keyd_env.w, serve_handlers, nitems(serve_handlers));
}
