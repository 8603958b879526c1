/* SPDX-License-Identifier: ISC */
/*
 * Parses the request of the agent's program to a token endpoint and composes
 * keyd's own; parses the endpoint's answer, whose tokens are never passed on.
 */
#include "keyd/login/form.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "common/json/json.h"

#define FORM_POOL (1U << 20)
#define FORM_MAX_VALUE 4096U
#define FORM_MAX_TEXT 1024U /* scope, names, addresses */

static const char *const form_names[] = {
#define FORM_NAME(name, text) [FORM_##name] = text,
    FORM_MEMBERS(FORM_NAME)
#undef FORM_NAME
};

static const struct {
	const char *type;
	enum form_grant grant;
	enum form_member needs;
} form_grants[] = {
    {"authorization_code", FORM_BY_CODE, FORM_CODE},
    {"urn:ietf:params:oauth:grant-type:device_code", FORM_BY_DEVICE,
	FORM_DEVICE_CODE},
    {"refresh_token", FORM_BY_REFRESH, FORM_REFRESH_TOKEN},
};

static int
form_put(struct form *f, struct span name, struct span value, const char **why)
{
	size_t i;

	for (i = 0; i < FORM_COUNT && !span_is(name, form_names[i]); i++)
		;
	*why = "a member that does not belong into a token request";
	if (i == FORM_COUNT)
		return -1;
	*why = "a member twice";
	if (f->v[i].p != NULL)
		return -1;
	*why = "a value that is empty, too long or not plain text";
	if (!oauth_is_text(value, FORM_MAX_VALUE) ||
	    value.len > sizeof(f->mem) - f->len)
		return -1;
	memcpy(f->mem + f->len, value.p, value.len);
	f->v[i] = span_of(f->mem + f->len, value.len);
	f->len += value.len;
	return 0;
}

static int
form_read_json(struct span body, struct form *f, const char **why)
{
	struct value_pool *pool;
	const struct value *root, *m;
	int64_t n;
	int rv = -1;

	*why = "not one JSON object";
	if ((pool = value_pool_new(FORM_POOL)) == NULL ||
	    (root = json_read(pool, body, NULL)) == NULL ||
	    root->type != VALUE_OBJECT)
		goto out;
	for (m = root->child; m != NULL; m = m->next) {
		*why = "a value that is neither text nor a lifetime";
		if (m->type != VALUE_STRING &&
		    (!span_is(m->key, form_names[FORM_EXPIRES_IN]) ||
			value_int(m, 1, INT32_MAX, &n) == -1))
			goto out;
		if (form_put(f, m->key, m->text, why) == -1)
			goto out;
	}
	rv = 0;
out:
	value_pool_free(pool);
	return rv;
}

static int
form_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decode %XX and +. Returns an error, or NULL. */
static const char *
form_decode(struct span s, uint8_t *dst, size_t cap, size_t *len)
{
	int hi, lo;

	*len = 0;
	for (size_t i = 0; i < s.len; i++) {
		if (*len == cap)
			return "a value that is too long";
		dst[*len] = s.p[i] == '+' ? ' ' : s.p[i];
		if (s.p[i] == '%') {
			if (s.len - i < 3 ||
			    (hi = form_digit(s.p[i + 1])) == -1 ||
			    (lo = form_digit(s.p[i + 2])) == -1)
				return "a % that begins no escape";
			dst[*len] = (uint8_t)(hi << 4 | lo);
			i += 2;
		}
		++*len;
	}
	return NULL;
}

/* Parse name=value&...; names have no escapes. */
static int
form_read_fields(struct span body, struct form *f, const char **why)
{
	static uint8_t value[FORM_MAX_VALUE];
	const uint8_t *end, *eq;
	const char *bad = NULL;
	struct span one;
	size_t len;

	while (bad == NULL) {
		end = body.len == 0 ? NULL : memchr(body.p, '&', body.len);
		one = body;
		if (end != NULL)
			one.len = (size_t)(end - body.p);
		eq = one.len == 0 ? NULL : memchr(one.p, '=', one.len);
		bad = "not name=value&...";
		if (eq == NULL)
			break;
		bad = form_decode(
		    span_of(eq + 1, one.len - (size_t)(eq + 1 - one.p)), value,
		    sizeof(value), &len);
		if (bad == NULL &&
		    form_put(f, span_of(one.p, (size_t)(eq - one.p)),
			span_of(value, len), &bad) == 0)
			bad = NULL;
		if (end == NULL)
			break;
		body = span_of(end + 1, body.len - one.len - 1);
	}
	explicit_bzero(value, sizeof(value));
	*why = bad;
	return bad == NULL ? 0 : -1;
}

int
form_read(bool json, struct span body, struct form *f, const char **why)
{
	uint64_t n;

	memset(f, 0, sizeof(*f));
	if ((json ? form_read_json : form_read_fields)(body, f, why) == -1)
		return -1;
	*why = "an expires_in that is no number of seconds";
	if (f->v[FORM_EXPIRES_IN].p != NULL &&
	    span_u64(f->v[FORM_EXPIRES_IN], INT32_MAX, &n) == -1)
		return -1;
	for (size_t i = 0; i < nitems(form_grants); i++) {
		if (!span_is(f->v[FORM_GRANT_TYPE], form_grants[i].type))
			continue;
		f->grant = form_grants[i].grant;
		*why = "no code, or no client_id";
		return f->v[form_grants[i].needs].p == NULL ||
			       f->v[FORM_CLIENT_ID].p == NULL
			   ? -1
			   : 0;
	}
	*why = "a grant_type that is not taken here";
	return -1;
}

int
form_compose(
    bool json, const struct form *f, uint8_t *dst, size_t cap, size_t *len)
{
	struct sink o = {.p = dst, .cap = cap};

	for (size_t i = 0; i < FORM_COUNT; i++) {
		if (f->v[i].p == NULL)
			continue;
		if (!json) {
			oauth_put_form(&o, form_names[i], f->v[i]);
		} else if (i == FORM_EXPIRES_IN) {
			sink_put(&o, SPAN(",\"expires_in\":"));
			sink_put(&o, f->v[i]);
		} else {
			oauth_put_json(&o, form_names[i], f->v[i]);
		}
	}
	if (json)
		sink_put(&o, SPAN("}"));
	return sink_end(&o, len);
}

/*
 * Returns the text at root.name or root.of.name, as written; empty if there is
 * none.
 */
static struct span
form_text(const struct value *root, const char *of, const char *name,
    struct span text)
{
	const struct value *v = root;

	if (of != NULL)
		v = value_get(root, of);
	if (v != NULL)
		v = value_get(v, name);
	if (v == NULL || v->type != VALUE_STRING ||
	    !oauth_is_text(v->text, FORM_MAX_TEXT) || v->text.p < text.p ||
	    v->text.p + v->text.len > text.p + text.len)
		return span_of(NULL, 0);
	return v->text;
}

static bool
form_holds(struct span name, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= name.len; i++) {
		if (span_ieq(span_of(name.p + i, n), span_str(word)))
			return true;
	}
	return false;
}

/* Returns true for an unknown member whose name suggests a token. */
static bool
form_is_strange(const struct value *m)
{
	static const char *const known[] = {"access_token", "refresh_token",
	    "id_token", "token_type", "issued_token_type", "token_uuid",
	    "refresh_token_expires_in"};
	static const char *const words[] = {"token", "secret", "key",
	    "password", "credential", "assertion", "cookie", "session"};

	if (m->type == VALUE_NULL)
		return false;
	for (size_t i = 0; i < nitems(known); i++)
		if (span_is(m->key, known[i]))
			return false;
	for (size_t i = 0; i < nitems(words); i++)
		if (form_holds(m->key, words[i]))
			return true;
	return false;
}

int
form_parse_grant(
    struct span text, struct form_grant_answer *g, const char **why)
{
	struct value_pool *pool = NULL;
	const struct value *root, *m;
	int64_t n = 0;
	int rv = -1;

	*g = (struct form_grant_answer){.scope = span_of(NULL, 0)};
	if (oauth_parse_answer(text, &g->tokens, why) == -1)
		return -1;
	*why = "finds no memory";
	if ((pool = value_pool_new(FORM_POOL)) == NULL)
		goto out;
	*why = "is larger than a login may be";
	if ((root = json_read(pool, text, NULL)) == NULL)
		goto out;
	*why = "holds a member that may be a token and is not known";
	for (m = root->child; m != NULL; m = m->next)
		if (form_is_strange(m))
			goto out;
	*why = "holds an ID token that is none";
	m = value_get(root, "id_token");
	if (m != NULL && m->type != VALUE_NULL && g->tokens.id.len == 0)
		goto out;
	if (value_int(value_get(root, "refresh_token_expires_in"), 1, INT32_MAX,
		&n) == 0)
		g->refresh_lifetime = (uint64_t)n;
	g->scope = form_text(root, NULL, "scope", text);
	g->account = form_text(root, "account", "uuid", text);
	g->email = form_text(root, "account", "email_address", text);
	g->organization = form_text(root, "organization", "uuid", text);
	g->organization_name = form_text(root, "organization", "name", text);
	rv = 0;
out:
	value_pool_free(pool);
	return rv;
}

static void
form_put_number(struct sink *o, const char *name, uint64_t n)
{
	char digits[24];

	if (n == 0)
		return;
	snprintf(digits, sizeof(digits), "%" PRIu64, n);
	sink_put(o, SPAN(",\""));
	sink_put(o, span_str(name));
	sink_put(o, SPAN("\":"));
	sink_put(o, span_str(digits));
}

static void
form_put_pair(struct sink *o, const char *name, const char *first,
    struct span a, const char *second, struct span b)
{
	if (a.len == 0)
		return;
	sink_put(o, SPAN(",\""));
	sink_put(o, span_str(name));
	sink_put(o, SPAN("\":{\""));
	sink_put(o, span_str(first));
	sink_put(o, SPAN("\":\""));
	sink_put(o, a);
	sink_put(o, SPAN("\""));
	if (b.len != 0)
		oauth_put_json(o, second, b);
	sink_put(o, SPAN("}"));
}

int
form_answer(const struct provider_login *l, struct span sentinel,
    const struct form_grant_answer *g, uint8_t *dst, size_t cap, size_t *len)
{
	struct sink o = {.p = dst, .cap = cap};

	oauth_put_json(&o, "token_type", SPAN("Bearer"));
	oauth_put_json(&o, "access_token", sentinel);
	form_put_number(&o, "expires_in", g->tokens.lifetime);
	if (g->tokens.refresh.len != 0)
		oauth_put_json(&o, "refresh_token", sentinel);
	form_put_number(&o, "refresh_token_expires_in", g->refresh_lifetime);
	if (g->tokens.id.len != 0 && l->fake.len != 0)
		oauth_put_json(&o, "id_token", l->fake);
	if (g->scope.len != 0)
		oauth_put_json(&o, "scope", g->scope);
	form_put_pair(
	    &o, "account", "uuid", g->account, "email_address", g->email);
	form_put_pair(&o, "organization", "uuid", g->organization, "name",
	    g->organization_name);
	sink_put(&o, SPAN("}"));
	return sink_end(&o, len);
}

const char *
form_error(unsigned status, struct span text)
{
	static const char *const words[] = {"authorization_pending",
	    "slow_down", "expired_token", "access_denied", "invalid_request",
	    "invalid_client", "invalid_grant", "unauthorized_client",
	    "unsupported_grant_type", "invalid_scope", "server_error",
	    "temporarily_unavailable"};
	const char *word = status >= 500 ? "server_error" : "invalid_request";
	struct value_pool *pool;
	const struct value *root, *v;

	if ((pool = value_pool_new(FORM_POOL)) == NULL)
		return word;
	root = json_read(pool, text, NULL);
	v = root == NULL || root->type != VALUE_OBJECT
		? NULL
		: value_get(root, "error");
	for (size_t i = 0; i < nitems(words); i++)
		if (v != NULL && v->type == VALUE_STRING &&
		    span_is(v->text, words[i]))
			word = words[i];
	value_pool_free(pool);
	return word;
}
