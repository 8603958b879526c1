/* SPDX-License-Identifier: ISC */
/*
 * keyd's check: a request that auditd released is checked completely against
 * keyd's own copy of the provider file. mitmd has checked it before but is not
 * trusted; a request that fails here can only come from a compromised mitmd, so
 * it ends the stream with an alarm.
 */
#include "keyd/keyd.h"

#include <errno.h>
#include <stdlib.h>

#include "common/http/approved.h"

/* The most that policyd shows, plus the names before it. */
#define KEYD_MAX_APPROVED ((256U << 10) + 1024U)

/* An empty body has a known digest. */
static bool
request_digest_ok(const struct msg_REQUEST_GO *m)
{
	uint8_t none[SHA256_DIGEST_LENGTH];

	if (m->length != 0)
		return true;
	SHA256(NULL, 0, none);
	return span_eq(m->body, span_of(none, sizeof(none)));
}

/*
 * Check that a person approved this very request. The digest is computed from
 * keyd's own provider file: mitmd has no say in provider, host and method.
 * Returns NULL, or the error for alarm and audit log.
 */
static const char *
request_approved(const struct msg_REQUEST_GO *m, const struct provider_route *r)
{
	const struct provider *p = keyd_env.provider;
	const struct approved a = {.name = p->name,
	    .host = p->hosts[m->host],
	    .method = r->method,
	    .path = m->path,
	    .query = m->query,
	    .headers = m->headers,
	    .length = m->length,
	    .body = m->body,
	    .refs = m->refs};
	uint8_t digest[SHA256_DIGEST_LENGTH];
	const char *why = "not the request that was approved";
	struct buf b;

	if (m->asked == 0)
		return m->digest.len == 0 ? NULL : "a digest without approval";
	if (approved_check(&a) != NULL)
		return "a request that nobody can be shown";
	buf_init(&b, KEYD_MAX_APPROVED);
	if (approved_bound(&a, &b) == 0) {
		SHA256(buf_span(&b).p, buf_span(&b).len, digest);
		if (span_eq(m->digest, span_of(digest, sizeof(digest))))
			why = NULL;
	}
	buf_free(&b);
	return why;
}

/* Check the request. Returns NULL, or the error for alarm and audit log. */
static const char *
request_check(const struct msg_REQUEST_GO *m, unsigned *auth)
{
	const struct provider *p = keyd_env.provider;
	const struct provider_route *r;
	const char *why;

	if (m->route >= p->nroutes)
		return "no such route";
	r = &p->routes[m->route];
	switch (provider_match_route(p, m->route, m->host, m->path, m->query)) {
	case PROVIDER_OK:
		break;
	case PROVIDER_BAD_PATH:
		return "malformed path";
	case PROVIDER_BAD_QUERY:
		return "malformed query";
	case PROVIDER_NO_PARAM:
		return "query parameter not on the route";
	case PROVIDER_NO_ROUTE:
	case PROVIDER_NO_METHOD:
	default:
		return "path not on the route";
	}
	if (r->websocket ? m->length != UINT64_MAX : m->length > r->max)
		return "body over the route's limit";
	/* The approver asks a model, in a few words, and does nothing else. */
	if ((m->stream & PROTO_APPROVER_STREAM) != 0 &&
	    (!r->turn || r->websocket || m->asked != 0 ||
		m->length > PROTO_MAX_OPINION))
		return "not a request that the approver makes";
	if (m->body.len != (provider_is_digested(r) ? SHA256_DIGEST_LENGTH : 0))
		return "body announced with or without a digest";
	if (m->body.len != 0 && !request_digest_ok(m))
		return "digest of another body than none";
	if ((why = push_check(r, m)) != NULL)
		return why;
	if (provider_headers_ok(p, r->bare, m->headers, auth) == -1)
		return "header not on the list";
	if (m->length != 0 && !provider_type_ok(r, request_type(m->headers)))
		return "content type not on the route";
	return request_approved(m, r);
}

static void
request_refuse(struct stream *s, uint32_t exchange, enum keyd_fail fail,
    const char *detail)
{
	/* A transaction that is running on the stream ends with it. */
	if (s->x.state == TXN_NONE) {
		s->x = (struct txn){
		    .state = TXN_ON, .req.exchange = exchange};
	} else {
		txn_report_refused(s->id, exchange, detail);
	}
	txn_fail(s, fail, detail);
}

static void
request_mismatch(struct stream *s, uint32_t exchange, const char *detail)
{
	keyd_alarm("request-mismatch", detail);
	request_refuse(s, exchange, KEYD_FAIL_MISMATCH, detail);
}

/* Returns the kind of transaction for this route. */
static const struct txn_kind *
request_kind(const struct provider_route *route)
{
	if (keyd_env.provider->registry != NULL)
		return &package_kind;
	if (keyd_env.provider->forge != NULL)
		return &forge_kind;
	if (route->lfs)
		return &lfs_kind;
	return route->capture != 0 ? &capture_kind : &txn_plain;
}

static void
request_take(struct stream *s, const struct msg_REQUEST_GO *m)
{
	const struct provider_route *route;
	const char *detail;
	struct request r;
	unsigned auth = 0;
	bool idle, drains;

	idle = s->x.state == TXN_NONE;
	drains = s->x.state == TXN_DRAIN && !s->has_next;
	if (m->exchange <= s->last || (!idle && !drains)) {
		request_mismatch(s, m->exchange, "exchange out of order");
		return;
	}
	s->last = m->exchange;
	if ((detail = request_check(m, &auth)) != NULL) {
		request_mismatch(s, m->exchange, detail);
		return;
	}
	route = &keyd_env.provider->routes[m->route];
	if (keyd_env.now == NULL && keyd_env.provider->nkinds != 0 &&
	    !route->bare)
		request_refuse(s, m->exchange,
		    keyd_env.capturing ? KEYD_FAIL_NO_LOGIN : KEYD_FAIL_NO_KEY,
		    "no credential");
	else if (keyd_env.locked)
		request_refuse(s, m->exchange, KEYD_FAIL_LOCKED, "locked");
	else if ((keyd_env.budget.why = budget_refusal(route)) != NULL)
		request_refuse(
		    s, m->exchange, KEYD_FAIL_BUDGET, "budget used up");
	else if (request_copy(&r, m, auth) == -1)
		request_refuse(s, m->exchange, KEYD_FAIL_INTERNAL,
		    "no memory for the request");
	else {
		r.kind = request_kind(route);
		if (drains) {
			s->next = r;
			s->has_next = true;
		} else {
			txn_begin(s, &r);
		}
	}
}

int
keyd_request(struct chan *c, const struct msg_REQUEST_GO *m)
{
	struct stream *s;

	if (m->provider != keyd_env.index)
		return chan_violation(
		    c, "REQUEST_GO for provider %u", m->provider);
	/* The agent may have left in the meantime. */
	if ((s = stream_find(m->stream)) == NULL || s->closing)
		txn_report_refused(
		    m->stream, m->exchange, "the stream is gone");
	else
		request_take(s, m);
	return 0;
}
