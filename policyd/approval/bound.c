/* SPDX-License-Identifier: ISC */
/*
 * Writes and reads what a grant is bound to: its rule, its tool and the objects
 * that it was given for. The text is recorded when the grant is made. A later
 * run gets it back from the log, as it was, and compares.
 */
#include "approval/grants.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/json/json.h"
#include "common/sha256.h"

#define BOUND_NUMBER 24U

static const char *const bound_forms[] = {
    [GRANT_LIMITED] = "limited",
    [GRANT_SAME] = "same",
};
static const char *const bound_kinds[] = {
    [GRANT_DIRECTORY] = "directory",
    [GRANT_DOMAIN] = "domain",
    [GRANT_EXACT] = "exact",
    [GRANT_LINK] = "link",
};

static int
put_hex(struct value *o, struct value_pool *p, const char *key,
    const uint8_t sum[SHA256_SIZE])
{
	char *text = value_pool_alloc(p, SHA256_HEX);

	if (text == NULL)
		return -1;
	return value_set(o, span_str(key),
	    value_new_string(p, span_str(sha256_hex(sum, text))));
}

static int
put_number(
    struct value *o, struct value_pool *p, const char *key, uint64_t n)
{
	char *text = value_pool_alloc(p, BOUND_NUMBER);

	if (text == NULL)
		return -1;
	snprintf(text, BOUND_NUMBER, "%llu", (unsigned long long)n);
	return value_set(
	    o, span_str(key), value_new_string(p, span_str(text)));
}

static int
put_text(struct value *o, struct value_pool *p, const char *key, struct span s)
{
	return value_set(o, span_str(key), value_new_string(p, s));
}

static struct value *
bound_limit(const struct grant_limit *l, struct value_pool *p)
{
	struct value *o = value_new(p, VALUE_OBJECT);

	if (o == NULL || put_number(o, p, "dev", l->dev) == -1 ||
	    put_number(o, p, "ino", l->ino) == -1 ||
	    put_text(o, p, "kind", span_str(bound_kinds[l->kind])) == -1 ||
	    put_text(o, p, "role", span_str(arg_role_name(l->role))) == -1 ||
	    put_text(o, p, "value", l->value) == -1)
		return NULL;
	return o;
}

int
grant_bound(const struct grant *g, struct value_pool *pool, struct span *text)
{
	struct value *o, *list;
	struct buf b;
	uint8_t *p;
	int rv = -1;

	*text = span_of(NULL, 0);
	if (g->form == GRANT_COUNTED)
		return 0;
	buf_init(&b, PROTO_MAX_BOUND);
	o = value_new(pool, VALUE_OBJECT);
	list = value_new(pool, VALUE_ARRAY);
	if (o == NULL || list == NULL)
		goto out;
	for (unsigned i = 0; i < g->n; i++)
		if (value_append(list, bound_limit(&g->limits[i], pool)) == -1)
			goto out;
	if (put_hex(o, pool, "args", g->args) == -1 ||
	    put_text(o, pool, "form", span_str(bound_forms[g->form])) == -1 ||
	    value_set(o, SPAN("limits"), list) == -1 ||
	    put_text(o, pool, "rule", g->rule) == -1 ||
	    put_hex(o, pool, "ruleDigest", g->law) == -1 ||
	    put_text(o, pool, "server", g->server) == -1 ||
	    put_text(o, pool, "tool", g->tool) == -1 ||
	    put_hex(o, pool, "toolDigest", g->def) == -1 ||
	    json_write(&b, o) == -1 ||
	    (p = value_pool_alloc(pool, b.len)) == NULL)
		goto out;
	memcpy(p, buf_span(&b).p, b.len);
	*text = span_of(p, b.len);
	rv = 0;
out:
	buf_free(&b);
	return rv;
}

static int
get_number(const struct value *o, const char *key, uint64_t *n)
{
	char text[BOUND_NUMBER], *end;

	if (span_copy(value_str(o, key), text, sizeof(text)) == -1 ||
	    text[0] < '0' || text[0] > '9')
		return -1;
	errno = 0;
	*n = strtoull(text, &end, 10);
	return *end == '\0' && errno == 0 ? 0 : -1;
}

static int
get_hex(const struct value *o, const char *key, uint8_t sum[SHA256_SIZE])
{
	struct span s = value_str(o, key);

	return s.p == NULL ? -1 : sha256_unhex(s, sum);
}

/* Returns the position of the text in the list, or -1. */
static int
get_word(const struct value *o, const char *key, const char *const *list,
    size_t n)
{
	struct span s = value_str(o, key);

	for (size_t i = 0; s.p != NULL && i < n; i++)
		if (span_is(s, list[i]))
			return (int)i;
	return -1;
}

static int
get_limit(const struct value *o, struct grant_limit *l)
{
	int kind =
	    get_word(o, "kind", bound_kinds, nitems(bound_kinds));
	struct span role = value_str(o, "role");

	if (kind == -1 || role.p == NULL)
		return -1;
	*l = (struct grant_limit){.kind = (enum grant_kind)kind,
	    .role = arg_role_find(role),
	    .value = value_str(o, "value")};
	if (l->role >= ARG_COUNT || l->value.len == 0 ||
	    get_number(o, "dev", &l->dev) == -1 ||
	    get_number(o, "ino", &l->ino) == -1)
		return -1;
	return 0;
}

static int
get_limits(const struct value *list, struct grant *g)
{
	const struct value *v;

	if (list == NULL || list->type != VALUE_ARRAY ||
	    list->count > GRANT_LIMITS ||
	    (list->count == 0) != (g->form == GRANT_SAME))
		return -1;
	for (v = list->child; v != NULL; v = v->next)
		if (get_limit(v, &g->limits[g->n++]) == -1)
			return -1;
	return 0;
}

int
grant_unbound(struct grant *g, struct value_pool *pool, struct span text)
{
	const struct value *o = json_read(pool, text, NULL);
	int form =
	    get_word(o, "form", bound_forms, nitems(bound_forms));

	*g = (struct grant){.form = (enum grant_form)(form == -1 ? 0 : form),
	    .server = value_str(o, "server"),
	    .tool = value_str(o, "tool"),
	    .rule = value_str(o, "rule")};
	if (form == -1 || g->server.len == 0 || g->tool.len == 0 ||
	    g->rule.len == 0 || get_hex(o, "args", g->args) == -1 ||
	    get_hex(o, "ruleDigest", g->law) == -1 ||
	    get_hex(o, "toolDigest", g->def) == -1 ||
	    get_limits(value_get(o, "limits"), g) == -1) {
		*g = (struct grant){.n = 0};
		errno = EINVAL;
		return -1;
	}
	return 0;
}

/* Returns true if the rule that asked is still there, unchanged. */
static bool
same_rule(const struct engine *e, const struct grant *g)
{
	static const uint8_t none[SHA256_SIZE];
	/* Without a digest, a check of policyd's own asked, and asks again. */
	const bool own = memcmp(g->law, none, sizeof(none)) == 0;
	uint8_t digest[SHA256_SIZE];
	const struct rule *r;

	for (size_t i = 0; e->rules != NULL && i < e->rules->n; i++) {
		r = &e->rules->rules[i];
		if (!span_eq(r->name, g->rule))
			continue;
		return !own && rule_digest(r, digest) == 0 &&
		       memcmp(digest, g->law, sizeof(digest)) == 0;
	}
	return own;
}

/* Returns NULL if the link still leads where it led, or the reason why not. */
static const char *
link_changed(const struct engine *e, const struct grant_limit *l,
    struct value_pool *pool)
{
	struct path_env env;
	struct path here;

	engine_path_env(e, NULL, pool, &env);
	env.places = NULL;
	env.any = true;
	if (l->ino == 0)
		return "its link led nowhere when it was approved";
	if (path_resolve(&env, l->value, &here) != PATH_OK || !here.exists ||
	    here.object.dev != l->dev || here.object.ino != l->ino)
		return "its link does not lead where it led";
	return NULL;
}

const char *
grant_changed(
    const struct engine *e, const struct grant *g, struct value_pool *pool)
{
	const struct grant_limit *l;
	struct path here;
	const char *why;

	if (!same_rule(e, g))
		return "the rule that asked is not in the policy any more";
	for (unsigned i = 0; i < g->n; i++) {
		l = &g->limits[i];
		if (l->kind == GRANT_LINK &&
		    (why = link_changed(e, l, pool)) != NULL)
			return why;
		if (l->kind != GRANT_DIRECTORY)
			continue;
		if (l->ino == 0)
			return "its directory did not exist when it was "
			       "approved";
		if (grant_too_wide(e, pool, l->value, &here))
			return "its directory cannot be looked up, or is too "
			       "wide now";
		if (!here.exists || !span_eq(here.host, l->value) ||
		    here.object.dev != l->dev || here.object.ino != l->ino)
			return "its directory is not the one that was approved";
	}
	return NULL;
}
