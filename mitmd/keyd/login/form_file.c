/* SPDX-License-Identifier: ISC */
/*
 * Composes the login file for a captured login: the members that the provider
 * file names, in the vendor's layout, and nothing else.
 */
#include "keyd/login/form.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/json/json.h"
#include "common/time_text.h"

#define FILE_POOL (1U << 20)
#define FILE_MEMBERS (5U + PROVIDER_MAX_ADDS)

int
form_claim(
    struct span id, const struct span claim[2], char dst[OAUTH_MAX_ADD + 1])
{
	/* Claims identify somebody; only the signature is secret. */
	static uint8_t claims[OAUTH_MAX_ANSWER];
	const struct value *v = NULL;
	struct value_pool *pool;
	size_t len;
	int rv = -1;

	if ((pool = value_pool_new(FILE_POOL)) == NULL)
		return -1;
	if (oauth_jwt_claims(id, claims, sizeof(claims), &len) == 0)
		v = json_read(pool, span_of(claims, len), NULL);
	for (unsigned i = 0; i < 2 && v != NULL && claim[i].len != 0; i++)
		v = v->type == VALUE_OBJECT ? value_getspan(v, claim[i]) : NULL;
	if (v != NULL && v->type == VALUE_STRING &&
	    oauth_is_token(v->text, OAUTH_MAX_ADD))
		rv = span_copy(v->text, dst, OAUTH_MAX_ADD + 1);
	value_pool_free(pool);
	explicit_bzero(claims, sizeof(claims));
	return rv;
}

struct file_member {
	struct span path, value;
	bool number, done;
};

/* Returns the "a" of "a.b", or an empty span. */
static struct span
file_group(struct span path)
{
	const uint8_t *dot = memchr(path.p, '.', path.len);

	return dot == NULL ? span_of(path.p, 0)
			   : span_of(path.p, (size_t)(dot - path.p));
}

static void
file_put(struct sink *o, struct file_member *m, size_t skip)
{
	sink_put(o, SPAN("\""));
	sink_put(o, span_of(m->path.p + skip, m->path.len - skip));
	sink_put(o, m->number ? SPAN("\":") : SPAN("\":\""));
	sink_put(o, m->value);
	if (!m->number)
		sink_put(o, SPAN("\""));
	m->done = true;
}

/* Write the members; those of one group are written together. */
static void
file_write(struct sink *o, struct file_member *m, size_t n)
{
	struct span group;
	bool first;

	sink_put(o, SPAN("{"));
	for (size_t i = 0; i < n; i++) {
		if (m[i].done)
			continue;
		if (i != 0)
			sink_put(o, SPAN(","));
		group = file_group(m[i].path);
		if (group.len == 0) {
			file_put(o, &m[i], 0);
			continue;
		}
		sink_put(o, SPAN("\""));
		sink_put(o, group);
		sink_put(o, SPAN("\":{"));
		first = true;
		for (size_t k = i; k < n; k++) {
			if (!span_eq(file_group(m[k].path), group))
				continue;
			if (!first)
				sink_put(o, SPAN(","));
			first = false;
			file_put(o, &m[k], group.len + 1);
		}
		sink_put(o, SPAN("}"));
	}
	sink_put(o, SPAN("}\n"));
}

static void
file_add(struct file_member *m, size_t *n, struct span path, struct span value,
    bool number)
{
	if (path.len != 0 && value.len != 0)
		m[(*n)++] = (struct file_member){path, value, number, false};
}

int
form_file(const struct provider_login *l, const struct oauth_new *t,
    const struct span adds[PROVIDER_MAX_ADDS], uint8_t *dst, size_t cap,
    size_t *len)
{
	struct file_member m[FILE_MEMBERS];
	struct sink o = {.p = dst, .cap = cap};
	char expires[32] = "", renewed[TIME_TEXT];
	size_t n = 0;

	snprintf(expires, sizeof(expires), "%" PRIu64 "%s", t->expires,
	    t->expires != 0 && l->unit == PROVIDER_EXPIRES_MS ? "000" : "");
	(void)time_text_fine((int64_t)t->now, ".000000", renewed);
	file_add(m, &n, l->access, t->access, false);
	file_add(m, &n, l->refresh, t->refresh, false);
	file_add(m, &n, l->id, t->id, false);
	for (unsigned i = 0; i < l->nadds; i++)
		file_add(m, &n, l->adds[i].member, adds[i], false);
	file_add(m, &n, l->expires, span_str(expires), true);
	file_add(m, &n, l->renewed, span_str(renewed), false);
	file_write(&o, m, n);
	return sink_end(&o, len);
}
