/* SPDX-License-Identifier: ISC */
/*
 * Sends a request to the provider: the head is composed in secret memory and
 * written from there, repeatedly if necessary, always with the same credential
 * and date; then the body is counted out. The request is tried on another
 * connection only if none of its bytes was taken.
 */
#include "keyd/keyd.h"

#include <errno.h>

#include "keyd/head.h"

#define SEND_BURST 64

/*
 * Set the headers that accompany a login, or that the user's configuration
 * adds. Returns their number.
 */
static unsigned
txn_adds(const struct keyset *k, struct keyd_head_add *adds)
{
	const struct provider_login *l = keyd_login();
	const struct provider_add *a;
	unsigned n = 0, j;

	for (unsigned i = 0; l != NULL && i < l->nadds; i++) {
		a = &l->adds[i];
		if (a->value.len != 0)
			adds[n++] =
			    (struct keyd_head_add){a->name, a->value, true};
		else if (k->adds[i].len != 0)
			adds[n++] =
			    (struct keyd_head_add){a->name, k->adds[i], false};
	}
	for (unsigned i = 0; i < keyd_env.provider->nsends; i++) {
		a = &keyd_env.provider->sends[i];
		/* A login needs its own value of the header. */
		for (j = 0; j < n && !span_eq(adds[j].name, a->name); j++)
			continue;
		if (j == n)
			adds[n++] =
			    (struct keyd_head_add){a->name, a->value, false};
	}
	return n;
}

/* Set the credential in the head. */
static int
txn_credential(struct txn *x, struct keyd_head *h)
{
	const struct provider *p = keyd_env.provider;
	const struct keyset *k = x->key;

	if (!k->signs) {
		h->credential = k->access;
		return 0;
	}
	if (x->date[0] == '\0' &&
	    sigv4_date(clock_wall_us() / 1000000, x->date) == -1)
		return -1;
	h->sign = &p->sigv4;
	h->key = (struct sigv4_key){k->adds[0], k->access, k->refresh};
	h->date = x->date;
	h->body = x->req.digest;
	return 0;
}

/* Returns true if bytes of the body are here that were not yet taken. */
static bool
txn_follows(const struct stream *s)
{
	return s->at.len != 0 || s->ahead.len >= STREAM_HEADER + STREAM_AT_LEN;
}

/* Write the head; it has the same bytes each time, until all are taken. */
static enum tls_result
txn_write_head(struct stream *s)
{
	struct keyd_env *e = &keyd_env;
	struct txn *x = &s->x;
	const struct keyd_host *host = &e->hosts[x->req.host];
	const struct provider_login *login = keyd_login();
	const struct provider_kind *kind =
	    &e->provider
		 ->kinds[login != NULL ? login->kind : x->req.auth_header];
	bool bare = e->provider->routes[x->req.route].bare;
	struct keyd_head_add adds[PROVIDER_MAX_ADDS + PROVIDER_MAX_SENDS];
	struct keyd_head h = {
	    .method = e->provider->routes[x->req.route].method,
	    .prefix = span_str(host->prefix),
	    .path = x->req.path,
	    .query = x->req.query,
	    .host = span_str(host->name),
	    .port = host->port,
	    .tls = host->tls,
	    .auth_header = kind->name,
	    .auth_prefix = kind->prefix,
	    .length = x->req.length,
	    .close = !host->reuse,
	    .ws_key = span_str(x->ws_key),
	    .headers = x->req.headers,
	    .adds = adds};
	enum tls_result r;
	size_t cap, len, body, n = 0;
	struct span pend = txn_pending(s);
	uint8_t *dst;

	/* A head keeps its credential, even if that is renewed meanwhile. */
	if (x->key == NULL && e->now != NULL) {
		x->key = keyset_hold(e->now);
		x->date[0] = '\0';
	}
	/* A remote MCP server may want no login. */
	if (bare || x->key == NULL) {
		h.auth_header = h.auth_prefix = span_of(NULL, 0);
	} else {
		if (txn_credential(x, &h) == -1)
			return TLS_ERROR;
		h.nadds = txn_adds(x->key, adds);
	}
	if (x->req.kind->head != NULL)
		x->req.kind->head(x, &h);
	dst = secret_bytes(e->head, &cap);
	if (keyd_head_compose(&h, dst, cap, &len) == -1)
		return TLS_ERROR;
	/* Send the available part of the body in the same TLS record. */
	body = pend.len < cap - len ? pend.len : cap - len;
	if (body != 0)
		memcpy(dst + len, pend.p, body);
	x->up->out.more = body < pend.len || txn_follows(s);
	r = tls_write(x->up, dst + x->head_sent, len + body - x->head_sent, &n);
	explicit_bzero(dst, len);
	if (r != TLS_OK)
		return r;
	x->head_sent += n;
	if (x->head_sent < len)
		return TLS_OK;
	x->head_done = true;
	txn_consume(s, x->head_sent - len);
	if (!x->keeping && !x->listing && x->req.kind->head == NULL)
		request_free(&x->req);
	return TLS_OK;
}

static enum tls_result
txn_write_body(struct stream *s)
{
	struct span pend = txn_pending(s);
	enum tls_result r;
	size_t n;

	s->x.up->out.more = txn_follows(s);
	r = tls_write(s->x.up, pend.p, pend.len, &n);
	if (r == TLS_OK)
		txn_consume(s, n);
	return r;
}

/*
 * Copy the body bytes that were not sent, before another stream is read.
 * Returns 0, or -1 if the transaction failed.
 */
static int
txn_settle(struct stream *s)
{
	if (s->fresh.len == 0)
		return 0;
	buf_addspan(&s->pend, s->fresh);
	s->fresh = span_of(NULL, 0);
	return s->pend.failed ? txn_full(s, &s->pend, TXN_PEND) : 0;
}

/*
 * Write once. Returns false if there is nothing to write, or the connection is
 * gone.
 */
static bool
txn_write(struct stream *s)
{
	struct txn *x = &s->x;
	enum tls_result r;

	if (x->head_done && txn_pending(s).len == 0)
		return false;
	errno = 0;
	if (!x->head_done) {
		if (keyd_env.locked) {
			txn_fail(s, KEYD_FAIL_LOCKED, "locked");
			return false;
		}
		r = txn_write_head(s);
		if (r == TLS_ERROR && (errno == ENOBUFS || errno == EBADMSG)) {
			txn_fail(s,
			    errno == ENOBUFS ? KEYD_FAIL_TOO_LARGE
					     : KEYD_FAIL_MISMATCH,
			    "head cannot be composed");
			return false;
		}
	} else {
		r = txn_write_body(s);
	}
	switch (r) {
	case TLS_OK:
		return true;
	case TLS_AGAIN:
		x->up->full = true;
		return false;
	case TLS_EOF:
	case TLS_CUT:
	case TLS_ERROR:
		break;
	}
	if (txn_settle(s) == -1 || txn_retry(s))
		return false;
	/* The provider may have answered before it stopped reading. */
	x->write_closed = true;
	txn_forget(s);
	x->up->more = true;
	return false;
}

void
txn_push(struct stream *s)
{
	struct txn *x = &s->x;
	int r = 0;

	for (int i = 0; i < SEND_BURST && !x->up->full; i++) {
		if (txn_takes(s)) {
			if ((r = stream_read(s)) == -1)
				return;
			if (x->write_closed)
				txn_forget(s);
		}
		if (x->write_closed ? r == 0 : !txn_write(s))
			break;
		if (s->dead || x->state != TXN_ON)
			return;
		r = 0;
	}
	if (s->dead || x->state != TXN_ON || x->up == NULL ||
	    txn_settle(s) == -1)
		return;
	/*
	 * The stream is not read while body bytes wait: only this connection
	 * can continue.
	 */
	if (txn_pending(s).len != 0 || (stream_has_more(s) && !x->write_closed))
		x->up->full = true;
	if (s->pend.len == 0)
		buf_free(&s->pend);
	stream_watch(s);
	up_watch(x->up);
}
