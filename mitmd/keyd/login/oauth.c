/* SPDX-License-Identifier: ISC */
/*
 * Parses login files and answers of token endpoints, and decides what to do
 * with them. Texts are parsed in place by the strict JSON reader; a token that
 * has an escape in JSON is refused, so that each token is a span of secret
 * memory. The nodes of a parsed tree contain no byte of a token and live in
 * ordinary memory for the duration of a call.
 */
#include "keyd/login/oauth.h"

#include <stdio.h>

#include "common/json/json.h"

#define OAUTH_POOL (1U << 20)
#define OAUTH_MARGIN 300U /* seconds */
/* The latest time that is taken, in seconds; 64 bits have its milliseconds. */
#define OAUTH_LATEST (INT64_MAX / 1000)
/* seconds of validity that another session's token needs to be adopted */
#define OAUTH_USABLE 10U

bool
oauth_is_text(struct span s, size_t max)
{
	if (s.len == 0 || s.len > max)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] < 0x20 || s.p[i] > 0x7e || s.p[i] == '"' ||
		    s.p[i] == '\\')
			return false;
	}
	return true;
}

bool
oauth_is_token(struct span s, size_t max)
{
	return oauth_is_text(s, max) && memchr(s.p, ' ', s.len) == NULL;
}

static bool
oauth_inside(struct span outer, struct span s)
{
	return s.p >= outer.p && s.p + s.len <= outer.p + outer.len;
}

/* Returns member b of member a for "a.b", or NULL. */
static const struct value *
oauth_member(const struct value *v, struct span path)
{
	const uint8_t *dot;
	struct span name;

	while (v != NULL && path.len != 0) {
		dot = memchr(path.p, '.', path.len);
		name = path;
		if (dot != NULL)
			name.len = (size_t)(dot - path.p);
		v = value_getspan(v, name);
		path.p += name.len + (dot != NULL);
		path.len -= name.len + (dot != NULL);
	}
	return v;
}

/* Read a string without escapes at `path`. */
static int
oauth_string(const struct value *root, struct span path, struct span text,
    size_t max, struct span *out)
{
	const struct value *v = oauth_member(root, path);

	if (v == NULL || v->type != VALUE_STRING)
		return -1;
	if (!oauth_is_token(v->text, max) || !oauth_inside(text, v->text))
		return -1;
	*out = v->text;
	return 0;
}

static const struct value *
oauth_read(struct value_pool **pool, struct span text, const char **why)
{
	const struct value *root;

	if ((*pool = value_pool_new(OAUTH_POOL)) == NULL) {
		*why = "finds no memory";
		return NULL;
	}
	if ((root = json_read(*pool, text, NULL)) == NULL ||
	    root->type != VALUE_OBJECT) {
		*why = "is not a JSON object";
		return NULL;
	}
	return root;
}

static int
oauth_base64(const uint8_t *p, size_t n, uint8_t *dst, size_t *len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789-_";
	const char *at;
	uint32_t w = 0;
	unsigned bits = 0;

	*len = 0;
	for (size_t i = 0; i < n && p[i] != '='; i++) {
		if (p[i] == '\0' || (at = strchr(digits, p[i])) == NULL)
			return -1;
		w = (w << 6 | (uint32_t)(at - digits)) & 0xffffff;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			dst[(*len)++] = (uint8_t)(w >> bits);
		}
	}
	return 0;
}

int
oauth_jwt_claims(struct span token, uint8_t *dst, size_t cap, size_t *len)
{
	const uint8_t *dot, *end;

	if (token.len == 0 || token.len > cap ||
	    (dot = memchr(token.p, '.', token.len)) == NULL)
		return -1;
	dot++;
	end = memchr(dot, '.', token.len - (size_t)(dot - token.p));
	if (end == NULL)
		return -1;
	return oauth_base64(dot, (size_t)(end - dot), dst, len);
}

uint64_t
oauth_jwt_expires(struct span token)
{
	/* The claims are not secret, only the signature is. */
	static uint8_t claims[OAUTH_MAX_TOKEN];
	struct value_pool *pool = NULL;
	const struct value *root;
	const char *why;
	int64_t exp = 0;
	size_t len;

	if (oauth_jwt_claims(token, claims, sizeof(claims), &len) == -1)
		return 0;
	root = oauth_read(&pool, span_of(claims, len), &why);
	if (root == NULL ||
	    value_int(value_get(root, "exp"), 1, OAUTH_LATEST, &exp) == -1)
		exp = 0;
	value_pool_free(pool);
	explicit_bzero(claims, sizeof(claims));
	return (uint64_t)exp;
}

static void
oauth_file_expires(const struct provider_login *l, const struct value *root,
    struct span text, struct oauth_file *f)
{
	const struct value *v;
	int64_t n = 0;

	if (l->unit == PROVIDER_EXPIRES_NONE)
		return;
	if (l->unit == PROVIDER_EXPIRES_JWT) {
		f->expires = oauth_jwt_expires(f->access);
		return;
	}
	v = oauth_member(root, l->expires);
	if (value_int(v, 0, INT64_MAX, &n) == -1 ||
	    !oauth_inside(text, v->text))
		return;
	f->expires_at = v->text;
	f->expires = (uint64_t)n / (l->unit == PROVIDER_EXPIRES_MS ? 1000 : 1);
}

/* Parse a login file that holds no token, only the means to get one. */
static int
oauth_file_bare(const struct provider_login *l, const struct value *root,
    struct span text, struct oauth_file *f, const char **why)
{
	if (oauth_string(
		root, l->refresh, text, OAUTH_MAX_TOKEN, &f->refresh) == -1 ||
	    oauth_string(root, l->secret, text, OAUTH_MAX_ADD, &f->secret) ==
		-1 ||
	    oauth_string(root, l->client_at, text, OAUTH_MAX_ADD, &f->client) ==
		-1) {
		*why = "is no login of this kind: it holds no refresh token, "
		       "client and client's secret";
		return -1;
	}
	return 0;
}

/* Read who the client is, in a file that has a token as well. */
static int
oauth_file_client(const struct provider_login *l, const struct value *root,
    struct span text, struct oauth_file *f, const char **why)
{
	const struct value *v = oauth_member(root, l->auth);
	int64_t n = 0;

	if (oauth_string(
		root, l->client_at, text, OAUTH_MAX_CLIENT, &f->client) == -1 ||
	    oauth_string(root, l->resource, text, OAUTH_MAX_CLIENT,
		&f->resource) == -1 ||
	    oauth_string(root, l->endpoint, text, OAUTH_MAX_CLIENT,
		&f->endpoint) == -1) {
		*why = "names no client, resource or token endpoint: log in "
		       "again";
		return -1;
	}
	(void)oauth_string(root, l->secret, text, OAUTH_MAX_ADD, &f->secret);
	f->basic = v != NULL && span_is(v->text, "basic");
	v = oauth_member(root, l->ended);
	if (value_int(v, 0, INT64_MAX, &n) == 0 &&
	    oauth_inside(text, v->text)) {
		f->ended_at = v->text;
		f->ended = n != 0;
	}
	return 0;
}

static int
oauth_file_read(const struct provider_login *l, const struct value *root,
    struct span text, struct oauth_file *f, const char **why)
{
	const struct value *v;

	if (l->unit == PROVIDER_EXPIRES_NONE) {
		if (oauth_file_bare(l, root, text, f, why) == -1)
			return -1;
	} else if (oauth_string(root, l->access, text, OAUTH_MAX_TOKEN,
		       &f->access) == -1) {
		*why = "holds no access token of this kind of login";
		return -1;
	} else if (l->resource.len != 0 &&
		   oauth_file_client(l, root, text, f, why) == -1) {
		return -1;
	}
	if (oauth_string(
		root, l->refresh, text, OAUTH_MAX_TOKEN, &f->refresh) == -1) {
		v = oauth_member(root, l->refresh);
		if (v != NULL && v->type != VALUE_NULL &&
		    (v->type != VALUE_STRING || v->text.len != 0)) {
			*why = "holds a refresh token that is none";
			return -1;
		}
		f->refresh = span_of(NULL, 0);
	}
	/* If the member is absent, so is the header. */
	for (unsigned i = 0; i < l->nadds; i++) {
		if (l->adds[i].member.len != 0)
			(void)oauth_string(root, l->adds[i].member, text,
			    OAUTH_MAX_ADD, &f->adds[i]);
	}
	if (l->id.len != 0)
		(void)oauth_string(
		    root, l->id, text, OAUTH_MAX_FILE, &f->id_at);
	if (l->renewed.len != 0)
		(void)oauth_string(root, l->renewed, text, 64, &f->renewed_at);
	v = l->resource.len != 0 ? oauth_member(root, SPAN("scope")) : NULL;
	if (v != NULL && v->type == VALUE_STRING &&
	    oauth_is_text(v->text, OAUTH_MAX_SCOPES) &&
	    oauth_inside(text, v->text))
		f->scopes = v->text;
	oauth_file_expires(l, root, text, f);
	return 0;
}

int
oauth_parse_file(const struct provider_login *l, struct span text,
    struct oauth_file *f, const char **why)
{
	struct value_pool *pool = NULL;
	const struct value *root;
	int rv = -1;

	*f = (struct oauth_file){0};
	if ((root = oauth_read(&pool, text, why)) != NULL)
		rv = oauth_file_read(l, root, text, f, why);
	value_pool_free(pool);
	return rv;
}

bool
oauth_is_resource(struct span url, const char *host, uint16_t port,
    struct span path, struct span query)
{
	const bool literal = strchr(host, ':') != NULL;
	const uint8_t *mark;
	struct span rest = SPAN("");
	char front[280];
	uint64_t n = 443;
	size_t len;

	snprintf(front, sizeof(front), "https://%s%s%s", literal ? "[" : "",
	    host, literal ? "]" : "");
	len = strlen(front);
	if (url.len < len ||
	    !span_ieq(span_of(url.p, len), span_of(front, len)))
		return false;
	url = span_of(url.p + len, url.len - len);
	if (url.len != 0 && url.p[0] == ':') {
		for (len = 1;
		     len < url.len && url.p[len] >= '0' && url.p[len] <= '9';
		     len++)
			;
		if (span_u64(span_of(url.p + 1, len - 1), UINT16_MAX, &n) == -1)
			return false;
		url = span_of(url.p + len, url.len - len);
	}
	mark = url.len != 0 ? memchr(url.p, '?', url.len) : NULL;
	if (mark != NULL) {
		len = (size_t)(mark - url.p);
		rest = span_of(mark + 1, url.len - len - 1);
		url.len = len;
	}
	while (url.len != 0 && url.p[url.len - 1] == '/')
		url.len--;
	if (n != port)
		return false;
	/* A server may be known by its origin: icctl has seen to that. */
	return (url.len == 0 && mark == NULL) ||
	       (span_eq(url, path) && span_eq(rest, query));
}

int
oauth_parse_answer(struct span text, struct oauth_answer *a, const char **why)
{
	struct value_pool *pool = NULL;
	const struct value *root, *v;
	struct span id = span_of(NULL, 0);
	int64_t n = 0;
	int rv = -1;

	*a = (struct oauth_answer){0};
	if ((root = oauth_read(&pool, text, why)) == NULL)
		goto out;
	*why = "holds no usable token";
	v = value_get(root, "token_type");
	if (v != NULL &&
	    (v->type != VALUE_STRING || !span_ieq(v->text, SPAN("bearer"))))
		goto out;
	if (oauth_string(root, SPAN("access_token"), text, OAUTH_MAX_TOKEN,
		&a->access) == -1)
		goto out;
	v = value_get(root, "refresh_token");
	if (v != NULL && v->type != VALUE_NULL &&
	    oauth_string(root, SPAN("refresh_token"), text, OAUTH_MAX_TOKEN,
		&a->refresh) == -1)
		goto out;
	if (oauth_string(root, SPAN("id_token"), text, OAUTH_MAX_ANSWER, &id) ==
	    0)
		a->id = id;
	if (value_int(value_get(root, "expires_in"), 1, INT32_MAX, &n) == 0)
		a->lifetime = (uint64_t)n;
	rv = 0;
out:
	value_pool_free(pool);
	return rv;
}

enum oauth_verdict
oauth_verdict(unsigned status)
{
	switch (status) {
	case 200:
		return OAUTH_GOOD;
	case 400: /* invalid_grant and similar errors, RFC 6749 5.2 */
	case 401:
		return OAUTH_REFUSED;
	default:
		return OAUTH_LATER;
	}
}

bool
oauth_is_over(struct span text)
{
	struct value_pool *pool = NULL;
	const struct value *root, *v = NULL;
	const char *why;
	bool over;

	if ((root = oauth_read(&pool, text, &why)) != NULL)
		v = value_get(root, "error");
	over = v != NULL && span_is(v->text, "invalid_grant");
	value_pool_free(pool);
	return over;
}

uint64_t
oauth_margin(uint64_t lifetime)
{
	/* Do not renew a short-lived token at every request. */
	return lifetime != 0 && lifetime / 4 < OAUTH_MARGIN ? lifetime / 4
							    : OAUTH_MARGIN;
}

/* Compare in constant time. */
static bool
oauth_same(struct span a, struct span b)
{
	uint8_t odd = 0;

	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++)
		odd |= (uint8_t)(a.p[i] ^ b.p[i]);
	return odd == 0;
}

static bool
oauth_lasts(const struct oauth_file *f, uint64_t until)
{
	return f->expires == 0 || f->expires > until;
}

enum oauth_step
oauth_next(const struct oauth_have *h, const struct oauth_file *f)
{
	const bool dead = f->ended || oauth_same(f->refresh, h->dead);

	if (h->spent.len != 0 && oauth_same(f->refresh, h->spent))
		return OAUTH_STORE;
	if (h->bare)
		return dead ? OAUTH_GIVE_UP : OAUTH_RENEW;
	if (!oauth_same(f->access, h->access)) {
		/*
		 * Another session renewed it; use that token unless it has
		 * expired.
		 */
		if (oauth_lasts(f, h->now + OAUTH_USABLE) &&
		    !(f->refresh.len != 0 && dead))
			return OAUTH_ADOPT;
	} else if (!h->rejected && oauth_lasts(f, h->now + h->margin)) {
		return OAUTH_KEEP;
	}
	return f->refresh.len == 0 || dead ? OAUTH_GIVE_UP : OAUTH_RENEW;
}
