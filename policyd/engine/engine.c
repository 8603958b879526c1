/* SPDX-License-Identifier: ISC */
/*
 * Puts policy files in force: reads one, derives what evaluation needs from all
 * of them, and swaps only when everything succeeded. The configuration is
 * icsupervisor's and trusted; the files are not.
 */
#include "engine/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/known.h"

#define DERIVED_MAX ((size_t)128 << 20)
#define OWN_MAX ((size_t)8 << 20)

int
engine_init(struct engine *e)
{
	memset(e, 0, sizeof(*e));
	e->hold_ms = 300000;
	e->redact = true;
	e->root = -1;
	if ((e->anchor = calloc(1, sizeof(*e->anchor))) == NULL)
		return -1;
	e->anchor->fd = -1;
	if ((e->own = value_pool_new(OWN_MAX)) == NULL ||
	    (e->home = strdup("")) == NULL)
		return -1;
	return 0;
}

void
engine_free(struct engine *e)
{
	for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++) {
		free(e->servers[i].name);
		free((void *)(uintptr_t)e->servers[i].cwd.p);
		view_free(&e->servers[i].view);
	}
	for (size_t i = 0; i < e->nprotect; i++)
		free(e->protect[i]);
	for (size_t i = 0; i < e->nnarrow; i++)
		free(e->narrow[i]);
	engine_files_free(
	    &(struct engine_files){e->rules, e->annots, e->lists});
	value_pool_free(e->derived);
	value_pool_free(e->own);
	free(e->places.list);
	free(e->places.by_inode);
	free(e->home);
	mask_known_free(e->secrets);
	if (e->anchor != NULL)
		anchor_drop(e->anchor);
	free(e->anchor);
	known_free(e->known);
	if (e->root != -1)
		close(e->root);
	*e = (struct engine){.root = -1};
}

int
engine_settings(
    struct engine *e, uint32_t hold_ms, bool ask, bool redact, struct span home)
{
	char *copy;

	if (home.len != 0 && home.p[0] != '/') {
		errno = EINVAL;
		return -1;
	}
	if ((copy = span_dup(home.p == NULL ? SPAN("") : home)) == NULL)
		return -1;
	free(e->home);
	e->home = copy;
	e->hold_ms = hold_ms;
	e->ask = ask;
	e->redact = redact;
	e->stale = true;
	return 0;
}

int
engine_protect(struct engine *e, struct span path)
{
	if (path.len == 0 || path.p[0] != '/') {
		errno = EINVAL;
		return -1;
	}
	if (e->nprotect == ENGINE_MAX_PROTECT) {
		errno = ENOBUFS;
		return -1;
	}
	if ((e->protect[e->nprotect] = span_dup(path)) == NULL)
		return -1;
	e->nprotect++;
	e->stale = true;
	return 0;
}

int
engine_server(struct engine *e, unsigned index, struct span name, bool trusted,
    struct span cwd, struct span command, struct span domains)
{
	static const uint8_t none[sizeof(e->servers[0].command)];
	struct server *s;
	char *copy = NULL;

	if (index >= PROTO_MAX_SERVERS || name.len == 0 ||
	    span_is(name, VIRTUAL_NAME) || command.len > sizeof(none) ||
	    (cwd.len != 0 && cwd.p[0] != '/')) {
		errno = EINVAL;
		return -1;
	}
	s = &e->servers[index];
	if (s->used || engine_server_find(e, name) != NULL) {
		errno = EEXIST;
		return -1;
	}
	if (cwd.len == 0)
		cwd = SPAN("/workspace");
	if ((s->name = span_dup(name)) == NULL ||
	    (copy = span_dup(cwd)) == NULL)
		goto bad;
	if (domains.len != 0 &&
	    (s->domains = match_set_text(e->own, domains)) == NULL)
		goto bad;
	s->cwd = span_of(copy, cwd.len);
	memset(s->command, 0, sizeof(s->command));
	if (command.len != 0)
		memcpy(s->command, command.p, command.len);
	s->own = memcmp(s->command, none, sizeof(none)) == 0;
	s->trusted = trusted;
	s->is_git = span_is(name, "git");
	s->used = true;
	return 0;
bad:
	free(s->name);
	free(copy);
	s->name = NULL;
	return -1;
}

/*
 * Find the host directory that the views call /workspace. A server that runs
 * outside a sandbox has the whole host as its view, and runs in the workspace.
 */
static void
find_workspace(struct engine *e)
{
	const struct server *s;

	e->workspace = span_of(NULL, 0);
	for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++) {
		s = &e->servers[i];
		for (size_t k = 0; k < s->view.n; k++) {
			if (span_is(s->view.rows[k].path, "/workspace")) {
				e->workspace = s->view.rows[k].host;
				return;
			}
			if (s->view.rows[k].path.len == 0)
				e->workspace = s->cwd;
		}
	}
}

int
engine_server_virtual(struct engine *e, unsigned index, struct span name)
{
	struct server *s = &e->servers[PROTO_VIRTUAL];

	if (index != PROTO_VIRTUAL || !span_is(name, VIRTUAL_NAME) || s->used) {
		errno = EINVAL;
		return -1;
	}
	if ((s->name = span_dup(name)) == NULL)
		return -1;
	s->used = s->virtual = s->own = true;
	return 0;
}

int
engine_view(struct engine *e, unsigned index, struct span path,
    struct span host, enum proto_view kind, int fd)
{
	if (index >= PROTO_MAX_SERVERS || !e->servers[index].used ||
	    path.len == 0 || path.p[0] != '/' || host.len == 0 ||
	    host.p[0] != '/') {
		if (fd != -1)
			close(fd);
		errno = EINVAL;
		return -1;
	}
	if (view_add(&e->servers[index].view, path, host, kind, fd) == -1)
		return -1;
	anchor_drop(e->anchor);
	known_drop(e->known);
	find_workspace(e);
	e->stale = true;
	return 0;
}

int
engine_known(struct engine *e, int mounts, unsigned files)
{
	if (e->known != NULL) {
		close(mounts);
		errno = EEXIST;
		return -1;
	}
	e->known = known_new(mounts, files);
	return e->known == NULL ? -1 : 0;
}

struct server *
engine_server_find(struct engine *e, struct span name)
{
	for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++) {
		if (e->servers[i].used && span_is(name, e->servers[i].name))
			return &e->servers[i];
	}
	return NULL;
}

void
engine_path_env(const struct engine *e, const struct server *s,
    struct value_pool *pool, struct path_env *out)
{
	*out = (struct path_env){
	    .view = s == NULL ? NULL : &s->view,
	    .cwd = s == NULL ? SPAN("/workspace") : s->cwd,
	    .home = span_str(e->home),
	    .workspace = e->workspace,
	    .anchor = e->anchor,
	    .known = e->known,
	    .places = &e->places,
	    .root = e->root,
	    .root_object = e->root_object,
	    .pool = pool,
	};
}

struct span
engine_sandbox(const struct engine *e)
{
	return e->workspace;
}

/* Derived data under construction. */
struct link {
	struct engine *e;
	struct rules *rules;
	struct lists *lists;
	struct load *l;
	struct value_pool *pool;
	struct rule_sets *sets;
	struct places places;
};

/* Resolve a host path to a place, which need not exist, following links. */
static int
link_place(struct link *k, const struct where *at, struct span text,
    enum place_for use, uint32_t *index)
{
	struct path_env env;
	struct place *p;
	struct path path;
	enum path_error err;

	engine_path_env(k->e, NULL, k->pool, &env);
	env.places = NULL;
	env.anchor = NULL;
	env.any = true;
	if ((err = path_resolve(&env, text, &path)) != PATH_OK)
		return load_fail(k->l, at, "%s", path_strerror(err));
	p = &k->places.list[ *index = (uint32_t)k->places.n++];
	p->path = path.host;
	if (span_is(p->path, "/"))
		p->path.len = 0;
	p->dev = path.object.dev;
	p->ino = path.object.ino;
	p->exists = path.exists;
	p->use = use;
	return 0;
}

static enum match_use
rule_use(const struct rule *r)
{
	switch (r->then) {
	case PROTO_ALLOW:
		return MATCH_ALLOWS;
	case PROTO_ESCALATE:
		return MATCH_ASKS;
	case PROTO_DENY:
		break;
	}
	return MATCH_DENIES;
}

static int
link_sets(struct link *k, const struct rule *r, struct rule_sets *s,
    const struct where *at)
{
	enum match_use use = rule_use(r);

	if (r->has_domains &&
	    (s->domains = match_set_new(k->pool, MATCH_DOMAINS, use,
		 r->domain_roles, r->domains, k->lists, k->l, at)) == NULL)
		return -1;
	if (r->nlists != 0 && (s->lists = value_pool_alloc(k->pool,
				   r->nlists * sizeof(*s->lists))) == NULL)
		return -1;
	for (unsigned i = 0; i < r->nlists; i++) {
		if ((s->lists[i] = match_set_new(k->pool, r->lists[i].type, use,
			 r->lists[i].roles, r->lists[i].allowed, k->lists, k->l,
			 at)) == NULL)
			return -1;
	}
	return 0;
}

/* Share one place among the rules that name the same directory. */
static int
link_within(struct link *k, const struct where *at, size_t i)
{
	const struct rule *r = &k->rules->rules[i];

	for (size_t j = i; j > 0 && i - j < 64; j--) {
		const struct rule *o = &k->rules->rules[j - 1];

		if (o->has_paths && span_eq(o->within, r->within) &&
		    (o->then == PROTO_ALLOW) == (r->then == PROTO_ALLOW)) {
			k->sets[i].place = k->sets[j - 1].place;
			return 0;
		}
	}
	return link_place(k, at, r->within,
	    r->then == PROTO_ALLOW ? PLACE_GRANT : PLACE_LIMIT,
	    &k->sets[i].place);
}

static int
link_rules(struct link *k)
{
	size_t n = k->rules == NULL ? 0 : k->rules->n, up;
	struct where at = {.len = 0};

	if ((k->sets = value_pool_alloc(k->pool, (n + 1) * sizeof(*k->sets))) ==
	    NULL)
		return load_fail(k->l, NULL, "too large");
	memset(k->sets, 0, (n + 1) * sizeof(*k->sets));
	for (size_t i = 0; i < n; i++) {
		const struct rule *r = &k->rules->rules[i];

		where_up(&at, 0);
		where_down(&at, "rules[%zu].if", i);
		up = where_down(&at, ".paths.within");
		if (r->has_paths && link_within(k, &at, i) == -1)
			return -1;
		where_up(&at, up);
		if (link_sets(k, r, &k->sets[i], &at) == -1)
			return load_fail(k->l, NULL, "too large");
	}
	return 0;
}

static int
link_all(struct link *k)
{
	size_t n = k->e->nprotect + (k->rules == NULL ? 0 : k->rules->n);
	uint32_t unused;

	if ((k->places.list = calloc(n + 1, sizeof(*k->places.list))) == NULL ||
	    (k->pool = value_pool_new(DERIVED_MAX)) == NULL)
		return load_fail(k->l, NULL, "out of memory");
	for (size_t i = 0; i < k->e->nprotect; i++) {
		struct where at = {.len = 0};

		where_down(&at, "protected path %s", k->e->protect[i]);
		if (link_place(k, &at, span_str(k->e->protect[i]), PLACE_LIMIT,
			&unused) == -1)
			return -1;
	}
	if (link_rules(k) == -1)
		return -1;
	if (places_index(&k->places) == -1)
		return load_fail(k->l, NULL, "out of memory");
	return 0;
}

int
engine_put(struct engine *e, const struct engine_files *f, struct load *l)
{
	struct link k = {.e = e, .rules = f->rules, .lists = f->lists, .l = l};
	struct engine_files old = {e->rules, e->annots, e->lists};

	if (e->root == -1 &&
	    ((e->root = openat(AT_FDCWD, "/",
		  O_PATH | O_NOFOLLOW | O_CLOEXEC | O_DIRECTORY)) == -1 ||
		path_object(e->root, "", &e->root_object) == -1))
		return load_fail(l, NULL, "cannot open /");
	if (link_all(&k) == -1) {
		value_pool_free(k.pool);
		free(k.places.list);
		free(k.places.by_inode);
		return -1;
	}
	value_pool_free(e->derived);
	free(e->places.list);
	free(e->places.by_inode);
	anchor_drop(e->anchor);
	known_drop(e->known);
	e->derived = k.pool;
	e->places = k.places;
	e->nplaces_protect = e->nprotect;
	e->sets = k.sets;
	e->stale = false;
	if (old.rules == f->rules)
		old.rules = NULL;
	if (old.annots == f->annots)
		old.annots = NULL;
	if (old.lists == f->lists)
		old.lists = NULL;
	engine_files_free(&old);
	e->rules = f->rules;
	e->annots = f->annots;
	e->lists = f->lists;
	if (e->annots != NULL)
		annots_forget(e->annots);
	return 0;
}

int
engine_refresh(struct engine *e, struct load *l)
{
	const struct engine_files f = {e->rules, e->annots, e->lists};

	if (!e->stale)
		return 0;
	return engine_put(e, &f, l);
}

int
engine_rules(
    struct engine *e, enum proto_rules kind, struct span text, struct load *l)
{
	struct engine_files f = {NULL, NULL, NULL}, all;

	if (engine_read(&f, kind, text, l) == -1)
		return -1;
	all = (struct engine_files){
	    f.rules != NULL ? f.rules : e->rules,
	    f.annots != NULL ? f.annots : e->annots,
	    f.lists != NULL ? f.lists : e->lists,
	};
	if (engine_put(e, &all, l) == 0)
		return 0;
	engine_files_free(&f);
	return -1;
}
