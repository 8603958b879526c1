/* SPDX-License-Identifier: ISC */
/*
 * Checks the head of a request, over HTTP/1.1 or HTTP/2, and packs the headers
 * to send on. Nothing of the head is forwarded as it is: the result is a
 * route's number, a path and a query in plain words, and headers on the
 * provider's list. The agent's bytes are parsed here.
 */
#include "mitmd.h"

#include <openssl/crypto.h>

#include <stdio.h>

#include "common/log.h"
#include "tls.h"
#include "wire/ws.h"

/* Headers of the request being checked, packed. */
static struct buf check_blob = {.max = PROVIDER_MAX_BLOB};

struct check {
	const struct mitmd_provider *pv;
	/* index of the provider's host that the tunnel leads to */
	unsigned host;
	const struct http1_head *head;
	struct http1_body *body; /* the request's */
	struct request *r;
	struct span type; /* Content-Type */
	bool coded;
	bool bare; /* the route takes no key */
	int kind;  /* kind of the correct key; -1: none yet */
	unsigned nnames;
	/* names already packed, in check_lower */
	struct span names[HTTP1_MAX_HEADERS];
};

static uint8_t check_lower[HTTP1_MAX_HEADERS * PROVIDER_MAX_NAME];

/* Copy in lower case to dst, which has enough room. */
static struct span
check_lower_case(struct span name, uint8_t *dst)
{
	uint8_t c;

	for (size_t i = 0; i < name.len; i++) {
		c = name.p[i];
		if (c >= 'A' && c <= 'Z')
			c = (uint8_t)(c + ('a' - 'A'));
		dst[i] = c;
	}
	return span_of(dst, name.len);
}

/* Accept only the session's own key, directly after the kind's prefix. */
static enum refusal
check_key(struct check *k, int kind, struct span value)
{
	struct span prefix = k->pv->p->kinds[kind].prefix;
	uint8_t sum[32];

	if (k->kind != -1)
		return REFUSE_TWO_KEYS;
	/* The agent signed with its placeholder key: see sigv4.c. */
	if (k->pv->p->sigv4.service.len != 0 &&
	    span_starts(value, SPAN(SIGV4_SCHEME))) {
		value = sigv4_claimed(value, &k->pv->p->sigv4);
		if (value.p == NULL)
			return REFUSE_WRONG_KEY;
		prefix = SPAN("");
	}
	/* Clients of forges write either; keyd writes its own. */
	if (k->pv->p->forge != NULL && span_starts(value, SPAN("Bearer ")))
		prefix = SPAN("Bearer ");
	if (!k->pv->keyed || !span_starts(value, prefix))
		return REFUSE_WRONG_KEY;
	mitmd_sha256(
	    span_of(value.p + prefix.len, value.len - prefix.len), sum);
	if (CRYPTO_memcmp(sum, k->pv->sentinel, sizeof(sum)) != 0)
		return REFUSE_WRONG_KEY;
	k->kind = kind;
	return REFUSE_NONE;
}

static enum refusal
check_pack(struct check *k, struct span name, struct span value)
{
	for (unsigned i = 0; i < k->nnames; i++) {
		if (!span_eq(k->names[i], name))
			continue;
		k->r->why = "a header that is forwarded is given twice";
		return REFUSE_MALFORMED;
	}
	k->names[k->nnames++] = name;
	if (!provider_name_ok(name) || !provider_value_ok(value))
		k->r->why = "a header that is forwarded is too long, or "
			    "holds more than printable ASCII";
	else if (provider_pack(&check_blob, name, value) == -1)
		k->r->why = "the headers that are forwarded are too long";
	else
		return REFUSE_NONE;
	return REFUSE_HEADERS;
}

/* Note the coding: the body is sent on decoded. */
static enum refusal
check_coding(struct check *k, struct span value)
{
	int coding = decode_find(value);

	if (coding == -1)
		return REFUSE_ENCODING;
	if (k->coded) {
		k->r->why = "Content-Encoding is given twice";
		return REFUSE_MALFORMED;
	}
	k->coded = true;
	k->r->coding = (enum decode_coding)coding;
	return REFUSE_NONE;
}

static enum refusal
check_header(struct check *k, const struct http1_header *x)
{
	struct span name;
	int kind;

	if (x->name.len > PROVIDER_MAX_NAME)
		return provider_secretive(x->name) ? REFUSE_FOREIGN_KEY
						   : REFUSE_NONE;
	name = check_lower_case(
	    x->name, check_lower + k->nnames * PROVIDER_MAX_NAME);
	if ((kind = provider_kind(k->pv->p, name)) != -1 && !k->pv->p->keyless)
		return k->bare ? REFUSE_BARE : check_key(k, kind, x->value);
	if (provider_secretive(name))
		return REFUSE_FOREIGN_KEY;
	if (span_is(name, "content-type"))
		k->type = x->value;
	else if (span_is(name, "content-encoding"))
		return check_coding(k, x->value);
	if (!provider_listed(&k->pv->p->request, name))
		return REFUSE_NONE;
	return check_pack(k, name, x->value);
}

/*
 * Pack the headers. The kind of the key comes first; its one digit is filled in
 * at the end.
 */
static enum refusal
check_headers(struct check *k)
{
	struct span name = SPAN(PROVIDER_CREDENTIAL);
	bool keyed = k->pv->p->nkinds != 0 && !k->bare;
	enum refusal no;

	buf_reset(&check_blob, PROVIDER_MAX_BLOB);
	if (keyed && provider_pack(&check_blob, name, SPAN("0")) == -1)
		return REFUSE_HEADERS;
	for (unsigned i = 0; i < k->head->nheaders; i++) {
		if ((no = check_header(k, &k->head->headers[i])) != REFUSE_NONE)
			return no;
	}
	if (keyed) {
		if (k->pv->p->keyless)
			k->kind = 0;
		if (k->kind == -1)
			return REFUSE_NO_KEY;
		check_blob.p[check_blob.off + 4 + name.len] =
		    (uint8_t)('0' + k->kind);
	}
	k->r->headers = buf_span(&check_blob);
	return REFUSE_NONE;
}

_Static_assert(PROVIDER_MAX_KINDS <= 10, "one digit");

static enum refusal
check_body(const struct check *k)
{
	const struct provider_route *route;
	struct request *r = k->r;

	route = &k->pv->p->routes[r->route];
	if (k->body->done && route->push) {
		r->why = "a push without a command";
		return REFUSE_PUSH;
	}
	if (k->body->done)
		return REFUSE_NONE;
	if (route->ntypes == 0)
		return REFUSE_BODY;
	if (!provider_type_ok(route, k->type))
		return REFUSE_TYPE;
	if (k->body->framing == HTTP1_LENGTH && k->body->length > route->max)
		return REFUSE_LENGTH;
	return REFUSE_NONE;
}

/*
 * Check a WebSocket handshake (RFC 6455 4.2.1). Extensions and protocols on
 * offer are ignored.
 */
static enum refusal
check_handshake(struct check *k)
{
	struct request *r = k->r;
	struct span version;

	r->length = UINT64_MAX;
	r->why = "Sec-WebSocket-Version is not 13, or Sec-WebSocket-Key is "
		 "not 16 bytes in base64";
	if (http1_header(k->head, "sec-websocket-version", &version) != 1 ||
	    !span_is(version, "13") ||
	    http1_header(k->head, "sec-websocket-key", &r->ws_key) != 1 ||
	    !ws_key_ok(r->ws_key))
		return REFUSE_MALFORMED;
	r->why = NULL;
	return REFUSE_NONE;
}

static enum refusal
check_hop(struct check *k)
{
	struct request *r = k->r;
	struct http1_hop hop;

	if (http1_request_body(k->head, k->body) != HTTP1_OK) {
		r->why = k->body->reason;
		return REFUSE_MALFORMED;
	}
	if (http1_request_hop(k->head, k->body, k->pv->p->hosts[k->host],
		r->websocket, &hop) != HTTP1_OK) {
		r->why = hop.reason;
		switch (hop.error) {
		case 405:
			return REFUSE_METHOD;
		case 417:
			return REFUSE_EXPECT;
		case 426:
			return REFUSE_UPGRADE;
		default:
			return REFUSE_MALFORMED;
		}
	}
	r->close = hop.close;
	r->expect = hop.expect;
	r->head = span_is(k->head->method, "HEAD");
	r->sized = k->body->framing != HTTP1_CHUNKED;
	if (k->body->framing == HTTP1_LENGTH)
		r->length = k->body->length;
	return r->websocket ? check_handshake(k) : REFUSE_NONE;
}

static enum provider_result
check_match(struct check *k)
{
	struct request *r = k->r;
	struct span target = k->head->target;
	const uint8_t *mark = NULL;

	r->path = target;
	r->query = span_of(NULL, 0);
	if (target.len != 0)
		mark = memchr(target.p, '?', target.len);
	if (mark != NULL) {
		r->path.len = (size_t)(mark - target.p);
		r->query = span_of(mark + 1, target.len - r->path.len - 1);
	}
	if (k->pv->p->forge != NULL && span_is(k->head->method, "GET"))
		forge_respell(k->pv->p, k->head->method, r);
	return provider_match(
	    k->pv->p, k->host, k->head->method, r->path, r->query, &r->route);
}

/*
 * Returns true if the request asks for a WebSocket on a route that has it. On
 * other routes, "Upgrade" is refused.
 */
static bool
check_is_websocket(struct check *k)
{
	return http1_is_websocket(k->head) && check_match(k) == PROVIDER_OK &&
	       k->pv->p->routes[k->r->route].websocket;
}

static enum refusal
check_route(struct check *k)
{
	struct request *r = k->r;

	switch (check_match(k)) {
	case PROVIDER_OK:
		if (k->pv->p->routes[r->route].websocket != r->websocket)
			return REFUSE_METHOD;
		return REFUSE_NONE;
	case PROVIDER_BAD_PATH:
		r->why = provider_path_why(k->pv->p);
		return REFUSE_MALFORMED;
	case PROVIDER_BAD_QUERY:
		r->why = "the query is not NAME=VALUE&... without escapes, "
			 "each name once";
		return REFUSE_MALFORMED;
	case PROVIDER_NO_METHOD:
		return REFUSE_METHOD;
	case PROVIDER_NO_PARAM:
		return REFUSE_QUERY;
	case PROVIDER_NO_ROUTE:
		if (k->pv->p->forge != NULL)
			return REFUSE_FORGE;
		return k->pv->p->git != NULL ? REFUSE_REPOSITORY
					     : REFUSE_ENDPOINT;
	}
	return REFUSE_ENDPOINT;
}

enum refusal
check_request(const struct agent *a, const struct http1_head *h,
    struct http1_body *body, struct request *r, bool *known)
{
	struct check k;
	enum refusal no;

	k.pv = &mitmd_env.providers[a->provider];
	k.host = a->host;
	k.head = h;
	k.body = body;
	k.r = r;
	k.type = span_of(NULL, 0);
	k.coded = k.bare = false;
	k.kind = -1;
	k.nnames = 0;
	*known = false;
	memset(r, 0, sizeof(*r));
	r->websocket = check_is_websocket(&k);
	if ((no = check_hop(&k)) != REFUSE_NONE)
		return no;
	if ((no = check_route(&k)) == REFUSE_MALFORMED)
		return no;
	*known = true;
	if (no != REFUSE_NONE)
		return no;
	if (k.pv->p->routes[r->route].answer != 0)
		return REFUSE_OFFERED;
	k.bare = k.pv->p->routes[r->route].bare;
	if ((no = check_headers(&k)) != REFUSE_NONE)
		return k.pv->p->captures &&
			       (no == REFUSE_NO_KEY || no == REFUSE_WRONG_KEY)
			   ? REFUSE_LOGIN
			   : no;
	return check_body(&k);
}
