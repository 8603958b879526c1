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
within_folded(const struct path_point *at, const struct place *place)
{
	struct span dir = place->path, host = at->host;

	return place->use == PLACE_LIMIT && !place->exists && at->fold &&
	       host.len >= dir.len && span_ieq(span_of(host.p, dir.len), dir) &&
	       (host.len == dir.len || host.p[dir.len] == '/');
}

bool
eval_point_within(const struct engine *e, const struct path_point *at,
    const struct place *place)
{
	const struct path_hit *hit;
	const struct place *p;

	if (path_below(at->host, place->path) || within_folded(at, place))
		return true;
	for (unsigned i = 0; place->exists && i < at->nhits; i++) {
		hit = &at->hits[i];
		p = &e->places.list[hit->place];
		if (p->dev != place->dev || p->ino != place->ino)
			continue;
		/* The inode of a removed directory may have been reused. */
		if (place->use == PLACE_LIMIT || hit->fold ||
		    (hit->len <= at->host.len &&
			span_ieq(span_of(at->host.p, hit->len), place->path)))
			return true;
	}
	return false;
}

bool
eval_within(
    const struct engine *e, const struct path *path, const struct place *place)
{
	const struct path_point end = path_end(path);

	if (eval_point_within(e, &end, place))
		return true;
	for (unsigned i = 0; place->use == PLACE_LIMIT && i < path->npassed;
	     i++) {
		if (eval_point_within(e, &path->passed[i], place))
			return true;
	}
	return false;
}

bool
eval_in_sandbox(const struct engine *e, const struct path *path)
{
	struct span sandbox = engine_sandbox(e);

	return sandbox.p != NULL && path_below(path->host, sandbox);
}

/* Returns true if each place that the path passed is one of these links. */
static bool
named_by(const struct path *path, const struct value *links)
{
	const struct value *v;

	for (unsigned i = 0; i < path->npassed; i++) {
		for (v = links->child; v != NULL; v = v->next) {
			if (path_below(path->passed[i].host, v->text))
				break;
		}
		if (v == NULL)
			return false;
	}
	return true;
}

bool
eval_rule_within(const struct engine *e, size_t i, const struct path *path)
{
	const struct rule *rule = &e->rules->rules[i];

	return eval_within(e, path, &e->places.list[e->sets[i].place]) &&
	       (rule->links == NULL || named_by(path, rule->links));
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
first_value(const struct request *r, const struct match_set *set, uint32_t mask)
{
	struct arg_value *v;

	for (size_t k = 0; k < r->args->n; k++) {
		v = &r->args->values[k];
		if (v->mask & mask && match_value(r, set, v) == MATCH_NO)
			return v;
	}
	return NULL;
}

/* Returns the first path that does not meet if.paths of the rule, or NULL. */
static const struct arg_value *
first_path(
    const struct engine *e, const struct request *r, size_t i, uint32_t mask)
{
	const struct arg_value *v;

	for (size_t k = 0; k < r->args->n; k++) {
		v = &r->args->values[k];
		if (v->mask & mask && v->has_path &&
		    !eval_rule_within(e, i, &v->path))
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
		*value = first_path(e, r, i, bit);
		if (*value != NULL || bit == 0 || !any_path(r->args, bit))
			return "paths";
	}
	mask = bit != 0 ? bit : rule->domain_roles;
	if (rule->has_domains &&
	    eval_match(r, e->sets[i].domains, mask) == MATCH_NO) {
		*value = first_value(r, e->sets[i].domains, mask);
		return "domains";
	}
	for (unsigned k = 0; k < rule->nlists; k++) {
		mask = rule->lists[k].roles & bit ? bit : rule->lists[k].roles;
		if (eval_match(r, e->sets[i].lists[k], mask) != MATCH_NO)
			continue;
		*value = first_value(r, e->sets[i].lists[k], mask);
		return "lists";
	}
	return NULL;
}
