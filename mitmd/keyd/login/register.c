/* SPDX-License-Identifier: ISC */
/*
 * Composes the requests of a login in one order and spelling, and parses their
 * answers in place with the strict JSON reader. A value with an escape in JSON
 * is refused, so that none is copied out of secret memory.
 */
#include "keyd/login/register.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/http/challenge.h"
#include "common/json/json.h"

#define GRANT_POOL (1U << 20)

static const char *
grant_auth_name(enum proto_auth auth)
{
	switch (auth) {
	case PROTO_AUTH_POST:
		return "client_secret_post";
	case PROTO_AUTH_BASIC:
		return "client_secret_basic";
	case PROTO_AUTH_NONE:
		break;
	}
	return "none";
}

int
grant_register(struct span redirect, enum proto_auth auth, struct span scopes,
    uint8_t *dst, size_t cap, size_t *len)
{
	struct sink o = {.p = dst, .cap = cap};

	oauth_put_json(&o, "client_name", SPAN("IronCurtain"));
	oauth_put_json(&o, "application_type", SPAN("native"));
	sink_put(&o, SPAN(",\"redirect_uris\":[\""));
	sink_put(&o, redirect);
	sink_put(&o, SPAN("\"],\"grant_types\":[\"authorization_code\","
			  "\"refresh_token\"],\"response_types\":[\"code\"]"));
	oauth_put_json(
	    &o, "token_endpoint_auth_method", span_str(grant_auth_name(auth)));
	if (scopes.len != 0)
		oauth_put_json(&o, "scope", scopes);
	sink_put(&o, SPAN("}"));
	return sink_end(&o, len);
}

/* Returns a text as it is written in `text`; empty if it is not there so. */
static struct span
grant_text(const struct value *root, const char *key, struct span text)
{
	const struct value *v = value_get(root, key);

	if (v == NULL || v->type != VALUE_STRING || v->text.p < text.p ||
	    v->text.p + v->text.len > text.p + text.len)
		return span_of(NULL, 0);
	return v->text;
}

/* Returns true if the addresses of the client, if it says them, have ours. */
static bool
grant_has_redirect(const struct value *root, struct span redirect)
{
	const struct value *list = value_get(root, "redirect_uris");

	if (list == NULL || list->type == VALUE_NULL)
		return true;
	if (list->type != VALUE_ARRAY)
		return false;
	for (const struct value *m = list->child; m != NULL; m = m->next)
		if (m->type == VALUE_STRING && span_eq(m->text, redirect))
			return true;
	return false;
}

static int
grant_read_client(const struct value *root, struct span text,
    struct span redirect, uint64_t now, struct grant_client *c,
    const char **why)
{
	const struct value *v = value_get(root, "client_secret");
	struct span method;
	int64_t until = 0;

	*why = "names no client_id that could be used";
	c->id = grant_text(root, "client_id", text);
	if (!oauth_is_token(c->id, OAUTH_MAX_CLIENT))
		return -1;
	*why = "is for other redirect_uris than that of this login";
	if (!grant_has_redirect(root, redirect))
		return -1;
	method = grant_text(root, "token_endpoint_auth_method", text);
	*why = "has a client_secret that cannot be used";
	if (v != NULL && v->type != VALUE_NULL) {
		c->secret = grant_text(root, "client_secret", text);
		if (!oauth_is_token(c->secret, OAUTH_MAX_ADD))
			return -1;
	}
	*why = "has a client_secret that has expired";
	if (c->secret.len != 0 &&
	    value_int(value_get(root, "client_secret_expires_at"), 1, INT64_MAX,
		&until) == 0 &&
	    (uint64_t)until <= now)
		return -1;
	*why = "names a token_endpoint_auth_method that is not supported";
	if (span_is(method, "none") || c->secret.len == 0) {
		if (method.len != 0 && !span_is(method, "none"))
			return -1;
		c->auth = PROTO_AUTH_NONE;
		c->secret = span_of(NULL, 0);
	} else if (method.len == 0 || span_is(method, "client_secret_basic")) {
		c->auth = PROTO_AUTH_BASIC;
	} else if (span_is(method, "client_secret_post")) {
		c->auth = PROTO_AUTH_POST;
	} else {
		return -1;
	}
	return 0;
}

int
grant_registered(struct span text, struct span redirect, uint64_t now,
    struct grant_client *c, const char **why)
{
	struct value_pool *pool = value_pool_new(GRANT_POOL);
	const struct value *root;
	int rv = -1;

	*c = (struct grant_client){.auth = PROTO_AUTH_NONE};
	*why = "is not a JSON object";
	if (pool != NULL && (root = json_read(pool, text, NULL)) != NULL &&
	    root->type == VALUE_OBJECT)
		rv = grant_read_client(root, text, redirect, now, c, why);
	value_pool_free(pool);
	return rv;
}

int
grant_ask(const struct grant *g, uint8_t *dst, size_t cap, size_t *len)
{
	struct sink o = {.p = dst, .cap = cap};

	oauth_put_form(&o, "grant_type", SPAN("authorization_code"));
	oauth_put_form(&o, "code", g->code);
	oauth_put_form(&o, "redirect_uri", g->redirect);
	if (g->auth != PROTO_AUTH_BASIC)
		oauth_put_form(&o, "client_id", g->client);
	if (g->auth == PROTO_AUTH_POST)
		oauth_put_form(&o, "client_secret", g->secret);
	oauth_put_form(&o, "code_verifier", g->verifier);
	oauth_put_form(&o, "resource", g->resource);
	return sink_end(&o, len);
}

int
grant_answer(struct span text, struct oauth_answer *a, struct span *scopes,
    const char **why)
{
	struct value_pool *pool;
	const struct value *root, *v;

	*scopes = span_of(NULL, 0);
	if (oauth_parse_answer(text, a, why) == -1)
		return -1;
	*why = "finds no memory";
	if ((pool = value_pool_new(GRANT_POOL)) == NULL)
		return -1;
	root = json_read(pool, text, NULL);
	v = value_get(root, "expires_in");
	*why = "names a lifetime (expires_in) that is none";
	if (root == NULL ||
	    (v != NULL && v->type != VALUE_NULL && a->lifetime == 0))
		goto bad;
	*why = "does not say that the token is a bearer token (token_type)";
	if (value_get(root, "token_type") == NULL)
		goto bad;
	*why = "holds an error and a token";
	if (value_get(root, "error") != NULL)
		goto bad;
	*scopes = grant_text(root, "scope", text);
	if (scopes->len > PROTO_MAX_SCOPES || !challenge_is_scopes(*scopes))
		*scopes = span_of(NULL, 0);
	value_pool_free(pool);
	return 0;
bad:
	value_pool_free(pool);
	return -1;
}

int
grant_file(const struct grant *g, const struct oauth_answer *a,
    uint64_t expires, uint8_t *dst, size_t cap, size_t *len)
{
	static const char *const names[] = {
	    [PROTO_AUTH_NONE] = "none",
	    [PROTO_AUTH_POST] = "post",
	    [PROTO_AUTH_BASIC] = "basic",
	};
	struct sink o = {.p = dst, .cap = cap};
	char number[32];

	oauth_put_json(&o, "access_token", a->access);
	if (a->refresh.len != 0)
		oauth_put_json(&o, "refresh_token", a->refresh);
	snprintf(number, sizeof(number), ",\"expires_at\":%" PRIu64, expires);
	sink_put(&o, span_str(number));
	oauth_put_json(&o, "client_id", g->client);
	if (g->secret.len != 0)
		oauth_put_json(&o, "client_secret", g->secret);
	oauth_put_json(&o, "auth", span_str(names[g->auth]));
	oauth_put_json(&o, "resource", g->resource);
	oauth_put_json(&o, "token_endpoint", g->endpoint);
	if (oauth_is_text(g->scopes, OAUTH_MAX_SCOPES))
		oauth_put_json(&o, "scope", g->scopes);
	sink_put(&o, SPAN(",\"ended_at\":0}\n"));
	return sink_end(&o, len);
}

int
grant_revoke(const struct oauth_file *f, uint8_t *dst, size_t cap, size_t *len)
{
	const bool refresh = f->refresh.len != 0;
	struct sink o = {.p = dst, .cap = cap};

	oauth_put_form(&o, "token", refresh ? f->refresh : f->access);
	oauth_put_form(&o, "token_type_hint",
	    refresh ? SPAN("refresh_token") : SPAN("access_token"));
	if (!f->basic)
		oauth_put_form(&o, "client_id", f->client);
	if (f->secret.len != 0 && !f->basic)
		oauth_put_form(&o, "client_secret", f->secret);
	return sink_end(&o, len);
}

const char *
grant_error(struct span text)
{
	static const char *const words[] = {"invalid_request", "invalid_client",
	    "invalid_grant", "unauthorized_client", "unsupported_grant_type",
	    "invalid_scope", "invalid_target", "access_denied",
	    "invalid_redirect_uri", "invalid_client_metadata",
	    "invalid_software_statement", "unapproved_software_statement",
	    "unsupported_token_type", "server_error",
	    "temporarily_unavailable"};
	struct value_pool *pool = value_pool_new(GRANT_POOL);
	const struct value *root, *v = NULL;
	const char *word = "";

	if (pool == NULL)
		return word;
	if ((root = json_read(pool, text, NULL)) != NULL)
		v = value_get(root, "error");
	for (size_t i = 0; i < nitems(words); i++)
		if (v != NULL && v->type == VALUE_STRING &&
		    span_is(v->text, words[i]))
			word = words[i];
	value_pool_free(pool);
	return word;
}

void
grant_base64url(struct span in, char *dst)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789-_";
	uint32_t w = 0;
	unsigned bits = 0;

	for (size_t i = 0; i < in.len; i++) {
		w = (w << 8 | in.p[i]) & 0xffffff;
		for (bits += 8; bits >= 6; bits -= 6)
			*dst++ = digits[w >> (bits - 6) & 63];
	}
	if (bits != 0)
		*dst++ = digits[w << (6 - bits) & 63];
	*dst = '\0';
}
