/* SPDX-License-Identifier: ISC */
/*
 * Resolves paths of arguments. Its input comes from the agent, who may change
 * the directories during the walk. The kernel is only queried by name (fstatat,
 * readlinkat, and openat O_PATH where a file system begins and now and then
 * deep in a tree). Each component is queried once, by its name from the row or
 * root that contains it; the components before it were just found not to be
 * links. The components of the workspace's own name are checked together
 * (anchor.c). If one of them becomes a link meanwhile, only the properties
 * found here change, not the name that is sent. Paths in a directory to which
 * recent ones led begin there (known.c).
 */
#include "engine/path.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "engine/known.h"
#include "engine/trail.h"

#define WALK_DEPTH 24U /* components looked up from one descriptor */

struct walk {
	const struct path_env *env;
	bool host;           /* on the host, else in the view */
	bool fresh;          /* at the root, nothing looked up yet */
	char text[PATH_MAX]; /* resolved so far; "" is the root */
	size_t len;
	char rest[2][2 * PATH_MAX]; /* the text still to resolve, in one of
				       them */
	unsigned which;
	struct span left;
	const struct view_row *row; /* current row, in the view */
	int fd;                     /* the row or root; -1: virtual */
	int deep;                   /* descriptor of text[0..base]; -1: none */
	size_t base;                /* length of the text that `deep` covers */
	unsigned below;             /* components after `base` */
	unsigned missing;           /* components that do not exist */
	struct path_object object;  /* the last that exists */
	unsigned links, steps;
	struct trail trail;
	struct path *out;
};

static struct walk scratch; /* one walk at a time; too large for the stack */

static void
walk_leave(struct walk *w)
{
	if (w->deep != -1)
		close(w->deep);
	w->deep = -1;
	w->below = 0;
}

/* Move to the row's own directory. */
static void
walk_row(struct walk *w, const struct view_row *r)
{
	walk_leave(w);
	w->row = r;
	w->fd = r->fd;
	w->base = r->path.len;
	w->object = r->object;
}

/* Start over at the root of the view or of the host. */
static void
walk_restart(struct walk *w)
{
	const struct view *v = w->env->view;

	walk_leave(w);
	w->fresh = true;
	w->out->nhits = 0;
	w->row = NULL;
	w->fd = -1;
	w->len = w->base = 0;
	w->missing = 0;
	w->object = (struct path_object){0};
	if (w->host) {
		w->fd = w->env->root;
		w->object = w->env->root_object;
	} else if (v != NULL && v->n != 0 && v->rows[v->n - 1].path.len == 0) {
		walk_row(w, &v->rows[v->n - 1]);
	}
}

/* Replace the remaining text by a, b and the remaining text. */
static enum path_error
walk_push(struct walk *w, struct span a, struct span b)
{
	char *dst = w->rest[w->which ^= 1];
	size_t n = 0;

	if (a.len + b.len + w->left.len + 2 > sizeof(w->rest[0]))
		return PATH_LONG;
	if (a.len != 0)
		memcpy(dst, a.p, a.len);
	n = a.len;
	if (b.len != 0) {
		dst[n++] = '/';
		memcpy(dst + n, b.p, b.len);
		n += b.len;
	}
	if (w->left.len != 0) {
		dst[n++] = '/';
		memmove(dst + n, w->left.p, w->left.len);
		n += w->left.len;
	}
	w->left = span_of(dst, n);
	return PATH_OK;
}

/* Returns true if `host` is the current host path; text decides then. */
static bool
walk_is(const struct walk *w, struct span host)
{
	struct span tail = span_of(w->text, w->len), head = span_of(NULL, 0);

	if (w->row != NULL) {
		head = w->row->host;
		tail.p += w->row->path.len;
		tail.len -= w->row->path.len;
	}
	return host.len == head.len + tail.len && span_starts(host, head) &&
	       span_eq(span_of(host.p + head.len, tail.len), tail);
}

/* Record the place that the object is, if its name is not the place's. */
static enum path_error
walk_note(struct walk *w)
{
	const struct places *ps = w->env->places;
	const struct path_object *o = &w->object;
	size_t head = w->row == NULL ? 0 : w->row->host.len - w->row->path.len;
	size_t first = ps == NULL ? 0 : places_find(ps, o->dev, o->ino);
	const struct place *p;

	for (size_t i = first; ps != NULL && i < ps->ninodes; i++) {
		p = &ps->list[ps->by_inode[i]];
		if (p->dev != o->dev || p->ino != o->ino)
			break;
		if (walk_is(w, p->path))
			continue;
		if (w->out->nhits == PATH_MAX_HITS)
			return PATH_STEPS;
		w->out->hits[w->out->nhits++] = (struct path_hit){
		    .place = ps->by_inode[first],
		    .len = (uint32_t)(head + w->len),
		    .fold = o->fs == PATH_FS_FOLD,
		};
		break;
	}
	return PATH_OK;
}

static enum path_error
walk_append(struct walk *w, struct span c)
{
	if (c.len > NAME_MAX || w->len + 1 + c.len >= sizeof(w->text))
		return PATH_LONG;
	w->text[w->len++] = '/';
	memcpy(w->text + w->len, c.p, c.len);
	w->len += c.len;
	return PATH_OK;
}

static void
walk_pop(struct walk *w)
{
	while (w->len > 0 && w->text[--w->len] != '/')
		continue;
}

/*
 * Note that the path leaves the place that was reached: it is a link, or `..`
 * follows.
 */
static enum path_error
walk_pass(struct walk *w)
{
	struct value_pool *pool = w->env->pool;
	struct span text = span_of(w->text, w->len);
	struct span head = span_of(NULL, 0);
	struct path_point at = {.hits = w->out->hits,
	    .nhits = w->out->nhits,
	    .fold = w->object.fs == PATH_FS_FOLD};
	enum path_error e;

	if (w->row != NULL) {
		head = w->row->host;
		text.p += w->row->path.len;
		text.len -= w->row->path.len;
	}
	if ((at.host = path_joined(pool, head, text)).p == NULL)
		return PATH_MEMORY;
	if (w->trail.named.p == NULL &&
	    (e = trail_name(&w->trail, pool, at.host, w->left)) != PATH_OK)
		return e;
	return trail_pass(&w->trail, pool, &at);
}

/* Replace a link's name by its target. */
static enum path_error
walk_link(struct walk *w, const char *name)
{
	char target[PATH_MAX];
	enum path_error e;
	ssize_t n;

	if (++w->links > PATH_MAX_LINKS)
		return PATH_LOOP;
	if ((e = walk_pass(w)) != PATH_OK)
		return e;
	if ((n = readlinkat(w->fd, name, target, sizeof(target))) <= 0)
		return PATH_FAILED;
	if ((size_t)n == sizeof(target))
		return PATH_LONG;
	walk_pop(w);
	if (target[0] == '/')
		walk_restart(w);
	return walk_push(w, span_of(target, (size_t)n), span_of(NULL, 0));
}

/* Check whether the object that was reached may be used. It is not a link. */
static enum path_error
walk_enter(struct walk *w)
{
	const struct path_object *o = &w->object;

	if (w->env->any)
		return PATH_OK;
	if (o->fs == PATH_FS_MAGIC)
		return PATH_MAGIC;
	if (!S_ISDIR(o->mode) && !S_ISREG(o->mode))
		return PATH_SPECIAL;
	return walk_note(w);
}

/*
 * Deep in a tree, look names up from here on: each lookup from the row would
 * take the kernel longer and longer.
 */
static void
walk_descend(struct walk *w, const char *name)
{
	int fd;

	if (++w->below < WALK_DEPTH || !S_ISDIR(w->object.mode))
		return;
	if ((fd = openat(w->fd, name,
		 O_PATH | O_NOFOLLOW | O_CLOEXEC | O_DIRECTORY)) == -1)
		return;
	walk_leave(w);
	w->deep = w->fd = fd;
	w->base = w->len;
}

/* Returns true if `text` is the workspace's name, looked up on the host. */
static bool
walk_at_anchor(const struct walk *w, struct span text)
{
	const struct view *v = w->env->view;
	struct span dir = w->env->workspace;

	if (w->env->anchor == NULL || dir.len < 2 || !span_eq(text, dir))
		return false;
	if (w->host)
		return true;
	/*
	 * The view must be the whole host, with nothing mounted above the
	 * workspace.
	 */
	if (w->row == NULL || w->row->path.len != 0 || w->row->host.len != 0)
		return false;
	for (size_t i = 0; i < v->n; i++) {
		if (v->rows[i].path.len != 0 &&
		    path_below(dir, v->rows[i].path))
			return false;
	}
	return true;
}

/* At the root, skip the components of the workspace's name in one step. */
static void
walk_jump(struct walk *w)
{
	struct path_anchor *a = w->env->anchor;
	struct span dir = w->env->workspace;

	w->fresh = false;
	if (!path_below(w->left, dir) || dir.len >= sizeof(w->text) ||
	    !walk_at_anchor(w, span_of(w->left.p, dir.len)))
		return;
	memcpy(w->text, dir.p, dir.len);
	w->text[dir.len] = '\0';
	if (!anchor_holds(a, w->fd, w->text + 1))
		return;
	w->left = span_of(w->left.p + dir.len, w->left.len - dir.len);
	w->len = w->base = dir.len;
	w->fd = a->fd;
	w->object = a->object;
}

/* Look up the component just appended. */
static enum path_error
walk_look(struct walk *w)
{
	struct path_object o = w->object;
	const char *name = w->text + w->base + 1;
	enum path_error e;

	w->text[w->len] = '\0';
	if (path_object(w->fd, name, &o) == -1) {
		/* Treat EACCES as missing: the server sees only its view. */
		if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			return PATH_FAILED;
		w->missing = 1;
		return PATH_OK;
	}
	/*
	 * Links in proc lead to objects without a name; the link itself is
	 * denied.
	 */
	if (S_ISLNK(o.mode) && o.fs != PATH_FS_MAGIC)
		return walk_link(w, name);
	w->object = o;
	e = walk_enter(w);
	if (e == PATH_OK && w->out->nhits == 0 && S_ISDIR(o.mode) &&
	    walk_at_anchor(w, span_of(w->text, w->len)) &&
	    w->env->anchor->fd == -1)
		anchor_learn(w->env->anchor, w->fd, name);
	walk_descend(w, name);
	return e;
}

/* Continue on the host with the path so far and the remaining text. */
static enum path_error
walk_to_host(struct walk *w, struct span sofar)
{
	enum path_error e;

	e = walk_push(w, sofar, span_of(NULL, 0));
	w->host = true;
	walk_restart(w);
	return e;
}

/* For a server without /workspace, use the host directory. */
static bool
walk_alias(struct walk *w, enum path_error *e)
{
	static const struct span ws = SPAN("/workspace");
	struct span dir = w->env->workspace;

	if (dir.len == 0 || path_below(dir, ws) ||
	    !span_eq(span_of(w->text, w->len), ws))
		return false;
	*e = walk_push(w, dir, span_of(NULL, 0));
	walk_restart(w);
	return true;
}

/* The view path was just extended: enter a row, approach one, or leave all. */
static enum path_error
walk_view(struct walk *w)
{
	const struct view *v = w->env->view;
	struct span text = span_of(w->text, w->len);
	enum path_error e;

	for (size_t i = 0; v != NULL && i < v->n; i++) {
		const struct view_row *r = &v->rows[i];

		if (r->path.len == text.len && span_eq(r->path, text)) {
			if (r->kind == PROTO_VIEW_HIDDEN)
				return walk_to_host(w, r->host);
			walk_row(w, r);
			return walk_enter(w);
		}
	}
	if (walk_alias(w, &e))
		return e;
	if (w->row != NULL)
		return walk_look(w);
	for (size_t i = 0; v != NULL && i < v->n; i++) {
		if (path_below(v->rows[i].path, text))
			return PATH_OK;
	}
	return walk_to_host(w, text);
}

static enum path_error
walk_step(struct walk *w, struct span c)
{
	struct span up;
	enum path_error e;

	if (span_is(c, "."))
		return PATH_OK;
	if (span_is(c, "..")) {
		if (w->links != 0 && w->missing == 0 && w->len != 0 &&
		    (w->host || w->row != NULL) &&
		    (e = walk_pass(w)) != PATH_OK)
			return e;
		walk_pop(w);
		if (w->missing > 0) {
			w->missing--;
			return PATH_OK;
		}
		/*
		 * The path so far has no links, so that walking it again is
		 * correct.
		 */
		up = span_of(w->text, w->len);
		if ((e = walk_push(w, up, span_of(NULL, 0))) != PATH_OK)
			return e;
		walk_restart(w);
		return PATH_OK;
	}
	if ((e = walk_append(w, c)) != PATH_OK)
		return e;
	if (w->missing > 0) {
		w->missing++;
		return PATH_OK;
	}
	if (!w->host)
		return walk_view(w);
	return walk_look(w);
}

static bool
walk_next(struct walk *w, struct span *c)
{
	const uint8_t *slash;

	if (w->fresh)
		walk_jump(w);
	while (w->left.len != 0 && w->left.p[0] == '/') {
		w->left.p++;
		w->left.len--;
	}
	if (w->left.len == 0)
		return false;
	slash = memchr(w->left.p, '/', w->left.len);
	*c = span_of(w->left.p,
	    slash == NULL ? w->left.len : (size_t)(slash - w->left.p));
	w->left.p += c->len;
	w->left.len -= c->len;
	return true;
}

static enum path_error
walk_run(struct walk *w)
{
	enum path_error e;
	struct span c;

	for (;;) {
		while (walk_next(w, &c)) {
			if (++w->steps > PATH_MAX_STEPS ||
			    (w->env->budget != NULL && *w->env->budget == 0))
				return PATH_STEPS;
			if (w->env->budget != NULL)
				--*w->env->budget;
			if ((e = walk_step(w, c)) != PATH_OK)
				return e;
		}
		/* On the way to a row: a directory of the view itself. */
		if (w->host || w->row != NULL)
			return PATH_OK;
		if ((e = walk_to_host(w, span_of(w->text, w->len))) != PATH_OK)
			return e;
	}
}

static enum path_error
walk_result(struct walk *w)
{
	struct span text = span_of(w->text, w->len);
	enum path_error e;

	if (!utf8_valid(text))
		return PATH_TEXT;
	e = path_found(w->env, w->host ? NULL : w->row, text, w->out);
	w->out->exists = w->missing == 0;
	w->out->missing = w->missing;
	w->out->object = w->object;
	return e == PATH_OK ? trail_result(&w->trail, w->env->pool, w->out) : e;
}

enum path_error
path_resolve(const struct path_env *env, struct span text, struct path *out)
{
	struct walk *w = &scratch;
	struct span none = span_of(NULL, 0);
	enum path_error e;

	*out = (struct path){0};
	if ((e = path_check(text)) != PATH_OK)
		return e;
	if (text.p[0] == '~' && env->home.len == 0)
		return PATH_HOME;
	if (known_resolve(env, text, out))
		return PATH_OK;
	*out = (struct path){0};
	w->env = env;
	w->host = false;
	w->which = 0;
	w->left = none;
	w->links = w->steps = 0;
	w->trail.n = 0;
	w->trail.named = none;
	w->deep = -1;
	w->out = out;
	walk_restart(w);
	if (text.p[0] == '~')
		e = walk_push(w, env->home, span_of(text.p + 1, text.len - 1));
	else if (text.p[0] != '/')
		e = walk_push(w, env->cwd, text);
	else
		e = walk_push(w, text, none);
	if (e == PATH_OK)
		e = walk_run(w);
	if (e == PATH_OK)
		e = walk_result(w);
	walk_leave(w);
	if (e == PATH_OK)
		known_note(env, text, out);
	return e;
}
