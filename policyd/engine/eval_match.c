/* SPDX-License-Identifier: ISC */
/*
 * Matches values against sets of hosts, addresses and identifiers, and finds
 * the condition of a rule that a call does not meet, for people.
 */
#include "engine/eval_match.h"

/*
 * Match a limit on a directory that does not exist yet where case may not
 * matter.
 */
static bool
within_folded(const struct path *path, const struct place *place)
{
	struct span dir = place->path, host = path->host;

	return place->use == PLACE_LIMIT && !place->exists &&
	       path->object.fs == PATH_FS_FOLD && host.len >= dir.len &&
	       span_ieq(span_of(host.p, dir.len), dir) &&
	       (host.len == dir.len || host.p[dir.len] == '/');
}

bool
eval_within(
    const struct engine *e, const struct path *path, const struct place *place)
{
	const struct path_hit *hit;
	const struct place *p;

	if (path_below(path->host, place->path) || within_folded(path, place))
		return true;
	for (unsigned i = 0; place->exists && i < path->nhits; i++) {
		hit = &path->hits[i];
		p = &e->places.list[hit->place];
		if (p->dev != place->dev || p->ino != place->ino)
			continue;
		/* The inode of a removed directory may have been reused. */
		if (place->use == PLACE_LIMIT || hit->fold ||
		    (hit->len <= path->host.len &&
			span_ieq(span_of(path->host.p, hit->len), place->path)))
			return true;
	}
	return false;
}

/*
 * Match a domain. A value without a URL role is compared as a host if it is
 * one.
 */
static enum match
match_domain(const struct match_set *set, const struct arg_value *v)
{
	char host[DOMAIN_MAX_HOST + 1];
	struct domain d = {.known = true};
	const char *why;
	size_t len;

	if (v->has_url)
		return match_set_domain(set, &v->url.domain) ? MATCH_YES
							     : MATCH_NO;
	if (host_normalise(v->text, host, &len, &d.kind, &why) == -1)
		return MATCH_NO;
	d.host = d.full = span_of(host, len);
	return match_set_domain(set, &d) ? MATCH_YES : MATCH_NO;
}

/* Compute a value's spellings for a rule that asks or denies. */
static int
spell_value(struct value_pool *pool, struct arg_value *v, enum match_type type)
{
	struct spellings *out = &v->spelled[type];

	if (out->list != NULL)
		return 0;
	switch (type) {
	case MATCH_EMAILS:
		return spell_emails(pool, v->text, out);
	case MATCH_IDENTIFIERS:
		return spell_identifiers(pool, v->text, out);
	case MATCH_DOMAINS:
		break;
	}
	return v->has_url ? spell_domain(pool, &v->url.domain, out)
			  : spell_hosts(pool, v->text, out);
}

static enum match
match_value(
    const struct request *r, const struct match_set *set, struct arg_value *v)
{
	if (set->type == MATCH_DOMAINS && v->has_url && !v->url.domain.known)
		return MATCH_UNKNOWN;
	if (set->type != MATCH_DOMAINS && v->node == NULL)
		return MATCH_NO;
	if (set->use != MATCH_ALLOWS)
		return spell_value(r->pool, v, set->type) == -1
			   ? MATCH_YES
			   : match_set_spellings(set, &v->spelled[set->type]);
	if (set->type == MATCH_DOMAINS)
		return match_domain(set, v);
	return match_set_value(set, v->text) ? MATCH_YES : MATCH_NO;
}

enum match
eval_match(const struct request *r, const struct match_set *set, uint32_t mask)
{
	bool all = set->use == MATCH_ALLOWS;
	enum match one, sum = MATCH_NO;

	for (size_t k = 0; k < r->args->n; k++) {
		if (!(r->args->values[k].mask & mask))
			continue;
		one = match_value(r, set, &r->args->values[k]);
		/* One value that fails (or, for `!all`, matches) decides. */
		if (one == (all ? MATCH_NO : MATCH_YES))
			return one;
		if (sum != MATCH_UNKNOWN && one != MATCH_NO)
			sum = one;
	}
	return sum;
}

static const struct arg_value *
first_value(const struct engine *e, const struct request *r,
    const struct match_set *set, const struct place *place, uint32_t mask)
{
	struct arg_value *v;

	for (size_t k = 0; k < r->args->n; k++) {
		v = &r->args->values[k];
		if (!(v->mask & mask) || (place != NULL && !v->has_path))
			continue;
		if (place != NULL ? !eval_within(e, &v->path, place)
				  : match_value(r, set, v) == MATCH_NO)
			return v;
	}
	return NULL;
}

static bool
any_path(const struct call_args *args, uint32_t mask)
{
	for (size_t k = 0; k < args->n; k++)
		if (args->values[k].has_path && args->values[k].mask & mask)
			return true;
	return false;
}

const char *
eval_miss(const struct engine *e, const struct request *r, size_t i,
    enum arg_role role, const struct arg_value **value)
{
	const struct rule *rule = &e->rules->rules[i];
	uint32_t bit = role == ARG_COUNT ? 0 : ARG_BIT(role), mask;

	*value = NULL;
	if (rule->has_roles && !(r->args->roles & rule->roles))
		return "roles";
	if (rule->has_paths) {
		*value = first_value(
		    e, r, NULL, &e->places.list[e->sets[i].place], bit);
		if (*value != NULL || bit == 0 || !any_path(r->args, bit))
			return "paths";
	}
	mask = bit != 0 ? bit : rule->domain_roles;
	if (rule->has_domains &&
	    eval_match(r, e->sets[i].domains, mask) == MATCH_NO) {
		*value = first_value(e, r, e->sets[i].domains, NULL, mask);
		return "domains";
	}
	for (unsigned k = 0; k < rule->nlists; k++) {
		mask = rule->lists[k].roles & bit ? bit : rule->lists[k].roles;
		if (eval_match(r, e->sets[i].lists[k], mask) != MATCH_NO)
			continue;
		*value = first_value(e, r, e->sets[i].lists[k], NULL, mask);
		return "lists";
	}
	return NULL;
}
