/* SPDX-License-Identifier: ISC */
/*
 * Streams to keyd, and REQUEST to auditd, which lets keyd begin on one. Streams
 * are numbered here and carry one exchange after the other; if all are in use,
 * a request waits. Owns the queue of waiting requests and the list of idle
 * streams; never inspects a body.
 */
#include "mitmd.h"

#include <unistd.h>

#include "tls.h"
#include "usage.h"

struct exchange *
exchange_find(uint32_t stream)
{
	struct exchange *x;

	x = mitmd_env.streams[stream % MITMD_MAX_STREAMS];
	return x != NULL && x->up.stream == stream ? x : NULL;
}

/* Close an idle stream to make room for another. */
static bool
exchange_evict(void)
{
	struct exchange *x;

	if ((x = TAILQ_FIRST(&mitmd_env.spare)) == NULL)
		return false;
	upstream_close(x);
	if (x->parked)
		exchange_free(x);
	return true;
}

/* Send the request to auditd, which records it and lets keyd begin. */
static void
exchange_send(struct exchange *x)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;
	struct request *r = &x->req;
	struct msg_REQUEST m = {
	    .provider = (uint16_t)x->a->provider,
	    .host = (uint8_t)x->a->host,
	    .stream = x->up.stream,
	    .exchange = x->up.exchange,
	    .route = (uint16_t)r->route,
	    .path = r->path,
	    .query = r->query,
	    .length = r->length,
	    .most = x->asked.out,
	    .headers = r->headers,
	};

	if (provider_is_digested(&p->routes[r->route])) {
		if (r->length == 0)
			mitmd_sha256(SPAN(""), r->digest);
		m.body = span_of(r->digest, sizeof(r->digest));
	}
	usage_sent(x);
	if (!ask_wanted(x)) {
		worker_send(&mitmd_env.w, ROLE_AUDIT, 0, MSG_REQUEST, &m, -1);
	} else if (!ask_send(x, &m)) {
		deny_exchange(x, REFUSE_ASKS, NULL);
		return;
	}
	exchange_enter(x, EXCHANGE_ON, MITMD_STALL_MS);
	mitmd_env.kept -= x->kept.len;
	buf_reset(&x->kept, 0);
	if (upstream_flush(x) == -1)
		agent_close(x->a);
}

/* Request a stream from keyd; a number is free. */
static void
exchange_open(struct exchange *x)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;
	uint32_t *last = &mitmd_env.last_stream;
	struct msg_STREAM_OPEN m;

	do {
		if (++*last >= PROTO_LOOKUP_STREAM)
			*last = 1;
	} while (mitmd_env.streams[*last % MITMD_MAX_STREAMS] != NULL);
	mitmd_env.streams[*last % MITMD_MAX_STREAMS] = x;
	mitmd_env.nstreams++;
	x->up.stream = *last;
	x->up.exchange = 1;
	m = (struct msg_STREAM_OPEN){.stream = x->up.stream,
	    .digest = span_of(p->digest, sizeof(p->digest))};
	exchange_enter(x, EXCHANGE_OPENING, MITMD_STREAM_MS);
	worker_send(
	    &mitmd_env.w, ROLE_KEY, x->a->provider, MSG_STREAM_OPEN, &m, -1);
}

void
exchange_launch(struct exchange *x)
{
	x->up.answered = false;
	x->up.redirected = false;
	x->up.failed = false;
	x->up.status = 0;
	x->up.passed = 0;
	x->up.write_closed = false;
	x->up.left = 0;
	if (x->spare) {
		TAILQ_REMOVE(&mitmd_env.spare, x, queue);
		x->spare = false;
	}
	if (x->up.fd != -1 && x->up.exchange != UINT32_MAX) {
		x->up.exchange++;
		exchange_send(x);
		return;
	}
	upstream_close(x);
	if (exchange_keep(x) == -1) {
		deny_exchange(x, REFUSE_HELD, NULL);
		return;
	}
	if (TAILQ_EMPTY(&mitmd_env.queued) &&
	    (mitmd_env.nstreams < mitmd_env.most || exchange_evict())) {
		exchange_open(x);
		return;
	}
	exchange_enter(x, EXCHANGE_QUEUED, MITMD_QUEUE_MS);
	TAILQ_INSERT_TAIL(&mitmd_env.queued, x, queue);
}

void
exchange_dequeue(void)
{
	struct exchange *x;

	while ((x = TAILQ_FIRST(&mitmd_env.queued)) != NULL &&
	       (mitmd_env.nstreams < mitmd_env.most || exchange_evict())) {
		TAILQ_REMOVE(&mitmd_env.queued, x, queue);
		exchange_open(x);
	}
}

void
streams_exchange(struct exchange *x, int fd)
{
	if (upstream_open(x, fd) == -1)
		deny_exchange(x, REFUSE_GONE, NULL);
	else
		exchange_send(x);
}
