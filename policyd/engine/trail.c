/* SPDX-License-Identifier: ISC */
/*
 * Collects the places that a walk passed. A place above one that was passed
 * before is left out: a rule about a directory that holds the upper one matches
 * the lower one, too.
 */
#include "engine/trail.h"

enum path_error
trail_name(struct trail *t, struct value_pool *pool, struct span host,
    struct span rest)
{
	uint8_t *p;
	size_t n;

	while (rest.len != 0 && rest.p[0] == '/') {
		rest.p++;
		rest.len--;
	}
	n = host.len + (rest.len == 0 ? 0 : 1 + rest.len);
	if ((p = value_pool_alloc(pool, n)) == NULL)
		return PATH_MEMORY;
	memcpy(p, host.p, host.len);
	if (rest.len != 0) {
		p[host.len] = '/';
		memcpy(p + host.len + 1, rest.p, rest.len);
	}
	t->named = span_of(p, n);
	return PATH_OK;
}

enum path_error
trail_pass(
    struct trail *t, struct value_pool *pool, const struct path_point *at)
{
	struct path_hit *hits;

	if (!utf8_valid(at->host))
		return PATH_TEXT;
	for (unsigned i = 0; i < t->n; i++) {
		if (path_below(t->list[i].host, at->host))
			return PATH_OK;
	}
	if (t->n == PATH_MAX_PASSED)
		return PATH_LOOP;
	t->list[t->n] = *at;
	if (at->nhits != 0) {
		hits = value_pool_alloc(pool, at->nhits * sizeof(*hits));
		if (hits == NULL)
			return PATH_MEMORY;
		memcpy(hits, at->hits, at->nhits * sizeof(*hits));
		t->list[t->n].hits = hits;
	}
	t->n++;
	return PATH_OK;
}

enum path_error
trail_result(const struct trail *t, struct value_pool *pool, struct path *out)
{
	struct path_point *copy;

	out->named = t->named;
	if (t->n == 0)
		return PATH_OK;
	if ((copy = value_pool_alloc(pool, t->n * sizeof(*copy))) == NULL)
		return PATH_MEMORY;
	memcpy(copy, t->list, t->n * sizeof(*copy));
	out->passed = copy;
	out->npassed = t->n;
	return PATH_OK;
}
