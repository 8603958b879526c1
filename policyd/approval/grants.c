/* SPDX-License-Identifier: ISC */
/*
 * Builds grants from what a call asked for, never from a pattern that someone
 * wrote: the directory of a file (or the directory itself), the domain of a
 * URL, the value of an identifier.
 */
#include "approval/grants.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>

#include "common/json/json.h"

/*
 * Returns true for escalations because a call may touch more than the names
 * that were judged. It cannot be shown beforehand what the next call would
 * touch.
 */
static bool
is_caution(struct span rule)
{
	static const char *const rules[] = {"structural-hard-link",
	    "structural-unknown-remote", "structural-url-scheme"};

	for (size_t i = 0; i < nitems(rules); i++) {
		if (span_is(rule, rules[i]))
			return true;
	}
	return false;
}

/* Returns true if the server may use the sandbox without any grant. */
static bool
is_sandbox(
    const struct engine *e, const struct request *r, const struct arg_value *v)
{
	return v->has_path && eval_has_sandbox(r) &&
	       eval_in_sandbox(e, &v->path);
}

static bool
same_object(const struct path *a, const struct path *b)
{
	return a->exists && b->exists && a->object.dev == b->object.dev &&
	       a->object.ino == b->object.ino;
}

bool
grant_too_wide(const struct engine *e, struct value_pool *pool, struct span dir,
    struct path *here)
{
	struct path_env env;
	struct path home;

	engine_path_env(e, NULL, pool, &env);
	env.places = NULL;
	env.any = true;
	if (dir.len <= 1 || path_resolve(&env, dir, here) != PATH_OK ||
	    (here->exists && here->object.dev == e->root_object.dev &&
		here->object.ino == e->root_object.ino))
		return true;
	if (e->home[0] == '\0')
		return false;
	return path_resolve(&env, SPAN("~"), &home) != PATH_OK ||
	       path_below(home.host, dir) || same_object(&home, here);
}

/*
 * Find the directory to grant: the one named, or the one that holds the file.
 */
static int
directory_of(const struct engine *e, const struct request *r,
    const struct path *p, struct grant_limit *l)
{
	struct span *dir = &l->value;
	struct path here;

	*dir = p->host;
	if (!p->exists || !S_ISDIR(p->object.mode)) {
		while (dir->len != 0 && dir->p[dir->len - 1] != '/')
			dir->len--;
		if (dir->len > 1)
			dir->len--;
	}
	if (grant_too_wide(e, r->pool, *dir, &here))
		return -1;
	if (here.exists) {
		l->dev = here.object.dev;
		l->ino = here.object.ino;
	}
	return 0;
}

/*
 * Returns true if a grant must name the place that the path passed: a rule that
 * asks is about it, and the server may not use it without a rule.
 */
static bool
must_name(const struct engine *e, const struct request *r, enum arg_role role,
    const struct path_point *at)
{
	struct span sandbox = engine_sandbox(e);

	if (eval_has_sandbox(r) && sandbox.p != NULL &&
	    path_below(at->host, sandbox))
		return false;
	return eval_asks_about(e, r, role, at);
}

/* Fill in the limit for a place that a path passed. */
static void
limit_of_link(const struct engine *e, const struct request *r,
    enum arg_role role, const struct path_point *at, struct grant_limit *l)
{
	struct path_env env;
	struct path here;

	*l = (struct grant_limit){
	    .role = role, .kind = GRANT_LINK, .value = at->host};
	engine_path_env(e, NULL, r->pool, &env);
	env.places = NULL;
	env.any = true;
	if (path_resolve(&env, at->host, &here) != PATH_OK || !here.exists)
		return;
	l->dev = here.object.dev;
	l->ino = here.object.ino;
}

/* Fill in the limit that a grant for the role would have for this value. */
static int
limit_of(const struct engine *e, const struct request *r,
    const struct arg_value *v, enum arg_role role, struct grant_limit *l)
{
	*l = (struct grant_limit){.role = role};
	switch (arg_role_category(role)) {
	case CATEGORY_PATH:
		l->kind = GRANT_DIRECTORY;
		if (!v->has_path || role == ARG_WRITE_HISTORY ||
		    role == ARG_DELETE_HISTORY)
			return -1;
		return directory_of(e, r, &v->path, l);
	case CATEGORY_URL:
		l->kind = GRANT_DOMAIN;
		l->value = v->url.domain.full;
		return v->has_url && v->url.domain.known &&
			       v->url.domain.kind != HOST_NONE
			   ? 0
			   : -1;
	case CATEGORY_IDENTIFIER:
		l->kind = GRANT_EXACT;
		l->value = v->text;
		return v->node != NULL && v->text.len != 0 ? 0 : -1;
	case CATEGORY_OPAQUE:
		break;
	}
	return -1;
}

static int
add_limit(struct grant *g, const struct grant_limit *l)
{
	for (unsigned i = 0; i < g->n; i++) {
		if (g->limits[i].role == l->role &&
		    g->limits[i].kind == l->kind &&
		    span_eq(g->limits[i].value, l->value))
			return 0;
	}
	if (g->n == GRANT_LIMITS)
		return -1;
	g->limits[g->n++] = *l;
	return 0;
}

/* Add the places that the path passed and that a grant must name. */
static int
offer_links(const struct engine *e, const struct request *r, enum arg_role role,
    const struct path *path, struct grant *g)
{
	struct grant_limit l;

	for (unsigned i = 0; i < path->npassed; i++) {
		if (!must_name(e, r, role, &path->passed[i]))
			continue;
		limit_of_link(e, r, role, &path->passed[i], &l);
		if (add_limit(g, &l) == -1)
			return -1;
	}
	return 0;
}

static int
offer_role(const struct engine *e, const struct request *r, enum arg_role role,
    struct grant *g)
{
	const struct arg_value *v;
	struct grant_limit l;
	unsigned before = g->n;
	bool any = false;

	for (size_t i = 0; i < r->args->n; i++) {
		v = &r->args->values[i];
		if (!(v->mask & ARG_BIT(role)))
			continue;
		if (v->has_path && offer_links(e, r, role, &v->path, g) == -1)
			return -1;
		if (is_sandbox(e, r, v))
			continue;
		if (limit_of(e, r, v, role, &l) == -1 || add_limit(g, &l) == -1)
			return -1;
		any = true;
	}
	return any || g->n != before ? 0 : -1;
}

int
grant_offer(const struct engine *e, const struct request *r,
    const struct decision *d, struct grant *g)
{
	struct decision rest;

	*g = (struct grant){
	    .server = r->server_name, .tool = r->tool_name, .rule = d->rule};
	if (d->status != PROTO_ESCALATE || d->escalated == 0 ||
	    is_caution(d->rule))
		return -1;
	/*
	 * A granted domain leaves the rules to decide; they must allow the
	 * call.
	 */
	if (span_is(d->rule, "structural-domain-escalate")) {
		eval_ungated(e, r, &rest);
		if (rest.status != PROTO_ALLOW)
			return -1;
	}
	for (unsigned role = 0; role < ARG_COUNT; role++) {
		if (d->escalated & ARG_BIT(role) &&
		    offer_role(e, r, (enum arg_role)role, g) == -1)
			return -1;
	}
	return g->n == 0 ? -1 : 0;
}

struct span
grant_describe(const struct grant *g, struct value_pool *pool)
{
	static const char *const words[] = {
	    [GRANT_DIRECTORY] = "within",
	    [GRANT_DOMAIN] = "at",
	    [GRANT_EXACT] = "with",
	    [GRANT_LINK] = "through",
	};
	struct span all = reason_printf(pool, "Allow %.*s/%.*s",
	    (int)g->server.len, (const char *)g->server.p, (int)g->tool.len,
	    (const char *)g->tool.p);
	bool twice;

	if (g->form == GRANT_SAME)
		return reason_printf(pool, "%.*s with exactly these arguments",
		    (int)all.len, (const char *)all.p);
	if (g->form == GRANT_COUNTED)
		return reason_printf(pool,
		    "%.*s %u times within one hour, with other plain "
		    "arguments",
		    (int)all.len, (const char *)all.p, g->left);
	for (unsigned i = 0; i < g->n; i++) {
		twice = false;
		for (unsigned k = 0; k < i; k++)
			twice = twice ||
				span_eq(g->limits[k].value, g->limits[i].value);
		if (twice)
			continue;
		all = reason_printf(pool, "%.*s%s %s %.*s", (int)all.len,
		    (const char *)all.p, i == 0 ? "" : ",",
		    words[g->limits[i].kind], (int)g->limits[i].value.len,
		    (const char *)g->limits[i].value.p);
	}
	return all;
}

int
grant_text(const struct grant *g, struct value_pool *pool, struct span *text)
{
	static const char *const kinds[] = {
	    [GRANT_DIRECTORY] = "directory",
	    [GRANT_DOMAIN] = "domain",
	    [GRANT_EXACT] = "exact",
	    [GRANT_LINK] = "link",
	};
	struct value *o = value_new(pool, VALUE_OBJECT), *c;
	struct value *list = value_new(pool, VALUE_ARRAY);
	struct buf b;
	uint8_t *p;
	int ret = -1;

	buf_init(&b, GRANT_TEXT);
	for (unsigned i = 0; i < g->n; i++) {
		const struct grant_limit *l = &g->limits[i];

		c = value_new(pool, VALUE_OBJECT);
		if (value_set(c, SPAN("kind"),
			value_new_string(pool, span_str(kinds[l->kind]))) ==
			-1 ||
		    value_set(c, SPAN("role"),
			value_new_string(
			    pool, span_str(arg_role_name(l->role)))) == -1 ||
		    value_set(c, SPAN("value"),
			value_new_string(pool, l->value)) == -1 ||
		    value_append(list, c) == -1)
			goto out;
	}
	if ((g->form == GRANT_LIMITED &&
		value_set(o, SPAN("constraints"), list) == -1) ||
	    (g->form == GRANT_SAME && value_set(o, SPAN("exact"),
					  value_new(pool, VALUE_TRUE)) == -1) ||
	    (g->counted &&
		value_set(o, SPAN("times"),
		    value_new_number(pool, (int64_t)g->left)) == -1) ||
	    value_set(o, SPAN("description"),
		value_new_string(pool, grant_describe(g, pool))) == -1 ||
	    value_set(o, SPAN("rule"), value_new_string(pool, g->rule)) == -1 ||
	    json_write(&b, o) == -1 ||
	    (p = value_pool_alloc(pool, b.len)) == NULL)
		goto out;
	memcpy(p, buf_span(&b).p, b.len);
	*text = span_of(p, b.len);
	ret = 0;
out:
	buf_free(&b);
	return ret;
}

static int
own(struct span *s)
{
	char *copy;

	if ((copy = span_dup(*s)) == NULL)
		return -1;
	*s = span_of(copy, s->len);
	return 0;
}

int
grants_add(struct grants *gs, uint64_t id, const struct grant *from)
{
	struct grant g = *from;
	struct span *texts[3 + GRANT_LIMITS] = {&g.server, &g.tool, &g.rule};
	unsigned n = 3;

	if (gs->n == GRANTS_MAX) {
		errno = ENOBUFS;
		return -1;
	}
	for (unsigned i = 0; i < g.n; i++)
		texts[n++] = &g.limits[i].value;
	for (unsigned i = 0; i < n; i++) {
		if (own(texts[i]) == 0)
			continue;
		while (i-- > 0)
			free((void *)(uintptr_t)texts[i]->p);
		return -1;
	}
	g.id = id;
	gs->list[gs->n++] = g;
	return 0;
}

static void
grant_clear(struct grant *g)
{
	free((void *)(uintptr_t)g->server.p);
	free((void *)(uintptr_t)g->tool.p);
	free((void *)(uintptr_t)g->rule.p);
	for (unsigned k = 0; k < g->n; k++)
		free((void *)(uintptr_t)g->limits[k].value.p);
}

void
grants_free(struct grants *gs)
{
	for (unsigned i = 0; i < gs->n; i++)
		grant_clear(&gs->list[i]);
	gs->n = 0;
}

void
grants_drop(struct grants *gs, unsigned i)
{
	grant_clear(&gs->list[i]);
	memmove(&gs->list[i], &gs->list[i + 1],
	    (gs->n - i - 1) * sizeof(gs->list[0]));
	gs->n--;
}

static bool
meets(const struct arg_value *v, const struct grant_limit *l)
{
	switch (l->kind) {
	case GRANT_DIRECTORY:
		return v->has_path && path_below(v->path.host, l->value);
	case GRANT_DOMAIN:
		return v->has_url && v->url.domain.known &&
		       span_eq(v->url.domain.full, l->value);
	case GRANT_EXACT:
		return v->node != NULL && span_eq(v->text, l->value);
	case GRANT_LINK:
		break;
	}
	return false;
}

/*
 * Returns true if the grant names each place that the path passed and that it
 * must name. Sets *any if there is one.
 */
static bool
links_granted(const struct engine *e, const struct request *r,
    const struct grant *g, enum arg_role role, const struct path *path,
    bool *any)
{
	const struct grant_limit *l;
	bool good;

	for (unsigned i = 0; i < path->npassed; i++) {
		if (!must_name(e, r, role, &path->passed[i]))
			continue;
		good = false;
		for (unsigned k = 0; k < g->n && !good; k++) {
			l = &g->limits[k];
			good = l->kind == GRANT_LINK && l->role == role &&
			       path_below(path->passed[i].host, l->value);
		}
		if (!good)
			return false;
		*any = true;
	}
	return true;
}

/*
 * Returns true if each value of the role meets a limit. If `asked`, there must
 * be a limit.
 */
static bool
role_granted(const struct engine *e, const struct request *r,
    const struct grant *g, enum arg_role role, bool asked)
{
	const struct arg_value *v;
	bool any = false, good;

	for (size_t i = 0; i < r->args->n; i++) {
		v = &r->args->values[i];
		if (!(v->mask & ARG_BIT(role)))
			continue;
		if (v->has_path &&
		    !links_granted(e, r, g, role, &v->path, &any))
			return false;
		if (is_sandbox(e, r, v))
			continue;
		good = false;
		for (unsigned k = 0; k < g->n && !good; k++)
			good = g->limits[k].role == role &&
			       meets(v, &g->limits[k]);
		if (!good)
			return false;
		any = true;
	}
	return any || !asked;
}

static bool
covers(const struct engine *e, const struct request *r, const struct grant *g,
    const struct decision *d)
{
	uint32_t roles = 0;

	if (g->waits || g->form != GRANT_LIMITED || !span_eq(g->server, r->server_name) ||
	    !span_eq(g->tool, r->tool_name) || !span_eq(g->rule, d->rule))
		return false;
	for (unsigned i = 0; i < g->n; i++)
		roles |= ARG_BIT(g->limits[i].role);
	if (d->escalated == 0 || d->escalated & ~roles)
		return false;
	for (unsigned role = 0; role < ARG_COUNT; role++) {
		if (roles & ARG_BIT(role) &&
		    !role_granted(e, r, g, (enum arg_role)role,
			d->escalated & ARG_BIT(role)))
			return false;
	}
	return true;
}

const struct grant *
grants_apply(const struct grants *gs, const struct engine *e,
    const struct request *r, struct decision *d)
{
	const struct grant *g = NULL;
	struct span what;

	for (unsigned i = 0; i < gs->n && g == NULL; i++) {
		if (covers(e, r, &gs->list[i], d))
			g = &gs->list[i];
	}
	if (g == NULL)
		return NULL;
	if (span_is(d->rule, "structural-domain-escalate")) {
		/*
		 * The grant covers the domain only; let the rules decide the
		 * rest.
		 */
		eval_ungated(e, r, d);
		if (d->status != PROTO_ALLOW)
			return NULL;
	} else {
		d->status = PROTO_ALLOW;
		eval_caution(r, d);
		if (d->status != PROTO_ALLOW)
			return NULL;
	}
	what = grant_describe(g, r->pool);
	d->rule = g->rule;
	d->reason = reason_printf(r->pool, "Whitelist-approved: %.*s",
	    (int)what.len, (const char *)what.p);
	d->escalated = 0;
	return g;
}
