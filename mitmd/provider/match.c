/* SPDX-License-Identifier: ISC */
/*
 * Checks a request against a provider: path and query against its routes,
 * headers against its lists. mitmd and keyd call the same functions, each with
 * its own copy of the file. Takes bytes from the agent, or from a mitmd that an
 * agent has taken over. Keeps no state.
 */
#include "provider/provider.h"

#include <errno.h>

#include "common/ipc/stream.h"
#include "provider/class.h"
#include "provider/dest.h"

/* Take the next piece off, up to `sep`. Returns false at the end. */
static bool
match_piece(struct span *rest, uint8_t sep, struct span *piece)
{
	const uint8_t *at;

	if (rest->p == NULL)
		return false;
	*piece = *rest;
	if (rest->len != 0 && (at = memchr(rest->p, sep, rest->len)) != NULL) {
		piece->len = (size_t)(at - rest->p);
		*rest = span_of(at + 1, rest->len - piece->len - 1);
	} else {
		*rest = (struct span){NULL, 0};
	}
	return true;
}

/*
 * Check that all segments are of the provider's alphabet, none empty and none
 * of dots.
 */
static bool
match_path_ok(const struct provider *p, struct span path)
{
	struct span rest, seg;
	unsigned n = 0;

	if (path.len < 2 || path.len > PROVIDER_MAX_PATH || path.p[0] != '/')
		return false;
	rest = span_of(path.p + 1, path.len - 1);
	while (match_piece(&rest, '/', &seg)) {
		if (!provider_segment_ok(p, seg) || ++n > PROVIDER_MAX_SEGMENTS)
			return false;
	}
	return true;
}

static bool
match_path(struct span pattern, struct span path)
{
	struct span a, b;

	if (span_eq(pattern, path))
		return true;
	while (match_piece(&pattern, '/', &a)) {
		if (!match_piece(&path, '/', &b))
			return false;
		if (a.len == 0 || a.p[0] != '*') {
			if (!span_eq(a, b))
				return false;
			continue;
		}
		/* The star matches at least one byte. */
		if (b.len < a.len ||
		    memcmp(a.p + 1, b.p + b.len - (a.len - 1), a.len - 1) != 0)
			return false;
	}
	return path.p == NULL;
}

static const struct provider_param *
match_param(const struct provider_route *r, struct span name, unsigned *index)
{
	for (unsigned i = 0; i < r->nparams; i++) {
		if (span_eq(r->params[i].name, name)) {
			*index = i;
			return &r->params[i];
		}
	}
	return NULL;
}

static bool
match_value(const struct provider_param *q, struct span value)
{
	switch (q->class) {
	case PROVIDER_LISTED:
		for (unsigned i = 0; i < q->nvalues; i++) {
			if (span_eq(q->values[i], value))
				return true;
		}
		return false;
	case PROVIDER_NUMBER:
		return provider_is_number(value);
	case PROVIDER_TOKEN:
		return provider_is_token(value);
	}
	return false;
}

/*
 * Check "name=value&name=value". Malformed queries are malformed for every
 * route.
 */
static enum provider_result
match_query(const struct provider_route *r, struct span query)
{
	const struct provider_param *q;
	struct span piece, name;
	enum provider_result result = PROVIDER_OK;
	uint32_t seen = 0;
	unsigned i;

	if (query.p == NULL)
		return PROVIDER_OK;
	if (query.len == 0 || query.len > PROVIDER_MAX_QUERY)
		return PROVIDER_BAD_QUERY;
	while (match_piece(&query, '&', &piece)) {
		if (!match_piece(&piece, '=', &name) || piece.p == NULL ||
		    !provider_is_param(name) || !provider_is_token(piece))
			return PROVIDER_BAD_QUERY;
		if ((q = match_param(r, name, &i)) == NULL ||
		    !match_value(q, piece)) {
			result = PROVIDER_NO_PARAM;
			continue;
		}
		if ((seen & (1U << i)) != 0)
			return PROVIDER_BAD_QUERY;
		seen |= 1U << i;
	}
	return result;
}

_Static_assert(PROVIDER_MAX_PARAMS <= 32, "one bit for each parameter");

enum provider_result
provider_match(const struct provider *p, unsigned host, struct span method,
    struct span path, struct span query, unsigned *route)
{
	enum provider_result result = PROVIDER_NO_ROUTE, q;
	const struct provider_route *r;

	if (p->dest != NULL)
		return p->dest->match(p, host, method, path, query, route);
	if (!match_path_ok(p, path))
		return PROVIDER_BAD_PATH;
	for (unsigned i = 0; i < p->nroutes; i++) {
		r = &p->routes[i];
		if (r->host != host || !match_path(r->path, path))
			continue;
		if (!span_eq(r->method, method)) {
			if (result == PROVIDER_NO_ROUTE)
				result = PROVIDER_NO_METHOD;
			continue;
		}
		q = match_query(r, query);
		if (q != PROVIDER_OK && q != PROVIDER_NO_PARAM)
			return q;
		if (result == PROVIDER_OK && (q != PROVIDER_OK || !r->ask))
			continue;
		result = q;
		if (q != PROVIDER_OK)
			continue;
		*route = i;
		/* A later route that asks is stricter than this one. */
		if (r->ask || r->answer != 0)
			return q;
	}
	return result;
}

enum provider_result
provider_match_route(const struct provider *p, unsigned route, unsigned host,
    struct span path, struct span query)
{
	const struct provider_route *r;
	enum provider_result result;
	unsigned found;

	if (route >= p->nroutes)
		return PROVIDER_NO_ROUTE;
	r = &p->routes[route];
	if (query.len == 0)
		query = span_of(NULL, 0);
	if (p->dest != NULL) {
		result =
		    p->dest->match(p, host, r->method, path, query, &found);
		return result == PROVIDER_OK && found != route
			   ? PROVIDER_NO_ROUTE
			   : result;
	}
	if (!match_path_ok(p, path))
		return PROVIDER_BAD_PATH;
	if (r->answer != 0 || r->host != host || !match_path(r->path, path))
		return PROVIDER_NO_ROUTE;
	if ((result = match_query(r, query)) != PROVIDER_OK)
		return result;
	/* If several routes fit, mitmd may not choose among them. */
	if (provider_match(p, host, r->method, path, query, &found) !=
		PROVIDER_OK ||
	    found != route)
		return PROVIDER_NO_ROUTE;
	return PROVIDER_OK;
}

bool
provider_type_ok(const struct provider_route *r, struct span type)
{
	const uint8_t *end;

	if (r->ntypes == 0)
		return true;
	if (type.p == NULL)
		return false;
	if (type.len != 0 && (end = memchr(type.p, ';', type.len)) != NULL)
		type.len = (size_t)(end - type.p);
	while (type.len != 0 &&
	       (type.p[type.len - 1] == ' ' || type.p[type.len - 1] == '\t'))
		type.len--;
	for (unsigned i = 0; i < r->ntypes; i++) {
		if (span_ieq(r->types[i], type))
			return true;
	}
	return false;
}

bool
provider_listed(const struct provider_list *l, struct span name)
{
	struct span s;

	for (unsigned i = 0; i < l->n; i++) {
		s = l->names[i];
		if (s.p[0] != (name.len == 0 ? 0 : name.p[0]))
			continue;
		if (s.p[s.len - 1] != '*') {
			if (span_eq(s, name))
				return true;
			continue;
		}
		s.len--;
		if (name.len > s.len && span_starts(name, s))
			return !provider_secretive(name);
	}
	return false;
}

int
provider_kind(const struct provider *p, struct span name)
{
	for (unsigned i = 0; i < p->nkinds; i++) {
		if (span_eq(p->kinds[i].name, name))
			return (int)i;
	}
	return -1;
}

static void
pack_len(uint8_t *dst, size_t len)
{
	dst[0] = (uint8_t)len;
	dst[1] = (uint8_t)(len >> 8);
}

int
provider_pack(struct buf *b, struct span name, struct span value)
{
	uint8_t *p;
	size_t n = 4 + name.len + value.len;

	if (name.len > PROVIDER_MAX_NAME || value.len > PROVIDER_MAX_VALUE) {
		errno = EINVAL;
		return -1;
	}
	if ((p = buf_room(b, n)) == NULL)
		return -1;
	pack_len(p, name.len);
	memcpy(p + 2, name.p, name.len);
	pack_len(p + 2 + name.len, value.len);
	if (value.len != 0)
		memcpy(p + 4 + name.len, value.p, value.len);
	buf_grow(b, n);
	return 0;
}

int
provider_unpack(struct span *rest, struct span *name, struct span *value)
{
	return stream_field(rest, name, value);
}

int
provider_headers_ok(
    const struct provider *p, bool bare, struct span blob, unsigned *kind)
{
	struct span names[PROVIDER_MAX_HEADERS], name, value;
	uint64_t index = 0;
	unsigned n = 0;
	int more;

	if (blob.len > PROVIDER_MAX_BLOB)
		goto bad;
	if (!bare && p->nkinds != 0 &&
	    (provider_unpack(&blob, &name, &value) != 1 ||
		!span_is(name, PROVIDER_CREDENTIAL) ||
		span_u64(value, p->nkinds - 1, &index) == -1))
		goto bad;
	while ((more = provider_unpack(&blob, &name, &value)) == 1) {
		if (n == PROVIDER_MAX_HEADERS || !provider_name_ok(name) ||
		    !provider_value_ok(value) ||
		    !provider_listed(&p->request, name))
			goto bad;
		for (unsigned i = 0; i < n; i++) {
			if (span_eq(names[i], name))
				goto bad;
		}
		names[n++] = name;
	}
	if (more == -1)
		goto bad;
	*kind = (unsigned)index;
	return 0;
bad:
	errno = EBADMSG;
	return -1;
}
