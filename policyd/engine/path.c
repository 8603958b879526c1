/* SPDX-License-Identifier: ISC */
/*
 * Resolves paths of arguments.  Reads bytes of the agent and walks where the
 * agent may be changing things at the same time; asks the kernel by name only
 * (fstatat, readlinkat, and openat O_PATH where a file system begins, and now
 * and then far below).  Each component is asked for once, by its name from the
 * row or root it lies in: those before it were just seen to be no links.  The
 * components of the workspace's own name are asked for together (anchor.c).
 * Whoever makes one of them a link now changes what we see of the object, not
 * the name that is sent.
 */
#include "engine/path.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define WALK_DEPTH 24U /* components looked up from one descriptor */

struct walk {
	const struct path_env *env;
	bool host;           /* else in the view */
	bool fresh;          /* just begun at the root */
	char text[PATH_MAX]; /* so far; "" is the root */
	size_t len;
	char rest[2][2 * PATH_MAX]; /* what is left, in one of them */
	unsigned which;
	struct span left;
	const struct view_row *row; /* in the view: where we are */
	int fd;                     /* of the row or root; -1: virtual */
	int deep;                   /* of text as far as base; or -1: none */
	size_t base;                /* what of text fd stands for */
	unsigned below;             /* components behind base */
	unsigned missing;           /* components that do not exist */
	struct path_object object;  /* the last that does */
	unsigned links, steps;
	struct path *out;
};

static struct walk scratch; /* one at a time; too large for a stack */

static void
walk_leave(struct walk *w)
{
	if (w->deep != -1)
		close(w->deep);
	w->deep = -1;
	w->below = 0;
}

/* We are at the row's own place. */
static void
walk_row(struct walk *w, const struct view_row *r)
{
	walk_leave(w);
	w->row = r;
	w->fd = r->fd;
	w->base = r->path.len;
	w->object = r->object;
}

/* Begins again at the root, of the view or of the host. */
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

/* What is left becomes a, b, and what was left. */
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

/* Is this the host's name for where we are? Then text decides. */
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

/* Notes the place that the object is under a name that is not the place's. */
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

/* A link: its target takes the place of its name. */
static enum path_error
walk_link(struct walk *w, const char *name)
{
	char target[PATH_MAX];
	ssize_t n;

	if (++w->links > PATH_MAX_LINKS)
		return PATH_LOOP;
	if ((n = readlinkat(w->fd, name, target, sizeof(target))) <= 0)
		return PATH_FAILED;
	if ((size_t)n == sizeof(target))
		return PATH_LONG;
	walk_pop(w);
	if (target[0] == '/')
		walk_restart(w);
	return walk_push(w, span_of(target, (size_t)n), span_of(NULL, 0));
}

/* An object that is no link was reached: may anything be there? */
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
 * Far below: names are looked up from here on, as the kernel would take longer
 * and longer for each.
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

/* Is `text` the workspace's name, and is it looked up on the host? */
static bool
walk_at_anchor(const struct walk *w, struct span text)
{
	const struct view *v = w->env->view;
	struct span dir = w->env->workspace;

	if (w->env->anchor == NULL || dir.len < 2 || !span_eq(text, dir))
		return false;
	if (w->host)
		return true;
	/* In a view that is the whole host, with nothing mounted above it. */
	if (w->row == NULL || w->row->path.len != 0 || w->row->host.len != 0)
		return false;
	for (size_t i = 0; i < v->n; i++) {
		if (v->rows[i].path.len != 0 &&
		    path_below(dir, v->rows[i].path))
			return false;
	}
	return true;
}

/* At the root: pass over the components of the workspace's name at once. */
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

/* The component just appended. */
static enum path_error
walk_look(struct walk *w)
{
	struct path_object o = w->object;
	const char *name = w->text + w->base + 1;
	enum path_error e;

	w->text[w->len] = '\0';
	if (path_object(w->fd, name, &o) == -1) {
		/* As good as missing: whoever gets further sees its view. */
		if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			return PATH_FAILED;
		w->missing = 1;
		return PATH_OK;
	}
	/* A link of proc leads where no name does: denied as it lies there. */
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

/* Continues on the host: what it is called there so far, and what is left. */
static enum path_error
walk_to_host(struct walk *w, struct span sofar)
{
	enum path_error e;

	e = walk_push(w, sofar, span_of(NULL, 0));
	w->host = true;
	walk_restart(w);
	return e;
}

/* /workspace where this server has none of its own: the directory itself. */
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

/* In the view, text was just extended: a row, on the way to one, or out. */
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
		walk_pop(w);
		if (w->missing > 0) {
			w->missing--;
			return PATH_OK;
		}
		/* What is so far has no links: going there again is real. */
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
		/* On the way to a row: a directory that is the view's own. */
		if (w->host || w->row != NULL)
			return PATH_OK;
		if ((e = walk_to_host(w, span_of(w->text, w->len))) != PATH_OK)
			return e;
	}
}

static enum path_error
walk_result(struct walk *w)
{
	struct span text = span_of(w->text, w->len), none = span_of(NULL, 0);
	struct value_pool *pool = w->env->pool;
	struct path *out = w->out;

	if (!utf8_valid(text))
		return PATH_TEXT;
	if (w->host) {
		out->host = path_joined(pool, text, none);
		out->view = view_of_host(w->env->view, text, pool, &out->row);
	} else {
		out->row = w->row;
		out->view = path_joined(pool, text, none);
		out->host = path_joined(pool, w->row->host,
		    span_of(text.p + w->row->path.len,
			text.len - w->row->path.len));
		if (out->view.p == NULL)
			return PATH_MEMORY;
	}
	if (out->host.p == NULL)
		return PATH_MEMORY;
	out->exists = w->missing == 0;
	out->missing = w->missing;
	out->object = w->object;
	return PATH_OK;
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
	w->env = env;
	w->host = false;
	w->which = 0;
	w->left = none;
	w->links = w->steps = 0;
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
	return e;
}
