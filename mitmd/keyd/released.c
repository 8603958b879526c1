/* SPDX-License-Identifier: ISC */
/*
 * A request that auditd released, copied into memory that is wiped as soon as
 * its head need not be composed again.
 */
#include "keyd/keyd.h"

#include <stdlib.h>

static struct span
request_keep(uint8_t **p, struct span s)
{
	struct span kept = span_of(*p, s.len);

	if (s.len != 0)
		memcpy(*p, s.p, s.len);
	*p += s.len;
	return kept;
}

int
request_copy(struct request *r, const struct msg_REQUEST_GO *m, unsigned auth)
{
	uint8_t *p;

	*r = (struct request){.exchange = m->exchange,
	    .route = m->route,
	    .auth_header = auth,
	    .host = m->host,
	    .length = m->length,
	    .most = m->most};
	if (m->body.len == sizeof(r->digest)) {
		r->digested = true;
		memcpy(r->digest, m->body.p, sizeof(r->digest));
	}
	r->size = m->path.len + m->query.len + m->refs.len + m->headers.len;
	if ((p = r->mem = malloc(r->size + 1)) == NULL)
		return -1;
	r->path = request_keep(&p, m->path);
	r->query = request_keep(&p, m->query);
	r->refs = request_keep(&p, m->refs);
	r->headers = request_keep(&p, m->headers);
	return 0;
}

void
request_free(struct request *r)
{
	if (r->mem != NULL)
		freezero(r->mem, r->size + 1);
	r->mem = NULL;
}

struct span
request_type(struct span headers)
{
	struct span name, value;

	while (provider_unpack(&headers, &name, &value) == 1) {
		if (span_is(name, "content-type"))
			return value;
	}
	return span_of(NULL, 0);
}
