/* SPDX-License-Identifier: ISC */
/*
 * One file: a stream to mitmd, a connection to the host, one GET with fixed
 * headers. Another redirect is an error, since keyd follows one.
 */
#include "followd/followd.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/forge/forge.h"
#include "common/log.h"

#define PLACE_MAX_ANSWER (256ULL << 20)

/* The headers that are passed on: all are on the forge's own list. */
static struct span place_headers[] = {
    {(const uint8_t *)"content-disposition", 19},
    {(const uint8_t *)"content-type", 12}, {(const uint8_t *)"etag", 4},
    {(const uint8_t *)"last-modified", 13}};

static bool place_used[KEYD_MAX_PLACES];

static void
place_dial(uint32_t id, const char *host)
{
	const struct msg_FOLLOW_DIAL m = {.id = id, .host = span_str(host)};

	worker_send(&keyd_env.w, ROLE_DIAL, 0, MSG_FOLLOW_DIAL, &m, -1);
}

static void
place_release(struct stream *s)
{
	place_used[s->x.req.host] = false;
}

static const struct txn_kind place_kind = {
    .begin = txn_go,
    .release = place_release,
};

/*
 * Returns the index of a host that nothing uses any more, under its new name,
 * or -1.
 */
static int
place_host(struct span name)
{
	struct keyd_host *h;

	for (unsigned i = 0; i < KEYD_MAX_PLACES; i++) {
		h = &keyd_env.hosts[i];
		if (place_used[i] || h->nups != 0)
			continue;
		SSL_SESSION_free(h->session);
		*h = (struct keyd_host){.port = 443, .tls = true};
		if (span_copy(name, h->name, sizeof(h->name)) == -1)
			return -1;
		place_used[i] = true;
		return (int)i;
	}
	return -1;
}

/* Make the request. Returns 0, or -1 if there is no memory. */
static int
place_request(struct request *r, const struct msg_FOLLOW_GO *m)
{
	const uint8_t *mark = memchr(m->target.p, '?', m->target.len);
	size_t path =
	    mark != NULL ? (size_t)(mark - m->target.p) : m->target.len;
	struct buf b;
	int rv = -1;

	*r = (struct request){.exchange = m->exchange, .kind = &place_kind};
	buf_init(&b, PROTO_MAX_LOCATION + 256U);
	buf_addspan(&b, m->target);
	if (provider_pack(&b, SPAN("accept"), SPAN("*/*")) == 0 &&
	    provider_pack(&b, SPAN("user-agent"), SPAN("ironcurtain")) == 0 &&
	    !b.failed && (r->mem = malloc(b.len)) != NULL) {
		r->size = b.len;
		memcpy(r->mem, buf_span(&b).p, b.len);
		r->path = span_of(r->mem, path);
		if (mark != NULL)
			r->query = span_of(
			    r->mem + path + 1, m->target.len - path - 1);
		r->headers =
		    span_of(r->mem + m->target.len, b.len - m->target.len);
		rv = 0;
	}
	buf_free(&b);
	return rv;
}

int
place_fetch(struct chan *c, const struct msg_FOLLOW_GO *m)
{
	const struct msg_STREAM given = {.stream = m->stream};
	struct request r;
	struct stream *s;
	int theirs, host;

	if (m->target.len == 0 || m->target.p[0] != '/' || m->exchange == 0 ||
	    stream_find(m->stream) != NULL)
		return chan_violation(c, "FOLLOW_GO is impossible");
	if ((theirs = open_stream(m->stream, &s)) == -1) {
		log_warn("socketpair");
		return 0;
	}
	/* Without a stream, mitmd reads the end of this at once. */
	worker_send(&keyd_env.w, ROLE_MITM, 0, MSG_STREAM, &given, theirs);
	if (s == NULL)
		return 0;
	s->x = (struct txn){.state = TXN_ON, .req.exchange = m->exchange};
	if ((host = place_host(m->host)) == -1) {
		txn_fail(s, KEYD_FAIL_BUSY, "too many files at once");
		return 0;
	}
	if (place_request(&r, m) == -1) {
		place_used[host] = false;
		txn_fail(s, KEYD_FAIL_INTERNAL, "no memory for the request");
		return 0;
	}
	r.host = (unsigned)host;
	txn_begin(s, &r);
	return 0;
}

void
place_init(void)
{
	static struct provider_route route = {
	    .method = {(const uint8_t *)"GET", 3},
	    .reply = PLACE_MAX_ANSWER,
	    .stay = true,
	    .bare = true};
	static struct provider p = {.routes = &route,
	    .nroutes = 1,
	    .response = {place_headers, nitems(place_headers)}};

	keyd_env.provider = &p;
	keyd_env.nhosts = KEYD_MAX_PLACES;
	keyd_env.dial_place = place_dial;
}
