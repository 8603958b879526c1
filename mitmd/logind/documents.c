/* SPDX-License-Identifier: ISC */
/*
 * Reads the documents strictly. A member that is there must have the right type
 * and a value that can be used; a document with one that has not is refused,
 * because guessing what its author meant would decide who gets a token.
 */
#include "logind/documents.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/http/challenge.h"
#include "common/http/https_url.h"
#include "common/json/json.h"

#define DOCUMENT_POOL (2U << 20)

static int document_bad(struct document *, const char *, ...)
    __attribute__((format(printf, 2, 3)));

static int
document_bad(struct document *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(d->why, sizeof(d->why), fmt, ap);
	va_end(ap);
	d->m.good = 0;
	d->m.why = span_str(d->why);
	return -1;
}

static void
document_begin(struct document *d, enum proto_meta kind, unsigned status)
{
	const struct span none = SPAN("");

	*d = (struct document){.m = {.kind = (uint8_t)kind,
				   .status = (uint16_t)status,
				   .why = none,
				   .metadata = none,
				   .resource = none,
				   .issuers = none,
				   .authorization = none,
				   .token = none,
				   .registration = none,
				   .revocation = none,
				   .scopes = none}};
}

/* Copy a text that must live as long as the document. */
static struct span
document_keep(struct document *d, struct span s)
{
	char *to = d->texts + d->used;

	if (s.len > sizeof(d->texts) - d->used)
		s.len = 0;
	memcpy(to, s.p, s.len);
	d->used += s.len;
	return span_of(to, s.len);
}

static void
document_challenge(struct document *d, const struct http1_head *h)
{
	static struct challenge c;

	switch (challenge_read(h, &c)) {
	case 1:
		break;
	case 0:
		document_bad(d, "its answer names no way to log in (no "
				"WWW-Authenticate with Bearer)");
		return;
	default:
		document_bad(d, "its WWW-Authenticate is malformed");
		return;
	}
	d->m.good = 1;
	d->m.metadata = document_keep(d, span_str(c.metadata));
	d->m.scopes = document_keep(d, span_str(c.scope));
	if (strcmp(c.error, "insufficient_scope") == 0)
		d->m.flags |= PROTO_SERVER_SCOPE;
}

/* Returns the array in a member, or NULL; -1 in `*rv` if it is something else. */
static const struct value *
document_list(struct document *d, const struct value *root, const char *key,
    size_t max, int *rv)
{
	const struct value *v = value_get(root, key);

	*rv = 0;
	if (v == NULL || v->type == VALUE_NULL)
		return NULL;
	if (v->type != VALUE_ARRAY || v->count > max) {
		*rv = document_bad(
		    d, "%s: must be an array of at most %zu texts", key, max);
		return NULL;
	}
	for (const struct value *m = v->child; m != NULL; m = m->next)
		if (m->type != VALUE_STRING) {
			*rv = document_bad(
			    d, "%s: must be an array of texts", key);
			return NULL;
		}
	return v;
}

static bool
list_has(const struct value *list, const char *word)
{
	if (list == NULL)
		return false;
	for (const struct value *m = list->child; m != NULL; m = m->next)
		if (span_is(m->text, word))
			return true;
	return false;
}

/* Join the scopes; in a server's list only offline_access matters. */
static int
document_scopes(struct document *d, const struct value *root, bool join)
{
	const struct value *list;
	struct span all;
	int rv;

	list = document_list(d, root, "scopes_supported", 1000, &rv);
	if (list == NULL)
		return rv;
	if (list_has(list, "offline_access"))
		d->m.flags |= PROTO_SERVER_OFFLINE;
	if (!join)
		return 0;
	all = span_of(d->texts + d->used, 0);
	for (const struct value *m = list->child; m != NULL; m = m->next) {
		if (!challenge_is_scopes(m->text) ||
		    memchr(m->text.p, ' ', m->text.len) != NULL)
			return document_bad(d,
			    "scopes_supported: holds what is no scope");
		if (all.len + m->text.len + 1 > PROTO_MAX_SCOPES)
			return document_bad(
			    d, "scopes_supported: has more than %u bytes",
			    PROTO_MAX_SCOPES);
		if (all.len != 0) {
			d->texts[d->used++] = ' ';
			all.len++;
		}
		all.len += document_keep(d, m->text).len;
	}
	d->m.scopes = all;
	return 0;
}

/* Take the address in a member. Returns 0 if it is absent as well. */
static int
document_url(struct document *d, const struct value *root, const char *key,
    struct span *out)
{
	const struct value *v = value_get(root, key);
	struct https_url u;
	const char *why;

	if (v == NULL || v->type == VALUE_NULL)
		return 0;
	if (v->type != VALUE_STRING)
		return document_bad(d, "%s: must be a text", key);
	if (https_url_read(v->text, &u, &why) == -1)
		return document_bad(d, "%s: its address %s", key, why);
	if (u.target.len > PROTO_MAX_PLACE)
		return document_bad(d,
		    "%s: its path is longer than %u bytes", key,
		    PROTO_MAX_PLACE);
	*out = v->text;
	return 0;
}

static int
document_resource(struct document *d, const struct value *root)
{
	const struct value *v = value_get(root, "resource"), *list;
	struct https_url u;
	const char *why;
	size_t from;
	int rv;

	if (v == NULL || v->type != VALUE_STRING || v->text.len == 0 ||
	    v->text.len > PROTO_MAX_URL)
		return document_bad(d, "resource: must be an address");
	for (size_t i = 0; i < v->text.len; i++)
		if (v->text.p[i] <= 0x20 || v->text.p[i] > 0x7e)
			return document_bad(d, "resource: is no address");
	d->m.resource = v->text;
	list = document_list(
	    d, root, "authorization_servers", DOCUMENT_ISSUERS, &rv);
	if (rv == -1)
		return -1;
	if (list == NULL || list->count == 0)
		return document_bad(
		    d, "authorization_servers: names no server to log in at");
	from = d->used;
	for (const struct value *m = list->child; m != NULL; m = m->next) {
		if (https_url_read(m->text, &u, &why) == -1)
			return document_bad(
			    d, "authorization_servers: an address %s", why);
		for (const struct value *o = list->child; o != m; o = o->next)
			if (span_eq(o->text, m->text))
				return document_bad(d,
				    "authorization_servers: names one twice");
		if (d->used - from + m->text.len + 1 > PROTO_MAX_ISSUERS)
			return document_bad(
			    d, "authorization_servers: is too long");
		(void)document_keep(d, m->text);
		(void)document_keep(d, SPAN("\n"));
	}
	d->m.issuers = span_of(d->texts + from, d->used - from);
	return document_scopes(d, root, true);
}

static int
document_flags(struct document *d, const struct value *root)
{
	static const struct {
		const char *key, *word;
		uint32_t flag;
	} words[] = {
	    {"code_challenge_methods_supported", "S256", PROTO_SERVER_PKCE},
	    {"token_endpoint_auth_methods_supported", "none",
		PROTO_SERVER_NONE},
	    {"token_endpoint_auth_methods_supported", "client_secret_post",
		PROTO_SERVER_POST},
	    {"token_endpoint_auth_methods_supported", "client_secret_basic",
		PROTO_SERVER_BASIC},
	    {"grant_types_supported", "refresh_token", PROTO_SERVER_REFRESH},
	};
	static const struct {
		const char *key;
		uint32_t flag;
	} bools[] = {
	    {"authorization_response_iss_parameter_supported",
		PROTO_SERVER_ISS},
	    {"client_id_metadata_document_supported", PROTO_SERVER_DOCUMENT},
	};
	const struct value *v;
	int rv;

	for (size_t i = 0; i < nitems(words); i++) {
		v = document_list(d, root, words[i].key, 64, &rv);
		if (rv == -1)
			return -1;
		if (list_has(v, words[i].word))
			d->m.flags |= words[i].flag;
		if (v != NULL && words[i].flag == PROTO_SERVER_NONE)
			d->m.flags |= PROTO_SERVER_SAYS;
	}
	for (size_t i = 0; i < nitems(bools); i++) {
		v = value_get(root, bools[i].key);
		if (v != NULL && v->type == VALUE_TRUE)
			d->m.flags |= bools[i].flag;
		else if (v != NULL && v->type != VALUE_FALSE &&
			 v->type != VALUE_NULL)
			return document_bad(
			    d, "%s: must be true or false", bools[i].key);
	}
	return 0;
}

static int
document_server(struct document *d, const struct value *root)
{
	const struct value *v = value_get(root, "issuer");

	if (v == NULL || v->type != VALUE_STRING || v->text.len == 0)
		return document_bad(d, "issuer: is missing");
	if (v->text.len > PROTO_MAX_URL || v->text.len > PROTO_MAX_ISSUERS ||
	    memchr(v->text.p, '\n', v->text.len) != NULL ||
	    memchr(v->text.p, '\0', v->text.len) != NULL)
		return document_bad(d, "issuer: is no address");
	d->m.issuers = v->text;
	if (document_url(d, root, "authorization_endpoint",
		&d->m.authorization) == -1 ||
	    document_url(d, root, "token_endpoint", &d->m.token) == -1 ||
	    document_url(
		d, root, "registration_endpoint", &d->m.registration) == -1 ||
	    document_url(
		d, root, "revocation_endpoint", &d->m.revocation) == -1 ||
	    document_flags(d, root) == -1 ||
	    document_scopes(d, root, false) == -1)
		return -1;
	if (d->m.authorization.len == 0)
		return document_bad(d, "authorization_endpoint: is missing");
	if (d->m.token.len == 0)
		return document_bad(d, "token_endpoint: is missing");
	return 0;
}

static void
document_body(struct document *d, struct span body)
{
	const struct value *root;
	struct json_fail fail = {JSON_OK, 0};

	if ((d->pool = value_pool_new(DOCUMENT_POOL)) == NULL) {
		document_bad(d, "no memory for it");
		return;
	}
	if ((root = json_read(d->pool, body, &fail)) == NULL) {
		document_bad(d, "it is not JSON: %s at byte %zu",
		    json_strerror(fail.error), fail.at);
		return;
	}
	if (root->type != VALUE_OBJECT) {
		document_bad(d, "it is not a JSON object");
		return;
	}
	if ((d->m.kind == PROTO_META_RESOURCE ? document_resource(d, root)
					      : document_server(d, root)) == 0)
		d->m.good = 1;
}

void
document_read(struct document *d, enum proto_meta kind, unsigned status,
    struct span head, struct span body)
{
	static struct http1_head h;

	document_begin(d, kind, status);
	if (kind == PROTO_META_CHALLENGE) {
		if (http1_response(head, &h) == HTTP1_OK)
			document_challenge(d, &h);
		else
			document_bad(d, "its answer is malformed");
	} else if (status != 200) {
		document_bad(d, "status %u", status);
	} else {
		document_body(d, body);
	}
}

void
document_lost(struct document *d, enum proto_meta kind, const char *why)
{
	static const char word[] = "token endpoint";
	const char *at = strstr(why, word);

	document_begin(d, kind, 0);
	/* keyd speaks of what it usually asks. */
	if (at == NULL)
		document_bad(d, "%s", why);
	else
		document_bad(d, "%.*sserver%s", (int)(at - why), why,
		    at + strlen(word));
}

void
document_free(struct document *d)
{
	value_pool_free(d->pool);
	d->pool = NULL;
}
